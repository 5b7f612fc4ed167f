"""A project folder in which looplint runs with a stand-in for the engine: the rules themselves are tested elsewhere.

The stand-in reports what comments tell it to: `# AGL301 message` is a finding on the code before the comment, if the
rule is enabled. `BOOM`, `PANIC` and `DIE` in a file are an engine that raises, panics and takes its process down.
"""

from __future__ import annotations

import io
import json
import os
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from lint_rules import check, cli
from lint_rules.finding import Finding, Span

MARK = re.compile(r"#\s*(AGL\d{3})\s*(.*)")
MAIN_PROCESS = os.getpid()

Engine = Callable[..., check.Report]


class Panic(BaseException):
    """What a panic in native code is: not an Exception."""


@dataclass(frozen=True)
class Run:
    """What a run of looplint left behind."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    @property
    def paths(self) -> list[str]:
        """Paths with findings, in the order of a JSON report."""
        return [finding["path"].replace(os.sep, "/") for finding in self.json]


class Project:
    """A folder to write files in and to run looplint in."""

    def __init__(self, path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
        self.path = path
        self._monkeypatch = monkeypatch
        self._capsys = capsys
        monkeypatch.chdir(path)
        for name in ("NO_COLOR", "FORCE_COLOR"):
            monkeypatch.delenv(name, raising=False)
        self.use(marked)

    def use(self, engine: Engine) -> None:
        self._monkeypatch.setattr(check, "check_source", engine)

    def write(self, *names: str, content: str | bytes = "x = 1  # AGL301 a problem\n") -> None:
        """Write files; each holds one problem unless told otherwise."""
        for name in names:
            file = self.path / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content if isinstance(content, bytes) else content.encode())

    def configure(self, text: str, folder: str = ".") -> None:
        self.write(f"{folder}/pyproject.toml", content=f"[tool.looplint]\n{text}\n")

    def run(self, *arguments: str, stdin: bytes = b"") -> Run:
        self._monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        code = cli.main(list(arguments))
        out, err = self._capsys.readouterr()
        return Run(code, out, err)

    def check(self, *arguments: str, stdin: bytes = b"") -> Run:
        """`looplint check` with a JSON report."""
        return self.run("check", "--output-format", "json", *arguments, stdin=stdin)


def marked(source: bytes, path: str, options: check.Options, **given: object) -> check.Report:
    """The stand-in."""
    text = source.decode("utf-8", "replace")
    if "BOOM" in text:
        raise RuntimeError("first line\nsecond line")
    if "PANIC" in text:
        raise Panic("native")
    if "DIE" in text and os.getpid() != MAIN_PROCESS:
        os._exit(3)
    found = []
    for number, line in enumerate(text.splitlines(), 1):
        mark = MARK.search(line)
        if mark and mark[1] in options.codes:
            code = line[: mark.start()]
            span = Span(number, len(code) - len(code.lstrip()) + 1, number, len(code.rstrip()) + 1)
            found.append(Finding(path, span, mark[1], "a-name", mark[2]))
    return check.Report(tuple(found), suppressed=text.count("noqa"))


def reporting(*findings: Finding) -> Engine:
    """An engine that finds the given findings in every file."""
    return lambda source, path, options, **given: check.Report(findings)


def seeing(seen: dict[str, check.Options]) -> Engine:
    """An engine that finds nothing, and notes the options of each file."""

    def engine(source: bytes, path: str, options: check.Options, **given: object) -> check.Report:
        seen[path.replace(os.sep, "/")] = options
        return check.Report()

    return engine
