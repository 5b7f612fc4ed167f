"""What the recipes share. The scripted model itself is `fixtures/fake_model.py`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def outcome(turn: Callable[[], Any]) -> Any:
    """What the turn gives, or the name of the error that it ends with."""
    try:
        return turn()
    except Exception as error:
        return type(error).__name__
