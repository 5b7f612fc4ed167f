"""A stand-in for the engine, which flake8 loads as a local plugin in each of its processes.

Where a source says `AGL101`, there it reports AGL101, if the rule is enabled; the message tells what `check_source` was
handed. It also adds an opt-in rule, AGL901. Not for import by the tests themselves: importing it replaces the engine.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from typing import Any

from lint_rules import check
from lint_rules.finding import NOT_ANALYSED, Finding, Related, Span
from lint_rules.rules import catalogue

OPT_IN = catalogue.Rule("AGL901", "opt-in-example", "opt-in", "an example")


class Panic(BaseException):
    """What a panic in libcst's native parser is: not an Exception."""


class Nothing:
    """The plugin flake8 believes to load."""

    def __init__(self, tree: ast.Module) -> None: ...

    def run(self) -> Iterator[Any]:
        return iter(())


def check_source(source: bytes, path: str, options: check.Options, **given: Any) -> check.Report:
    encoding, _ = tokenize.detect_encoding(io.BytesIO(source).readline)
    text = source.decode(encoding)
    if "BOOM" in text:
        raise RuntimeError("first line\nsecond line")
    if "PANIC" in text:
        raise Panic("native")
    return check.Report(tuple(findings(text, path, options, given)))


def findings(text: str, path: str, options: check.Options, given: dict[str, Any]) -> Iterator[Finding]:
    words = options.vocabulary
    message = (
        f"at {path} with {words.llm_calls} {words.history_names} {words.tool_call_attributes},\n"
        f"noqa={given['noqa']}, tree={type(given['tree']).__name__}, 100%"
    )
    for number, line in enumerate(text.split("\n"), 1):
        for mark in re.finditer(r"AGL\d\d\d", line):
            if mark[0] in options.codes | {NOT_ANALYSED}:
                span = Span(number, mark.start() + 1, number, mark.end() + 1)
                yield Finding(path, span, mark[0], "a-name", message, related=tuple(related(line, span)))


def related(line: str, span: Span) -> Iterator[Related]:
    for word in re.findall(r"RELATED (\S+)", line):
        yield Related(span, "the\nother place", path=None if word == "here" else word)


check.check_source = check_source
catalogue.RULES += (OPT_IN,)
catalogue.BY_CODE[OPT_IN.code] = catalogue.BY_NAME[OPT_IN.name] = OPT_IN
