"""The rules' pages: complete, up to date, and true: the bad example fires just this rule, the good one is silent."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from lint_rules.check import Options, check_source
from lint_rules.rules.catalogue import BY_CODE, RULES, Rule

ROOT = Path(__file__).parent.parent
SECTIONS = [
    "What it does", "Why is this bad", "Example", "Use instead", "How it decides", "Known problems", "Fix safety",
    "References",
]  # fmt: skip

every_rule = pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)


def example(rule: Rule, section: str) -> bytes:
    found = re.search(rf"## {section}\n```python\n(.*?)```", rule.page(), re.DOTALL)
    assert found is not None, f"{rule.name} has no code under {section}"
    return found[1].encode()


def codes(source: bytes) -> set[str]:
    return {found.code for found in check_source(source, "example.py", Options(frozenset(BY_CODE))).findings}


@every_rule
def test_a_page_has_every_section_in_order(rule: Rule) -> None:
    assert re.findall(r"^## (.*)$", rule.page(), re.MULTILINE) == SECTIONS
    assert rule.page().startswith(f"# {rule.name} ({rule.code})\n")


@every_rule
def test_the_example_fires_this_rule_and_no_other(rule: Rule) -> None:
    assert codes(example(rule, "Example")) == {rule.code}


@every_rule
def test_what_to_use_instead_is_silent(rule: Rule) -> None:
    assert codes(example(rule, "Use instead")) == set()


def test_the_pages_are_up_to_date() -> None:
    done = subprocess.run([sys.executable, "docs/generate.py", "--check"], cwd=ROOT, capture_output=True, text=True)
    assert (done.stdout, done.returncode) == ("", 0)
