"""The code of expressions: one line, spaced in one way, which means what the file says."""

from __future__ import annotations

import ast
import warnings
from importlib.util import decode_source
from pathlib import Path

import libcst as cst
import pytest

from lint_rules.syntax import expressions as ex
from lint_rules.syntax.bare import Unlike, bare_tree
from lint_rules.syntax.code import code
from lint_rules.syntax.walk import walk

ROOT = Path(__file__).resolve().parent.parent
SOURCES = sorted((ROOT / "fixtures").glob("*/bad_*.py"))
SPELLED = [
    ("f( a,b = c [0],*d, ** e )+{'e':-1}", "f(a, b=c[0], *d, **e) + {'e': -1}"),
    ("(a)", "a"),
    ("(a or b) and c", "(a or b) and c"),
    ("a or (b and c)", "a or b and c"),
    ("a or (b or c)", "a or (b or c)"),
    ("(a - b) - c", "a - b - c"),
    ("a - (b - c)", "a - (b - c)"),
    ("(a + b) * c ** -d", "(a + b) * c ** -d"),
    ("(-a) ** b", "(-a) ** b"),
    ("(a ** b) ** c", "(a ** b) ** c"),
    ("not (a == b)", "not a == b"),
    ("(not a) == b", "(not a) == b"),
    ("(a < b) < c", "(a < b) < c"),
    ("a  not  in b is  not c", "a not in b is not c"),
    ("(await a).b", "(await a).b"),
    ("(1).real + 1.5.real", "(1).real + 1.5.real"),
    ("f(x for x in y)", "f(x for x in y)"),
    ("f((x for x in y), z)", "f((x for x in y), z)"),
    ("[a for (b, c), d in e if (f if g else h) for i in (lambda: j)]", None),
    ("[{a: b for a, b in c}, {d for d in e}]", "[{a: b for a, b in c}, {d for d in e}]"),
    ("{**f}, {*g}, ()", "({**f}, {*g}, ())"),
    ("(a,)", "(a,)"),
    ("a[1:2], a[:], a[::b], a[c:], a[:, 1]", "(a[1:2], a[:], a[::b], a[c:], a[:, 1])"),
    ("a[b, (c, d)]", "a[b, (c, d)]"),
    ("lambda a, /, b = 1, *c, d, **e: (yield)", "lambda a, /, b=1, *c, d, **e: (yield)"),
    ("lambda *, a: lambda: a", "lambda *, a: lambda: a"),
    ("(a if b else c) if (d if e else f) else g if h else i", "(a if b else c) if (d if e else f) else g if h else i"),
    ("(lambda: a)()", "(lambda: a)()"),
    ("(a := b), f(c := d), g(e=(h := i))", "(a := b, f(c := d), g(e=(h := i)))"),
    ("f'{a!r:>{b}} { {1: 2}[1] }' \"c\"", None),
    ("f'{a=}'", "f'{a=}'"),
    ("'a'\n  'b'", "'a' 'b'"),
    ("f(\n  a,\n  b,\n)", "f(a, b)"),
    ("1_000, 0xFF, 1e3, 2j, ...", "(1_000, 0xFF, 1e3, 2j, ...)"),
    ("[(yield), (yield from a)]", "[(yield), (yield from a)]"),
]  # fmt: skip


@pytest.mark.parametrize(("written", "wanted"), SPELLED)
def test_one_way_to_write_it(written: str, wanted: str | None) -> None:
    found = code(cst.parse_expression(f"({written})"))
    assert wanted is None or found == wanted
    assert meaning(found) == meaning(written)


@pytest.mark.parametrize("folder", sorted({path.parent for path in SOURCES}), ids=lambda path: path.name)
def test_it_means_what_the_file_says_and_both_trees_say_it_alike(folder: Path) -> None:
    for path in sorted(folder.glob("bad_*.py")):
        source = path.read_bytes()
        try:
            bare, parsed = bare_tree(decode_source(source), ast.parse(source)), cst.parse_module(source)
        except (SyntaxError, Unlike):
            continue
        for node, twin in zip(walk(bare), walk(parsed), strict=True):
            if isinstance(node, (cst.Call, cst.Assign, cst.Return, cst.If, cst.While)):
                for one, other in zip(expressions(node), expressions(twin), strict=True):
                    assert code(one) == code(other)
                    assert meaning(code(one)) == meaning(cst.Module([]).code_for_node(other))


def test_long_chains() -> None:
    """Longer than the stack is deep."""
    for written in (" + ".join(["a"] * 900), " or ".join(["a"] * 3000)):
        statement = bare_tree(written, ast.parse(written)).body[0]
        assert isinstance(statement, cst.SimpleStatementLine)
        assert isinstance(statement.body[0], cst.Expr)
        assert code(statement.body[0].value) == written


def test_for_what_stands_before_or_behind_it() -> None:
    for written, wanted in (("a or b", "(a or b)"), ("a.b(c)", "a.b(c)"), ("-a", "(-a)"), ("await a", "(await a)")):
        assert ex.operand(cst.parse_expression(written)) == wanted


def test_what_is_too_long_ends_in_dots() -> None:
    assert ex.source(cst.parse_expression("abcdef(ghi)"), 8) == "abcde..."


def test_statements_stand_as_in_the_file() -> None:
    assert ex.source(cst.parse_statement("a  = (1)\n")) == "a = (1)"


def expressions(node: cst.CSTNode) -> list[cst.CSTNode]:
    if isinstance(node, (cst.If, cst.While)):
        return [node.test]
    if isinstance(node, cst.Call):
        return [node]
    value = node.value  # type: ignore[attr-defined]
    return [] if value is None else [value]


def meaning(written: str) -> str:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.dump(ast.parse(f"({written}\n)", mode="eval"))
