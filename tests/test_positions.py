"""Positions that are rendered statement by statement are those that libcst gives when it renders the whole file."""

from __future__ import annotations

from pathlib import Path

import libcst as cst
import pytest
from libcst.metadata import MetadataWrapper, PositionProvider

from lint_rules.finding import Span
from lint_rules.syntax.module import SourceModule

EVERYTHING = '''\
# -*- coding: utf-8 -*-
"""Docstring."""; import os


@decorate(  # why
    1
)
# between
@again
async def f(a, *, b=2) -> None:
	"""Tab."""
	if a: pass; x = 1
	elif b:
		é = "é"; print(é, a)
	elif (yield): y = 1
	else:
		try: z = 1
		except* OSError as e: raise
		else: ...
		finally:
			del z
	for i in a:
		continue
	else:
		pass
	while True:
		break
	else: pass
	match a:
		case [1, *rest] if rest: pass
		case {"k": v}:
			with (open(v) as file, b):
				return file
	try:
		g()
	# of the handler
	except (KeyError, OSError) as e:
		raise e
	except ValueError: pass


class C(list, metaclass=type):  # said
  x: int = 1; y = """a
b"""

  def g(self): return [n for n in self if (n := 1)]


if __name__ == "__main__":

    # alone
    f(
        1,
    )
'''
NEWER = "type X = int\n\n\ndef f():\n    g(1)\n"


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("source", [EVERYTHING, EVERYTHING.replace("except*", "except"), NEWER, "", "# only\n"])
def test_each_node_stands_where_libcst_says(source: str, newline: str) -> None:
    compare(source.replace("\n", newline).encode())


def test_each_node_of_a_real_file_stands_where_libcst_says() -> None:
    compare(Path(__file__).parent.parent.joinpath("lint_rules/syntax/positions.py").read_bytes())


def test_a_byte_order_mark_moves_nothing() -> None:
    compare(b"\xef\xbb\xbfx = 1\nif x:\n    y = 2\n")


def compare(source: bytes) -> None:
    module = SourceModule(source, "a.py")
    expected = MetadataWrapper(module.tree, unsafe_skip_copy=True).resolve(PositionProvider)
    assert expected
    for node, place in expected.items():
        if node in module.scope_of:  # whitespace and punctuation are nobody's place
            start = expected[node.whitespace_before].end if isinstance(node, cst.CompFor) else place.start
            wanted = Span(start.line, start.column + 1, place.end.line, place.end.column + 1)
            assert module.positions.span(node) == wanted, type(node).__name__
