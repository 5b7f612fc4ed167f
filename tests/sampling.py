"""Which fixtures a test takes that is dear: all of them with LOOPLINT_HEAVY=1, as CI does, else a sample.

What `test_fixtures.py` asks of each fixture, it always asks of all.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from hashlib import sha256
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
HEAVY = os.environ.get("LOOPLINT_HEAVY") == "1"


def sample(paths: Iterable[Path], one_in: int, lot: str) -> list[Path]:
    """One in so many: always the same, whatever is added, and others for another lot."""

    def drawn(path: Path) -> bool:
        name = path.resolve().relative_to(ROOT).as_posix()
        return int(sha256(f"{lot} {name}".encode()).hexdigest(), 16) % one_in == 0

    return [path for path in paths if HEAVY or drawn(path)]
