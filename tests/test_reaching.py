"""Reaching definitions by hand; `test_control_flow` compares them with what random programs do."""

from __future__ import annotations

import textwrap

import libcst as cst
import pytest

from lint_rules.syntax.control_flow import Point, build
from lint_rules.syntax.reaching import Definition, Reaching, reaching
from lint_rules.syntax.walk import walk


def here(body: str, signature: str = "") -> tuple[Reaching, Point, cst.Module]:
    """The definitions of a function with `body`, and the point of its `here()`."""
    code = f"def f({signature}):\n" + textwrap.indent(textwrap.dedent(body).strip(), "    ") + "\n"
    module = cst.parse_module(code)
    function = module.body[0]
    assert isinstance(function, cst.FunctionDef)
    graph = build(function)
    (call,) = (p for p in graph.points if p.statement and module.code_for_node(p.statement).startswith("here("))
    return reaching(graph), call, module


def values(body: str, name: str = "x", signature: str = "") -> list[str]:
    """What reaches `here()`: the values of the definitions of `name`, or their kinds where there is none."""
    reached, point, module = here(body, signature)
    found = reached.at(point, name)
    return [module.code_for_node(d.value) if d.value is not None else d.kind for d in found]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("x = 1\nx = 2\nhere()", ["2"]),
        ("here()\nx = 1", []),
        ("x = 1\nif a: x = 2\nhere()", ["1", "2"]),
        ("if a: x = 1\nelse: x = 2\nhere()", ["1", "2"]),
        ("x = 1\nif a:\n  x = 2\n  return\nhere()", ["1"]),
        ("x = 1\nwhile a:\n  here()\n  x = 2", ["1", "2"]),
        ("x = 1\nwhile a:\n  x = 2\n  here()", ["2"]),
        ("x = 1\nwhile True:\n  x = 2\n  if a: break\n  x = 3\nhere()", ["2"]),
        ("x = 1\nfor y in z:\n  x = 2\n  continue\nelse:\n  x = 3\nhere()", ["3"]),
        ("x: int = 1\nx: str\nhere()", ["1"]),
        ("x = 1\nx += 2\nhere()", ["2"]),
        ("x = y = 1\nhere()", ["1"]),
        ("x = 1\ndel x\nhere()", []),
        ("x = 1\nif a: del x\nhere()", ["1"]),
        ("x = 1\ny = [x for x in z]\nhere()", ["1"]),
        ("x = 1\nx.y = x[0] = 2\nhere()", ["1"]),
        ("x = 1\ndef g(): x = 2\nclass C: x = 3\nhere()", ["1"]),
    ],
)
def test_assignments(body: str, expected: list[str]) -> None:
    assert values(body) == expected


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("x, y = 1, 2\nhere()", ["1"]),
        ("[y, (z, x)] = 1, (2, 3)\nhere()", ["3"]),
        ("x, y = f()\nhere()", ["unpack"]),
        ("x, *y = 1, 2\nhere()", ["unpack"]),
        ("y, x = *a, 1\nhere()", ["unpack"]),
        ("x, y = 1, 2, 3\nhere()", ["unpack"]),
        ("*x, y = z\nhere()", ["unpack"]),
        ("x, y = y, x\nhere()", ["y"]),
    ],
)
def test_unpacking(body: str, expected: list[str]) -> None:
    assert values(body) == expected


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("x = 1\nif (x := 2): here()", ["2"]),
        ("x = 1\nwhile (x := f()) is not None:\n  here()\n  x = 3", ["f()"]),
        ("x = 1\nif a and (x := 2): pass\nhere()", ["1", "2"]),
        ("x = 1\nif (x := 2) and a: pass\nhere()", ["2"]),
        ("x = 1\ny = (x := 2) if a else 3\nhere()", ["1", "2"]),
        ("x = 1\ny = 2 if (x := 3) else 4\nhere()", ["3"]),
        ("x = 1\ny = a < (x := 2)\nhere()", ["2"]),
        ("x = 1\ny = a < b < (x := 2)\nhere()", ["1", "2"]),
        ("x = 1\ny = [(x := z) for z in a]\nhere()", ["1", "z"]),
        ("x = 1\ny = lambda: (x := 2)\nhere()", ["1"]),
        ("x = 1\nf(a, (x := 2))\nhere()", ["2"]),
        ("y = (x := (x := 1) + 2)\nhere()", ["(x := 1) + 2"]),
        ("x = (x := 1) + 2\nhere()", ["(x := 1) + 2"]),
        ("x = 1\nassert a, (x := 2)\nhere()", ["1", "2"]),
        ("for y in (x := 1):\n  x = 2\nhere()", ["1", "2"]),
    ],
)
def test_walrus(body: str, expected: list[str]) -> None:
    assert values(body) == expected


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("for x in y: here()", ["for"]),
        ("x = 1\nfor x in y: pass\nhere()", ["1", "for"]),
        ("x = 1\nfor x in y: break\nelse: here()", ["1"]),
        ("for y, (z, x) in a: here()", ["for"]),
        ("with a as x: here()", ["with"]),
        ("with a as (y, x), b: here()", ["with"]),
        ("try: a()\nexcept E as x: here()", ["except"]),
        ("import x.y\nhere()", ["import"]),
        ("import y.x\nhere()", []),
        ("import y.z as x\nhere()", ["import"]),
        ("from a import x, y\nhere()", ["import"]),
        ("from a import y as x\nhere()", ["import"]),
        ("def x(): pass\nhere()", ["def"]),
        ("class x: pass\nhere()", ["class"]),
        ("match a:\n  case [x, *y]: here()", ["match"]),
        ("match a:\n  case [y, *x]: here()", ["match"]),
        ("match a:\n  case {'k': 1, **x}: here()", ["match"]),
        ("match a:\n  case C(y=1) as x: here()", ["match"]),
        ("x = 1\nmatch a:\n  case x if b: pass\n  case _: here()", ["1", "match"]),
        ("x = 1\nglobal y\nhere()", ["1"]),
        ("nonlocal x\nif a: x = 1\nhere()", ["outer", "1"]),
    ],
)
def test_other_bindings(body: str, expected: list[str]) -> None:
    assert values(body) == expected


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        # Of what failed, the binding that comes last has not happened.
        ("x = 1\ntry:\n  x = f()\nexcept E:\n  here()", ["1"]),
        ("x = 1\ntry:\n  x = f()\n  g()\nexcept E:\n  here()", ["1", "f()"]),
        ("x = 1\ntry:\n  x, y = f()\nexcept E:\n  here()", ["1", "unpack"]),
        ("x = 1\ntry:\n  x = y.z = f()\nexcept E:\n  here()", ["1", "f()"]),
        ("x = 1\ntry:\n  f((x := 2))\nexcept E:\n  here()", ["1", "2"]),
        ("x = 1\ntry:\n  x = f()\nexcept E:\n  x = 2\nhere()", ["f()", "2"]),
        ("x = 1\ntry:\n  x = f()\nexcept E:\n  return\nhere()", ["f()"]),
        ("x = 1\nwith suppress(E):\n  x = f()\nhere()", ["1", "f()"]),
        ("x = 1\nwith lock:\n  x = f()\nhere()", ["f()"]),
        ("x = 1\ntry:\n  if a(): return\n  x = 2\nfinally:\n  x = 3\nhere()", ["3"]),
        ("x = 1\nfor y in z:\n  try:\n    if a: continue\n    x = 2\n  finally:\n    b()\n  here()", ["2"]),
    ],
)
def test_through_exceptions(body: str, expected: list[str]) -> None:
    assert values(body) == expected


def test_parameters() -> None:
    signature = "a, /, b=1, *c, d=2, **e"
    assert values("here()", "a", signature) == ["parameter"]
    assert values("here()", "b", signature) == ["1"]
    assert values("here()", "c", signature) == ["parameter"]
    assert values("here()", "d", signature) == ["2"]
    assert values("here()", "e", signature) == ["parameter"]
    assert values("a = a or []\nhere()", "a", signature) == ["a or []"]
    assert values("if a: b = 3\nhere()", "b", signature) == ["1", "3"]
    assert values("here()", "f", signature) == []


def test_only_and_the_definition_itself() -> None:
    reached, point, _ = here("x = 1\ny = 1\nif a: y = 2\nhere()")
    definition = reached.only(point, "x")
    assert isinstance(definition, Definition)
    assert (definition.name, definition.kind) == ("x", "assign")
    assert isinstance(definition.point.statement, cst.Assign)
    assert isinstance(definition.value, cst.Integer)
    assert definition in reached.definitions
    assert reached.only(point, "y") is None
    assert reached.only(point, "z") is None


def test_unreachable_code_is_reached_by_nothing() -> None:
    assert values("x = 1\nreturn\nhere()") == []


def test_modules_and_lambdas() -> None:
    module = cst.parse_module("import x\nif a: x = 1\nb\n")
    graph = build(module)
    reached = reaching(graph)
    assert [d.kind for d in reached.at(graph.exit, "x")] == ["import", "assign"]
    function = next(n for n in walk(cst.parse_module("f = lambda x, y=1: (x := 2)")) if isinstance(n, cst.Lambda))
    graph = build(function)
    reached = reaching(graph)
    assert [d.kind for d in reached.at(graph.points[3], "x")] == ["parameter"]
    assert [d.kind for d in reached.at(graph.exit, "x")] == ["walrus"]


def test_a_thousand_branches_and_names() -> None:
    body = "".join(f"if a: x{n} = x = {n}\n" for n in range(1000)) + "here()"
    reached, point, _ = here(body)
    assert len(reached.at(point, "x")) == 1000
    assert reached.only(point, "x7") is not None
