"""Whatever a program is, each rule has an answer: none fails, and none goes in circles.

LOOPLINT_LONG=1 takes 10,000 programs (LOOPLINT_SEED: from which one on), some minutes' work; else a few dozen.
"""

from __future__ import annotations

import ast
import os
import warnings

import pytest
from programs import program

from lint_rules.check import Options, check_source
from lint_rules.finding import NOT_ANALYSED
from lint_rules.rules.catalogue import BY_CODE

ALL = Options(frozenset(BY_CODE))
FIRST = int(os.environ.get("LOOPLINT_SEED", "0"))
BUNDLES, EACH = (100, 100) if os.environ.get("LOOPLINT_LONG") == "1" else (8, 5)


def failures(source: str) -> list[str]:
    return [f.message for f in check_source(source.encode(), "agent.py", ALL).findings if f.code == NOT_ANALYSED]


@pytest.mark.parametrize("bundle", range(BUNDLES))
def test_no_program_is_lost(bundle: int) -> None:
    start = FIRST + bundle * EACH
    parsed = 0
    for seed in range(start, start + EACH):
        source = program(seed)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                ast.parse(source)
            except SyntaxError:
                continue
        parsed += 1
        assert failures(source) == [], f"seed {seed}"
    assert parsed > EACH // 2
