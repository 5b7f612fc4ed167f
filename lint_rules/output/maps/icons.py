"""A sign for each kind of part, as the lines of a drawing of 24 by 24."""

from __future__ import annotations

from lint_rules.picture import PartKind

ICONS: dict[PartKind, str] = {
    "start": "M13 3 5 14h6l-1 7 8-11h-6z",
    "history": "M5 4h14v4H5zM5 10h14v4H5zM5 16h14v4H5z",
    "copy": "M9 9h11v11H9zM15 9V4H4v11h5",
    "cut": "M8 8l12 10M8 16 20 6M3 6.5a2.5 2.5 0 1 0 5 0a2.5 2.5 0 1 0-5 0M3 17.5a2.5 2.5 0 1 0 5 0a2.5 2.5 0 1 0-5 0",
    "ask": "M4 5h16v11h-9l-5 4v-4H4zM8 9h8M8 12h5",
    "reply": "M9 7 4 12l5 5M4 12h10a6 6 0 0 1 6 6v1",
    "end": "M14 4h5v16h-5M4 12h10M10 8l4 4-4 4",
    "limit": "M4 18a8 8 0 1 1 16 0M12 18l4-6",
    "parse": "M9 4c-3 0-3 1-3 4s0 4-2 4c2 0 2 1 2 4s0 4 3 4M15 4c3 0 3 1 3 4s0 4 2 4c-2 0-2 1-2 4s0 4-3 4",
    "guard": "M12 3l8 3v6c0 5-4 8-8 9-4-1-8-4-8-9V6z",
    "run": "M5 4l14 8-14 8z",
    "answer": "M4 5h16v11h-6l-5 4v-4H4zM9 10l2 2 4-4",
    "write": "M4 20l1-5L16 4l4 4L9 19z",
    "lock": "M6 11h12v9H6zM8 11V8a4 4 0 0 1 8 0v3",
    "code": "M9 7l-5 5 5 5M15 7l5 5-5 5",
}
