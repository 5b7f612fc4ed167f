"""Looks for garbage as seldom as the processes of `looplint` do, which is a fifth of the time of the tests."""

from __future__ import annotations

import gc

from lint_rules.run import COLLECTIONS

gc.set_threshold(*COLLECTIONS)


def pytest_collection_finish() -> None:
    """The tests, of which there are many thousands, are no garbage."""
    gc.freeze()
