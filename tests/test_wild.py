"""What was found in public agents (`wild/findings.toml`), each provoked by a small program of the same shape.

A recipe is a folder of `wild/`: `bug.py`, a program written for it; `mended.py`, the same without the bug; `recipe.py`,
which runs either against a scripted model (`seen`) and says what is to be seen of each (`BUG`, `MENDED`).
"""

from __future__ import annotations

import re
import runpy
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from lint_rules.check import Options, check_source
from lint_rules.rules.catalogue import RULES

ROOT = Path(__file__).parent.parent
WILD = ROOT / "tests" / "wild"
RECIPES = sorted(path.parent for path in WILD.glob("*/recipe.py"))
DEFAULT = frozenset(rule.code for rule in RULES if rule.default)
FINDINGS = runpy.run_path(str(ROOT / "docs" / "wild.py"))["findings"]()
MARK = re.compile(r"# expect: (AGL\d{3})$")


@pytest.fixture(autouse=True)
def _stand_ins(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The scripted model can be imported; the SDKs that a recipe puts in place are gone after it."""
    monkeypatch.syspath_prepend(str(ROOT / "fixtures"))
    monkeypatch.syspath_prepend(str(WILD))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    before = dict(sys.modules)
    yield
    for name, module in list(sys.modules.items()):
        if name not in before and getattr(module, "__spec__", ...) is None:
            del sys.modules[name]
    sys.modules.update(before)


def found(path: Path) -> set[tuple[int, str]]:
    """Lines and codes of all findings of the default rules."""
    report = check_source(path.read_bytes(), str(path), Options(DEFAULT))
    return {(finding.span.line, finding.code) for finding in report.findings}


def marked(path: Path) -> set[tuple[int, str]]:
    lines = enumerate(path.read_text(encoding="utf-8").split("\n"), 1)
    return {(number, match[1]) for number, line in lines if (match := MARK.search(line))}


@pytest.mark.parametrize("folder", RECIPES, ids=lambda folder: folder.name)
def test_the_recipe_provokes_the_harm(folder: Path) -> None:
    import fake_model

    recipe = fake_model.load(folder / "recipe.py")
    assert recipe.BUG != recipe.MENDED
    assert recipe.seen(folder / "bug.py") == recipe.BUG
    assert recipe.seen(folder / "mended.py") == recipe.MENDED


@pytest.mark.parametrize("folder", RECIPES, ids=lambda folder: folder.name)
def test_it_is_found_where_it_is_and_nothing_in_the_mended_program(folder: Path) -> None:
    assert found(folder / "bug.py") == marked(folder / "bug.py") != set()
    assert found(folder / "mended.py") == set()


def test_every_finding_has_its_recipe_and_every_recipe_a_finding() -> None:
    for finding in FINDINGS:
        assert finding["code"] in {code for _, code in marked(WILD / finding["recipe"] / "bug.py")}, finding
    assert {finding["recipe"] for finding in FINDINGS} == {folder.name for folder in RECIPES}


def test_no_place_is_told_twice() -> None:
    places = [(finding["project"], finding["path"], finding["line"]) for finding in FINDINGS]
    assert len(places) == len(set(places))


def test_what_the_readme_shows_is_on_the_page() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    _, _, rows = readme.partition("| agent | place | what happens |\n| --- | --- | --- |\n")
    shown = rows.partition("\n\n")[0].split("\n")
    assert shown[0].startswith("| ")
    for row in shown:
        assert row in {
            f"| {found['project']} `{found['version'][:7]}` | `{found['path']}:{found['line']}` {found['code']} "
            f"| {found['happens']} |"
            for found in FINDINGS
        }
