"""In which module a name is defined that another one passes on."""

from __future__ import annotations

import pytest

from lint_rules.syntax.reexports import home

CLERK = "class Clerk:\n    pass\n\n\ndef reply(text):\n    pass\n\n\nlimit = 3\n"


@pytest.mark.parametrize(
    ("files", "asked", "found"),
    [
        ({"desk": CLERK}, ("desk", "Clerk"), ("desk", "Clerk")),
        ({"desk": "from .clerk import Clerk", "desk.clerk": CLERK}, ("desk", "Clerk"), ("desk.clerk", "Clerk")),
        ({"desk": "from .clerk import Clerk as C", "desk.clerk": CLERK}, ("desk", "C"), ("desk.clerk", "Clerk")),
        ({"desk": "from .clerk import *", "desk.clerk": CLERK}, ("desk", "reply"), ("desk.clerk", "reply")),
        ({".desk": "from .clerk import Clerk", ".desk.clerk": CLERK}, (".desk", "Clerk"), (".desk.clerk", "Clerk")),
        ({".": "from .clerk import limit", ".clerk": CLERK}, (".", "limit"), (".clerk", "limit")),
        ({"a.desk": "from ..clerk import Clerk", "a.clerk": CLERK}, ("a.desk", "Clerk"), ("a.clerk", "Clerk")),
        ({"a.desk": "from .clerk import Clerk", "a.clerk": CLERK}, ("a.desk", "Clerk"), ("a.clerk", "Clerk")),
        ({"desk": "from clerk import Clerk", "clerk": CLERK}, ("desk", "Clerk"), ("clerk", "Clerk")),
        (
            {"desk": "from .all import Clerk", "desk.all": "from .clerk import Clerk", "desk.clerk": CLERK},
            ("desk", "Clerk"),
            ("desk.clerk", "Clerk"),
        ),
        ({"desk": "from .desk import Clerk", "desk.desk": "from . import Clerk"}, ("desk", "Clerk"), ("desk", "Clerk")),
        ({"desk": "from fastapi import FastAPI"}, ("desk", "FastAPI"), ("desk", "FastAPI")),
        ({"desk": "from .clerk import Clerk", "desk.clerk": ""}, ("desk", "Clerk"), ("desk", "Clerk")),
        ({"desk": "from .clerk import ("}, ("desk", "Clerk"), ("desk", "Clerk")),
        ({}, ("desk", "Clerk"), ("desk", "Clerk")),
    ],
    ids=[
        "defined there", "a package", "by another name", "all of it", "relative", "of this package", "further up",
        "of a file", "absolute", "twice", "in a circle", "of a library", "of nothing", "no Python", "unknown",
    ],
)  # fmt: skip
def test_a_name_is_followed_to_where_it_is_defined(
    files: dict[str, str], asked: tuple[str, str], found: tuple[str, str]
) -> None:
    sources = {module: source.encode() for module, source in files.items()}
    assert home(sources.get, *asked) == found
