"""What becomes of findings and silences when a program is rewritten.

A bad fixture survives if its rules still report in it, a good one if its rule is still silent. A port is judged finding
by finding. A case counts only if the linter is right about the unchanged program.
"""

from __future__ import annotations

import hashlib
import io
import json
import re
import subprocess
import sys
import tempfile
import tokenize
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from . import REWRITES, Rewrite
from .project import Files

ROOT = Path(__file__).resolve().parents[2]
FIXTURES = ROOT / "fixtures"
SHARED = ROOT.parent / "shared"
CHECK = ("check", "--isolated", "--no-cache", "--exit-zero", "--extend-select", "AGL", "--output-format", "json", ".")
MARK = re.compile(r"#\s*expect:\s*(AGL\d{3}(?:\s*,\s*AGL\d{3})*)\s*$")
SEED = 1


class Program(NamedTuple):
    name: str
    kind: str
    """`bad` or `good`"""
    files: Files
    rules: frozenset[str] | None
    """Names or codes of the rules that must report, or must be silent; None: all (a port)."""


class Finding(NamedTuple):
    file: str
    line: int
    code: str
    name: str
    message: str


class Tally(NamedTuple):
    """How many cases survived a rewrite, and those that did not."""

    bad: tuple[int, int]
    good: tuple[int, int]
    lost: tuple[str, ...]


# -- programs -----------------------------------------------------------------------------------------------------


def read(path: Path) -> Files:
    """The Python files of a folder, or a file."""
    paths = [path] if path.is_file() else sorted(path.rglob("*.py"))
    home = path.parent if path.is_file() else path
    return {one.relative_to(home).as_posix(): one.read_text(encoding="utf-8") for one in paths}


def fixtures() -> list[Program]:
    """Those of the project: a file each, or a folder."""
    found = []
    for path in sorted(FIXTURES.glob("*/*_*")):
        kind = path.name.partition("_")[0]
        is_program = path.is_dir() or (path.suffix == ".py" and not path.name.endswith(".fixed.py"))
        if kind in ("bad", "good") and is_program:
            files = read(path)
            codes = frozenset(code for text in files.values() for code in expected(text))
            rules = codes if kind == "bad" else frozenset([path.parent.name.replace("_", "-")])
            found.append(Program(f"{path.parent.name}/{path.name}", kind, files, rules))
    return found


def expected(source: str) -> set[str]:
    """The codes of its `# expect:` marks."""
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    marks = (MARK.search(token.string) for token in tokens if token.type == tokenize.COMMENT)
    return {code.strip() for match in marks if match for code in match[1].split(",")}


def ports() -> list[Program]:
    """The agents beside the project, with and without their bugs; none where they do not lie there."""
    found = []
    for path in sorted((SHARED / "ports").glob("*/*/")):
        kind = "good" if path.name == "after" else "bad"
        found.append(Program(f"ports/{path.parent.name}/{path.name}", kind, read(path), None))
    return found


def drawn(programs: Iterable[Program], one_in: int, key: str) -> list[Program]:
    """A sample by lot that new programs do not change: each is in it or not, by its own name."""
    return [one for one in programs if int(hashlib.sha256(f"{key} {one.name}".encode()).hexdigest(), 16) % one_in == 0]


# -- the linter ---------------------------------------------------------------------------------------------------


def lint(programs: dict[str, Files]) -> dict[str, list[Finding]]:
    """The findings in each program, in one run over all of them."""
    with tempfile.TemporaryDirectory(prefix="variants_") as temporary:
        top = Path(temporary).resolve()
        for name, files in programs.items():
            write(files, top / name)
        done = subprocess.run(
            [sys.executable, "-m", "lint_rules", *CHECK], cwd=top, capture_output=True, encoding="utf-8", check=False
        )
        if done.returncode != 0:
            raise RuntimeError(f"looplint left with {done.returncode}: {done.stderr[-2000:]}")
    found: dict[str, list[Finding]] = defaultdict(list)
    for row in json.loads(done.stdout):
        if row["code"] == "AGL000":
            raise RuntimeError(f"looplint gave up on {row['path']}: {row['message']}")
        path = Path(row["path"])
        path = path.relative_to(top) if path.is_absolute() else path
        file = Path(*path.parts[1:]).as_posix()
        found[path.parts[0]].append(Finding(file, row["line"], row["code"], row["name"], row["message"]))
    return found


def write(files: Files, folder: Path) -> None:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


# -- survival -----------------------------------------------------------------------------------------------------


def measure(wanted: dict[str, list[Program]], rewrites: dict[str, Rewrite] = REWRITES) -> dict[str, Tally]:
    """Rewrite the programs of each rewrite, look at all of them, and count."""
    folders: dict[str, Files] = {}
    pairs: dict[str, list[tuple[Program, str, str]]] = defaultdict(list)
    for name, programs in wanted.items():
        for program in programs:
            made = rewrites[name](program.files, SEED, frozenset())
            if made is None:
                continue
            before = hashlib.sha256(program.name.encode()).hexdigest()[:16]
            after = f"{name}-{before}"
            folders[before], folders[after] = program.files, made
            pairs[name].append((program, before, after))
    found = lint(folders)
    return {
        name: tally([(it, found.get(old, []), found.get(new, [])) for it, old, new in pairs[name]]) for name in wanted
    }


def tally(cases: list[tuple[Program, list[Finding], list[Finding]]]) -> Tally:
    survived, total, lost = Counter[str](), Counter[str](), []
    for program, before, after in cases:
        for rule, kept, count in judged(program, before, after):
            survived[program.kind] += kept
            total[program.kind] += count
            if kept < count:
                lost.append(f"{program.name} {rule}" + (f" {count - kept} of {count}" if count > 1 else ""))
    return Tally((survived["bad"], total["bad"]), (survived["good"], total["good"]), tuple(lost))


def judged(program: Program, before: list[Finding], after: list[Finding]) -> Iterator[tuple[str, int, int]]:
    """Of each rule: how many cases survived, of how many."""
    if program.rules is None:
        was, now = (Counter(one.code for one in found) for found in (before, after))
        if program.kind == "good":
            new = now - was
            yield " ".join(sorted(new)), int(not new), 1
        else:
            yield from ((code, min(count, now[code]), count) for code, count in sorted(was.items()))
        return
    for rule in sorted(program.rules):
        was_found, is_found = (any(rule in (one.code, one.name) for one in found) for found in (before, after))
        if was_found == (program.kind == "bad"):
            yield rule, int(is_found == was_found), 1
