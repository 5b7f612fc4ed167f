"""The nodes of a bare tree stand where those of libcst's tree do, if it is told where."""

from __future__ import annotations

import ast
import warnings
from collections import Counter
from importlib.util import decode_source
from pathlib import Path

import libcst as cst
import pytest
from sampling import sample

from lint_rules.syntax.bare import Unlike, bare_tree
from lint_rules.syntax.module import SourceModule
from lint_rules.syntax.twins import Unplaced
from lint_rules.syntax.walk import walk

ROOT = Path(__file__).resolve().parent.parent
SOURCES = sample(sorted((ROOT / "fixtures").glob("*/bad_*.py")), 4, "twins")


@pytest.mark.parametrize("folder", sorted({path.parent for path in SOURCES}), ids=lambda path: path.name)
def test_sources(folder: Path) -> None:
    told = Counter[type]()
    for path in [path for path in SOURCES if path.parent == folder]:
        try:
            told += compare(path.read_bytes())
        except (SyntaxError, Unlike):
            continue
    assert not told or told[cst.Call]


@pytest.mark.parametrize(
    "source",
    [
        "x = [a for b in c]; y = {a: b for c, d in e.items() if f if (g)}; z = (h(i) async for i in (j))\n",
        "x = [a\nfor b in c\nif d\n]\n",
        "x = [\n    a\n    for (b) in c\n    for d in (e)\n]\nf(a for b in c )\n",
        "é = [ü for ä in ö if 'é']; f(é, ü=é)\n",
        "def f(a, *, b: int = 1, **c): pass\nclass C: x: int = 1\n",
        "@a\nasync  def  f(): await g()\n",
        "try: a\nexcept (B, C) as d: e\nfor f, in g: continue\nelse: h\n",
        "if a: b\nelif c: d\n",
        "with (a as b): c = (yield)\nreturn_ = (\n  d)\n(e)\n(f).g[(h)](i)\n",
        "x = 'a' 'b'\\\r\n 'c'; y = f'{z}'\r\nif y:\r\n\tz\r\n",
        "\ufeffx = 1\n",
    ],
)
def test_syntax(source: str) -> None:
    assert compare(source.encode())


@pytest.mark.parametrize(
    ("source", "kind"),
    [
        ("x = (1, 2)\n", cst.Tuple),
        ("x = (y for z in a)\n", cst.GeneratorExp),
        ("def f(*a): pass\n", cst.Param),
        ("x = [y  # why\n for z in a  # here\n]\n", cst.CompFor),
        ("def \\\n f(): pass\n", cst.Name),
        ("f(a=1)\n", cst.Arg),
    ],
)
def test_libcst_is_asked_for_the_rest(source: str, kind: type[cst.CSTNode]) -> None:
    module = bare(source.encode())
    (node, *_) = module.nodes_of(kind)
    with pytest.raises(Unplaced):
        module.positions.span(node)


def bare(source: bytes) -> SourceModule:
    text, tree = decode_source(source), ast.parse(source)
    return SourceModule(text, "a.py", bare_tree(text, tree), tree)


def compare(source: bytes) -> Counter[type]:
    """How many nodes of each type are told."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        one, other = bare(source), SourceModule(source, "a.py")
    told = Counter[type]()
    for node, twin in zip(walk(one.tree), walk(other.tree), strict=True):
        try:
            found = one.positions.span(node)
        except Unplaced:
            continue
        told[type(node)] += 1
        assert found == other.positions.span(twin), (type(node).__name__, found)
    return told
