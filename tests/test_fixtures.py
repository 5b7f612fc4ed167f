"""The fixture programs say what must be reported, on the line where it must be reported.

A program is a file, or a folder of files (`bad_x/`): these are one project, and each may hold marks.

`# expect: AGL101` (or several, `# expect: AGL101,AGL601`): reported on this line. A line without it: nothing.
`# known-miss: AGL101`: a defect we accept not to see; once it is reported, promote it to `# expect:`.
`# known-false: AGL101`: a false alarm we accept; once it is gone, remove the comment.
On each fixture the rule of its folder is active, and those that its marks name. On the good programs of one file, and
on the fixed ones, all default rules are:
`# also AGL302: why`: another defect that the program really has, and that is not its subject.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections import defaultdict
from pathlib import Path

import libcst as cst
import pytest

from lint_rules.check import Options, check_source
from lint_rules.importers import Given
from lint_rules.rules.catalogue import BY_CODE, BY_NAME, RULES

FIXTURES = Path(__file__).parent.parent / "fixtures"
ALL_CODES = frozenset(BY_CODE)
MARK = re.compile(r"#\s*(expect|known-miss|known-false):\s*(AGL\d{3}(?:\s*,\s*AGL\d{3})*)\s*$")
OTHER = re.compile(r"#\s*also (AGL\d{3}(?:, AGL\d{3})*): \S+")
DEFAULT = frozenset(rule.code for rule in RULES if rule.default)
SOUND = sorted(path for kind in ("good_*.py", "*.fixed.py") for path in FIXTURES.glob(f"*/{kind}"))
ATTEMPT = re.compile(r"#\s*(expect|known).?(miss|false)?\s*:?\s*AGL")

Place = tuple[str, int, str]
"""File, line, code."""


def programs(*kinds: str) -> list[Path]:
    """Files, and folders that are one program each."""
    found = [path for kind in kinds for path in FIXTURES.glob(f"*/{kind}_*")]
    return sorted(path for path in found if path.is_dir() or (path.suffix == ".py" and ".fixed." not in path.name))


def files_of(program: Path) -> list[Path]:
    return sorted(program.rglob("*.py")) if program.is_dir() else [program]


def marks(program: Path) -> dict[str, set[Place]]:
    """Kind of mark to the places where it stands."""
    found: dict[str, set[Place]] = defaultdict(set)
    for path in files_of(program):
        for token in tokenize.tokenize(io.BytesIO(path.read_bytes()).readline):
            if token.type == tokenize.COMMENT and (match := MARK.search(token.string)):
                found[match[1]] |= {(path.name, token.start[0], code.strip()) for code in match[2].split(",")}
    return found


def codes_in(marked: dict[str, set[Place]]) -> set[str]:
    return {code for places in marked.values() for *_, code in places}


def name(path: Path) -> str:
    return f"{path.parent.name}/{path.stem}"


def refuse(*_: object) -> cst.Module:
    raise AssertionError("libcst parses a file")


def rule_of(path: Path) -> str:
    return BY_NAME[path.parent.name.replace("_", "-")].code


@pytest.mark.parametrize("path", sorted({*programs("bad", "good", "known")} - {*SOUND}), ids=name)
def test_fixture(path: Path) -> None:
    marked = marks(path)
    options = Options(frozenset({rule_of(path)} | codes_in(marked)))
    near = Given([str(file) for file in files_of(path)]) if path.is_dir() else None
    reported = {
        (file.name, finding.span.line, finding.code)
        for file in files_of(path)
        for finding in check_source(file.read_bytes(), str(file), options, neighbours=near).findings
    }
    found_after_all = reported & marked["known-miss"]
    assert not found_after_all, f"known misses are reported now, mark them `# expect:`: {sorted(found_after_all)}"
    assert reported == marked["expect"] | marked["known-false"]


@pytest.mark.parametrize("path", SOUND, ids=name)
def test_sound_program_has_no_finding_of_any_rule_but_those_it_gives_a_reason_for(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And libcst, whose trees are dear, parses no file without a finding, but tests with one that is dropped."""
    lines = path.read_text(encoding="utf-8").splitlines()
    explained = {
        (number, code)
        for number, line in enumerate(lines, 1)
        if (match := OTHER.search(line))
        for code in match[1].split(", ")
    }
    if not explained and not path.stem.endswith("_test"):
        monkeypatch.setattr(cst, "parse_module", refuse)
    report = check_source(path.read_bytes(), str(path), Options(DEFAULT | {rule_of(path)}), neighbours=None)
    assert {(finding.span.line, finding.code) for finding in report.findings} == explained


@pytest.mark.parametrize("path", programs("bad", "good", "known"), ids=name)
def test_marks_fit_the_kind_of_fixture(path: Path) -> None:
    marked = marks(path)
    if path.name.startswith("good_"):
        assert not marked, "a good program has nothing to mark"
    elif path.name.startswith("bad_"):
        assert marked["expect"], "a bad program marks what must be reported"
    else:
        assert marked["known-miss"] or marked["known-false"]
    assert codes_in(marked) <= ALL_CODES
    readable = {(file, line) for places in marked.values() for file, line, _ in places}
    for file in files_of(path):
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
            assert (file.name, number) in readable or not ATTEMPT.search(line), (
                f"line {number}: a mark that cannot be read"
            )


@pytest.mark.parametrize("path", programs("bad", "good", "known"), ids=name)
def test_fixture_is_valid_for_the_oldest_python(path: Path) -> None:
    for file in files_of(path):
        ast.parse(file.read_bytes(), filename=str(file), feature_version=(3, 10))


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_rule_has_enough_fixtures(rule) -> None:
    folder = FIXTURES / rule.name.replace("-", "_")
    bad = [path for path in programs("bad") if path.parent == folder]
    good = [path for path in programs("good") if path.parent == folder]
    assert len(bad) >= 3
    assert len(good) >= 5
    for path in bad:
        assert rule.code in {code for *_, code in marks(path)["expect"]}, (
            f"{path.name} shows another rule's defect only"
        )
