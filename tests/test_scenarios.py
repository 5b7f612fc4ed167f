"""Every rule's harm is shown by running: each scenario exits 0 and prints what it saw."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

FIXTURES = Path(__file__).parent.parent / "fixtures"


@pytest.mark.parametrize("script", sorted(FIXTURES.glob("*/scenario.py")), ids=lambda path: path.parent.name)
def test_scenario(script: Path) -> None:
    done = subprocess.run(
        [sys.executable, str(script)],
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=120,
        check=False,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1", "PYTHONIOENCODING": "utf-8"},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert sum(line.startswith("ok ") for line in done.stdout.splitlines()) >= 2, done.stdout


SCHEDULED = (
    "unlocked_history_append",
    "overlapping_turns",
    "cross_session_history",
    "run_state_on_shared_agent",
    "shared_guard_state",
    "signal_before_save",
)


@pytest.mark.parametrize("rule", SCHEDULED)
def test_every_bad_program_of_concurrency_is_run(rule: str) -> None:
    """That runs meet is no argument, it has to be shown."""
    folder = FIXTURES / rule
    scenario = (folder / "scenario.py").read_text(encoding="utf-8")
    bad = [path.stem for path in folder.glob("bad_*") if not path.stem.endswith(".fixed")]
    assert [name for name in bad if f'"{name}"' not in scenario and f'"{name}/' not in scenario] == []
