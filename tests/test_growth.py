"""No check may cost more than its file grows: counted in calls of functions, which no load of a machine changes."""

from __future__ import annotations

import cProfile
import importlib.util
from collections import Counter
from pathlib import Path
from types import ModuleType

import pytest

from lint_rules.check import check_source


def _growth() -> ModuleType:
    path = Path(__file__).parent.parent / "benchmarks" / "growth.py"
    spec = importlib.util.spec_from_file_location("growth", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


growth = _growth()
SMALL, TIMES, MOST, FEW = 200, 4, 10, 600
"""Lines of the small file, how much longer the large one is, how many times as often it may call a function, and so
many calls of one function that nobody minds them: what looks at everything once for each thing calls 16 times as often.
"""


def calls(source: str) -> Counter[str]:
    """How often each function is called to check a file."""
    profile = cProfile.Profile()
    profile.runcall(check_source, source.encode(), "agent.py", growth.ALL)
    found: Counter[str] = Counter()
    for entry in profile.getstats():
        code = entry.code
        found[code if isinstance(code, str) else f"{code.co_filename}:{code.co_firstlineno} {code.co_name}"] += (
            entry.callcount
        )
    return found


@pytest.mark.parametrize("shape", growth.SHAPES)
def test_no_function_is_called_more_often_than_the_file_is_long(shape: str) -> None:
    make = growth.SHAPES[shape]
    calls(make(14))  # what is imported and cached once
    small, large = calls(make(SMALL)), calls(make(SMALL * TIMES))
    dear = {name: (small[name], count) for name, count in large.items() if count > small[name] * MOST + FEW}
    assert not dear, "\n".join(f"{name}: {few} calls, then {many}" for name, (few, many) in sorted(dear.items()))
