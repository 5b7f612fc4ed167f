"""A bare tree is libcst's, but for formatting: compared field by field with what libcst parses."""

from __future__ import annotations

import ast
import sys
import warnings
from importlib.util import decode_source
from pathlib import Path
from typing import Any

import libcst as cst
import pytest
from sampling import sample

from lint_rules import analysis, check
from lint_rules.rules.catalogue import BY_CODE
from lint_rules.syntax.bare import Unlike, bare_tree
from lint_rules.syntax.walk import _PUNCTUATION

ROOT = Path(__file__).resolve().parent.parent
SOURCES = sorted(path for folder in ("fixtures", "lint_rules", "tests") for path in (ROOT / folder).rglob("*.py"))
WRITTEN = sample(
    (path for path in SOURCES if not path.name.startswith("good_") and ".fixed." not in path.name), 4, "written"
)
"""Without those that differ from another one by a line or two."""
BAD = [path for path in SOURCES if path.name.startswith("bad_") and not path.name.endswith(".fixed.py")]
READ = {"attr", "keyword", "operator", "star"}
"""Punctuation to `walk`, but read by name."""


def fields(kind: type[cst.CSTNode]) -> list[str]:
    return [
        name
        for name in kind.__dataclass_fields__
        if name in READ or (name not in _PUNCTUATION and not name.startswith(("whitespace", "lines_", "_")))
    ]


def difference(one: Any, other: Any) -> str | None:
    """Where two trees differ, None if they don't."""
    pending = [(one, other, "")]
    while pending:
        a, b, place = pending.pop()
        if isinstance(a, (list, tuple)) and isinstance(b, (list, tuple)):
            if len(a) != len(b):
                return f"{place}: {len(a)} and {len(b)}"
            pending += [(x, y, place) for x, y in zip(a, b, strict=True)]
        elif type(a) is not type(b):
            return f"{place}: {type(a).__name__} and {type(b).__name__}"
        elif isinstance(a, cst.CSTNode):
            pending += [
                (getattr(a, name), getattr(b, name), f"{place[-200:]}.{type(a).__name__}.{name}")
                for name in fields(type(a))
            ]
        elif a != b:
            return f"{place}: {a!r} and {b!r}"
    return None


def compared(source: bytes) -> str | None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return difference(bare_tree(decode_source(source), ast.parse(source)), cst.parse_module(source))


@pytest.mark.parametrize("folder", sorted({path.parent for path in WRITTEN}), ids=lambda path: path.name)
def test_sources(folder: Path) -> None:
    """Fixtures, the linter, and its tests."""
    for path in [path for path in WRITTEN if path.parent == folder]:
        try:
            assert compared(path.read_bytes()) is None, path
        except (SyntaxError, Unlike):
            assert "lint_rules" not in path.parts


@pytest.mark.parametrize(
    "source",
    [
        "x = 'a' \"b\" f'{c!r:>{d}}' rb''\n".replace(" rb''", ""),
        "x = ('a'\n     'b')\ny = '''a''' '''b'''\nz = r'\\d' b'' if 0 else b'\\x00' b'1'\n".replace("b'' if", "'' if"),
        "x = 1_000, 0xFF, 1e3, 2j, ..., None, True, -1, not y, ~z, +w\n",
        "a[b, c:d:e, ...]; a[(b, c)]; a[(b), c]; a[((b), c)]; a[b,]; a[()]; a[:]; a[(b), (c)]\n",
        "f(a, *b, c=1, *d, **e, f=2)\nf(x for x in y)\nf(**a, b=c)\n",
        "class A(B, metaclass=C, **d): x = 1; y: int = 2\nclass E: pass\n",
        "def f(a, b: int = 1, /, c=2, *, d, e=3, **g) -> int: return a\ndef h(*args: int, k): ...\nlambda: 0\n",
        "lambda a, *b, c=1, **d: (yield)\n",
        "if a: pass\nelif b: x = 1; y = 2\nelse:\n    if c:\n        pass\n    else: pass\n",
        "async def f():\n    async with a as b, c: await d\n    async for e in f: pass\n    else: x\n",
        "async def f():\n    [g async for g in h]\n",
        "try: a\nexcept B as c: d\nexcept (E, F): raise G from c\nexcept: raise\nelse: h\nfinally: i\n",
        "[a for b in c if d if e for f in g]; {a: b for c in d}; {a for b in c}; {**a, 'b': c}; {a, *b}\n",
        "a = b = c, *d = e\nf: int\ng += 1; h @= 2; i //= 3; j **= 4; k >>= 5\n",
        "a or b or c and d and e; a < b <= c is not d not in e; a + b * c - d ** -e; a if b else c\n",
        "del a, b[c]\ndel d\nassert a, b\nglobal z\nimport a.b.c as d, e\nfrom . import x\nfrom ..y import z as w, v\n",
        "from a import *\nfrom a.b import (c, d as e,)\n",
        "while a: b\nelse: c\nfor a, in b: break\nfor c, (d, *e) in f:\n    continue\n",
        "with (a as b, c as (d, e)):\n    pass\nif (x := 1): y = [z := 2]\n",
        "@a.b(c)\n@d\nclass E:\n    @f\n    async def g(self): yield from h\n",
        "if a:\n    match b:\n        case [1, *c] if d: pass\n        case E(f, g=2) | {'h': i, **j}: pass\n",
        "match a, b:\n    case -1 | 2 + 3j | None | True | c.d: pass\n    case e, f: pass\n    case (g,): pass\n",
        "match a:\n    case [*_] | (h, *_): pass\n    case ([i]) as j: pass\n    case {'k': [], **l}: pass\n",
        "match a:\n    case {}: pass\n    case []: pass\n    case (): pass\n",
        "match a:\n    case m.N(): pass\n    case 'o' 'p': pass\n    case ((q)), ((r, s)): pass\n    case _: pass\n",
        "def f():\n\tif a:\n\t\tmatch b:\n\t\t\tcase (1, 2): pass\n\treturn 1\n",
        "x = (yield), (await y), (lambda: 1), f'{x}' f'{y=}'\n",
        "x = 'é', f'é{é}é', é.ü[ö, (ä)]\n",
        "x = f'{a}{b.c}{d[\"e\"]!s:>{w}.2f}{{}}{f(g, h=1)}{ i !r}', f'', f'{yield_}', Rf'\\d{j}\\{k}', f'\\{m}\\n'\n",
        "x = f'''{a:\n>3}'q' \"{b}\"''' F\"{c != d}{e == f}{g <= h}{lambda_}\"  # {no}\n",
        "x = f'{a[1:2]}{ {1: 2}[1] }{(lambda: 1)()}{b, c}{*d, e}{f if g else h}{\"}\"}{\":\"!r}{await_:{i}{j}}'\n",
        "x = f'{a=}', f'{a = !r:>3}', f'\\N{BULLET}{a}', f'{f\"{a}\"}', f'{a:{b}}' 'd' f'{e:%H:%M}', f'{(yield)}'\n",
        "\ufeffx = 1\n",
        "x = 1\r\nif x:\r\n    y = 'a'\\\r\n  'b'\r\n",
        "\f\nx = '''a\nb'''; y = 2\n",
        "# only a comment\n",
        "",
    ],
)  # fmt: skip
def test_syntax(source: str) -> None:
    assert compared(source.encode()) is None


@pytest.mark.skipif(sys.version_info < (3, 11), reason="syntax of Python 3.11")
@pytest.mark.parametrize(
    "source", ["try: a\nexcept* B as c: d\n", "def f(*args: *A): pass\n", "x[*a, b]\n", "for x in *a, b: pass\n"]
)
def test_syntax_of_3_11(source: str) -> None:
    assert compared(source.encode()) is None


@pytest.mark.skipif(sys.version_info < (3, 12), reason="syntax of Python 3.12")
@pytest.mark.parametrize(
    "source", ["type A[T] = B\n", "if 1:\n    class A[T: int](B): pass\n", "def f[*T](x): pass\n", "x = f'{a['b']}'\n"]
)
def test_syntax_of_3_12(source: str) -> None:
    assert compared(source.encode()) is None


@pytest.mark.skipif(sys.version_info < (3, 12), reason="syntax of Python 3.12")
@pytest.mark.parametrize("source", ["type A = B; x = 1\n", "x = 1; type A = B\n"])
def test_rare_statements_that_share_a_line_are_left_to_libcst(source: str) -> None:
    with pytest.raises(Unlike):
        bare_tree(source, ast.parse(source))


@pytest.mark.parametrize("source", ["if a: \\\n    b\n", "a; \\\nb\n", "if a: \\\r\n    b\r\n"])
def test_broken_suites_are_left_to_libcst(source: str) -> None:
    with pytest.raises(Unlike):
        bare_tree(source, ast.parse(source))


def test_unknown_syntax_is_left_to_libcst() -> None:
    source = "x = 1\n"
    tree = ast.parse(source)
    tree.body[0].value = ast.Starred(ast.Name("y"))  # type: ignore[attr-defined]
    with pytest.raises(Unlike):
        bare_tree(source, tree)


def test_what_libcst_cannot_parse_is_left_to_it() -> None:
    """A text that does not fit to its tree stands for a string that Python reads, and libcst does not."""
    with pytest.raises(Unlike):
        bare_tree("x = f'{('\n", ast.parse("x = f'abc'\n"))


def test_long_chains() -> None:
    """Longer than the stack is deep."""
    sources = (
        "if a: b\n" + "elif c: d\n" * 900,
        "x = " + " + ".join(["a"] * 900) + "\n",
        "x = " + " or ".join(["a"] * 3000) + "\n",
    )
    for source in sources:
        assert isinstance(bare_tree(source, ast.parse(source)), cst.Module)


def test_libcst_parses_few_files_with_findings(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those whose repairs depend on how the file is formatted, or whose findings stand where only libcst knows."""
    monkeypatch.setattr(cst, "parse_module", refuse)
    bad = sample(BAD, 4, "few")
    reports = [check.check_source(path.read_bytes(), str(path), check.Options(of_folder(path))) for path in bad]
    told = [report for report in reports if "AGL000" not in {finding.code for finding in report.findings}]
    assert len(told) > 0.85 * len(reports) > 100


@pytest.mark.parametrize("path", sample(BAD, 8, "both trees"), ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_the_same_is_found_in_both_trees(path: Path) -> None:
    """Whether a file is analysed on a bare tree or on libcst's, hangs on what else is found in it."""
    source, options = path.read_bytes(), check.Options(frozenset(BY_CODE))
    bare, parsed = (
        analysis.report(source, str(path), tree, options, None, noqa=True)
        for tree in (ast.parse(source), cst.parse_module(source))
    )
    assert bare == parsed
    assert bare.findings or check.check_source(source, str(path), options).findings, "something, if in normal form only"


def of_folder(path: Path) -> frozenset[str]:
    return frozenset(code for code, rule in BY_CODE.items() if rule.name.replace("-", "_") == path.parent.name)


def refuse(*_: object) -> cst.Module:
    raise AssertionError("libcst parses a file")


def test_nodes_are_hashed_in_c() -> None:
    """A class that defines a hash of its own would bring Python's back."""
    hashed = {cst.CSTNode: cst.CSTNode.__hash__}
    for kind in vars(cst).values():
        if isinstance(kind, type) and issubclass(kind, cst.CSTNode):
            hashed[kind] = kind.__hash__
    assert set(hashed.values()) == {object.__hash__}
    assert cst.Name("x") not in {cst.Name("x")}


def test_a_rule_that_needs_libcst_costs_the_others_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """They have been asked already, on a tree that may stand in other words than the file."""
    from lint_rules.rules import swallowed_history_error, unsaved_turn_history

    asked: list[object] = []
    monkeypatch.setattr(unsaved_turn_history, "check", lambda anatomy: asked.append(anatomy) or ())
    monkeypatch.setattr(swallowed_history_error, "repair", lambda anatomy, handler: print(handler.leading_lines))
    path = next(path for path in BAD if path.stem == "bad_save_logged_at_debug")
    source = path.read_bytes()
    options = check.Options(frozenset({"AGL606", "AGL607"}))
    report = analysis.report(source, str(path), ast.parse(source), options, None, noqa=True)
    assert [finding.code for finding in report.findings] == ["AGL607"]
    assert len(asked) == 1
