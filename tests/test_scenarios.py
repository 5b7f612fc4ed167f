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
