"""No rule may cost more than its file grows: counted in calls of functions, which no load of a machine changes."""

from __future__ import annotations

import cProfile
import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

from lint_rules.check import Options, check_source
from lint_rules.rules.catalogue import RULES, Rule


def _growth() -> ModuleType:
    path = Path(__file__).parent.parent / "benchmarks" / "growth.py"
    spec = importlib.util.spec_from_file_location("growth", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


growth = _growth()
SMALL, TIMES, MOST = 80, 4, 7
"""Lines of the small file, how much longer the large one is, and how much dearer it may be."""


def calls(source: str, rule: Rule) -> int:
    """How many functions are called to check a file for one rule."""
    profile = cProfile.Profile()
    profile.runcall(check_source, source.encode(), "agent.py", Options(frozenset({rule.code})))
    return sum(entry.callcount for entry in profile.getstats())


@pytest.mark.parametrize("shape", growth.SHAPES)
@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_a_rule_costs_as_much_as_the_file_is_long(rule: Rule, shape: str) -> None:
    make = growth.SHAPES[shape]
    calls(make(14), rule)  # what is imported and cached once
    small, large = calls(make(SMALL), rule), calls(make(SMALL * TIMES), rule)
    assert large < small * MOST, f"{small} calls for {SMALL} lines, {large} for {SMALL * TIMES}"
