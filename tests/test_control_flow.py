"""The control-flow graph: tricky shapes by hand, then random programs run and compared with their graphs."""

from __future__ import annotations

import contextlib
import random
import textwrap
from collections.abc import Iterator

import libcst as cst
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lint_rules.syntax.control_flow import Graph, Point, build, solve
from lint_rules.syntax.reaching import Definition, reaching
from lint_rules.syntax.walk import children, walk


class Shape:
    """A function's graph whose points are found by the first line of their code."""

    def __init__(self, body: str) -> None:
        code = "def f():\n" + textwrap.indent(textwrap.dedent(body).strip(), "    ") + "\n"
        self.module = cst.parse_module(code)
        function = self.module.body[0]
        assert isinstance(function, cst.FunctionDef)
        self.graph = build(function)

    def __getitem__(self, line: str) -> list[Point]:
        found = [p for p in self.graph.points if p.statement is not None and self.line(p) == line]
        assert found, line
        return found

    def line(self, point: Point) -> str:
        if point.statement is None:
            return {self.graph.entry: "ENTRY", self.graph.exit: "EXIT", self.graph.raises: "RAISE"}[point]
        return self.module.code_for_node(point.statement).strip().splitlines()[0].rstrip("; ")

    def one(self, line: str) -> Point:
        (point,) = self[line]
        return point

    def after(self, line: str) -> set[tuple[str, str]]:
        """Where the only point of `line` leads, leaving out statements that fail for RAISE."""
        edges = {(self.line(target), kind) for target, kind in self.one(line).successors}
        return edges - {("RAISE", "exception")}

    def goes(self, start: str, goal: str, *avoiding: str, exceptions: bool = True) -> bool:
        special = {"ENTRY": self.graph.entry, "EXIT": self.graph.exit, "RAISE": self.graph.raises}
        starts, goals = ([special[n]] if n in special else self[n] for n in (start, goal))
        avoided = {point for line in avoiding for point in self[line]}
        return self.graph.reaches(starts, goals, avoided, exceptions=exceptions)


def test_straight_line() -> None:
    shape = Shape("a()\nx = 1; b()")
    assert shape.after("a()") == {("x = 1", "normal")}
    assert shape.after("x = 1") == {("b()", "normal")}
    assert shape.after("b()") == {("EXIT", "normal")}
    assert (shape.graph.raises, "exception") in shape.one("a()").successors
    assert shape.one("x = 1").successors == [(shape.one("b()"), "normal")]
    assert shape.one("b()").predecessors == [(shape.one("x = 1"), "normal")]


def test_branches() -> None:
    shape = Shape("if a:\n  b()\nelif c:\n  d()\nelif e: f()\ng()")
    assert shape.after("if a:") == {("b()", "true"), ("if c:", "false")}
    assert shape.after("if e: f()") == {("f()", "true"), ("g()", "false")}
    assert shape.after("b()") == shape.after("d()") == {("g()", "normal")}


def test_a_body_on_the_line_of_its_header() -> None:
    shape = Shape("while a: b(); continue\nc()")
    assert shape.after("continue") == {("while a: b(); continue", "loop")}


def test_eight_hundred_branches() -> None:
    graph = Shape("if a: b()\n" + "elif a: b()\n" * 800 + "else: b()").graph
    assert len(graph.points) == 3 + 2 * 801 + 1
    assert len(graph.exit.predecessors) == 802
    assert graph.dominates(graph.entry, graph.exit)


def test_five_thousand_statements_are_no_burden() -> None:
    graph = Shape("try:\n" + "  a()\n" * 5000 + "except E: pass").graph
    assert len(graph.dominators()) == len(graph.order) - 1
    assert graph.path(graph.entry, graph.exit) is not None


def test_loops() -> None:
    shape = Shape(
        """
        while a:
            if b: continue
            if c: break
            d()
        else:
            e()
        g()
        """
    )
    assert shape.after("while a:") == {("if b: continue", "true"), ("e()", "false")}
    assert shape.after("continue") == shape.after("d()") == {("while a:", "loop")}
    assert shape.after("break") == shape.after("e()") == {("g()", "normal")}
    assert not shape.goes("break", "e()")


def test_a_for_loop_may_run_zero_times() -> None:
    shape = Shape("for x in y:\n  a()\nb()")
    assert shape.after("for x in y:") == {("a()", "true"), ("b()", "false")}
    assert shape.goes("ENTRY", "b()", "a()")


def test_nested_loops_with_else() -> None:
    shape = Shape(
        """
        for x in y:
            for z in x:
                if z: break
                if x: continue
            else:
                continue
            a()
            break
        else:
            b()
        c()
        """
    )
    inner, outer = "for z in x:", "for x in y:"
    breaks, continues = shape["break"], shape["continue"]
    assert [[shape.line(t) for t, _ in p.successors] for p in breaks] == [["a()"], ["c()"]]
    assert [[(shape.line(t), k) for t, k in p.successors] for p in continues] == [
        [(inner, "loop")],
        [(outer, "loop")],
    ]
    assert shape.after(inner) == {("if z: break", "true"), ("continue", "false")}
    assert not shape.goes("a()", "b()")


@pytest.mark.parametrize("test", ["True", "1", "(True)"])
def test_while_true_ends_by_break_only(test: str) -> None:
    shape = Shape(f"while {test}:\n  a()\nb()")
    assert not shape.goes("ENTRY", "b()")
    assert not shape.goes("ENTRY", "EXIT")
    assert shape.goes("ENTRY", "RAISE")
    assert not shape.goes("ENTRY", "RAISE", exceptions=False)
    shape = Shape(f"while {test}:\n  if a(): break\nelse:\n  c()\nb()")
    assert shape.goes("ENTRY", "b()")
    assert not shape.goes("ENTRY", "c()")


def test_while_with_a_constant_that_is_false_has_a_way_on() -> None:
    assert Shape("while 0:\n  a()\nb()").goes("ENTRY", "b()")


def test_exceptions_go_to_each_handler_and_further_out() -> None:
    shape = Shape(
        """
        try:
            a()
            x = y
        except ValueError:
            b()
        except (KeyError, OSError) as e:
            c()
        else:
            d()
        g()
        """
    )
    value, key = "except ValueError:", "except (KeyError, OSError) as e:"
    assert shape.after("a()") == {("x = y", "normal"), (value, "exception"), (key, "exception")}
    assert (shape.graph.raises, "exception") in shape.one("a()").successors
    assert shape.after("x = y") == {("d()", "normal")}
    assert shape.after("d()") == shape.after("b()") == shape.after("c()") == {("g()", "normal")}
    assert not shape.goes("d()", "b()")
    assert shape.graph.at(shape.one("c()").statement or shape.module) == [shape.one("c()")]


@pytest.mark.parametrize("types", ["", " Exception", " BaseException", " (ValueError, Exception)", " Exception as e"])
def test_a_handler_of_everything_stops_exceptions(types: str) -> None:
    shape = Shape(f"try:\n  a()\nexcept ValueError:\n  pass\nexcept{types}:\n  pass")
    assert not shape.goes("a()", "RAISE")


def test_inner_handlers_first_then_outer_ones() -> None:
    shape = Shape(
        """
        try:
            try:
                a()
            except KeyError:
                b()
        except Exception:
            c()
        """
    )
    assert shape.after("a()") >= {("except KeyError:", "exception"), ("except Exception:", "exception")}
    assert shape.after("b()") == {("EXIT", "normal"), ("except Exception:", "exception")}
    assert (shape.graph.raises, "exception") in shape.one("c()").successors
    assert not shape.goes("a()", "RAISE", "c()")


def test_raise_is_followed_without_exceptions_too() -> None:
    shape = Shape("try:\n  if a: raise E\n  b()\nexcept F:\n  c()\nd()")
    assert shape.after("raise E") == {("except F:", "raise"), ("RAISE", "raise")}
    assert shape.goes("ENTRY", "c()", exceptions=False)
    assert not shape.goes("b()", "c()", exceptions=False)
    assert shape.goes("b()", "c()")


@pytest.mark.parametrize("end", ["sys.exit(1)", "exit()", "os._exit(0)"])
def test_the_end_of_the_program_is_followed_by_nothing(end: str) -> None:
    shape = Shape(f"try:\n    a()\nexcept Exception:\n    {end}\nb()")
    assert ("b()", "normal") not in shape.after(end)
    assert shape.goes("a()", "RAISE", "b()")
    assert not shape.goes(end, "b()")


def test_finally_keeps_the_ways_through_it_apart() -> None:
    shape = Shape(
        """
        for x in y:
            try:
                if a(): return
                if b: break
                if c: continue
                x = 1
            finally:
                last()
            more()
        end()
        """
    )
    # Fall through, return, break, continue, exception.
    assert len(shape["last()"]) == 5
    onward = [[shape.line(t) for t, kind in p.successors if kind != "exception"] for p in shape["last()"]]
    assert sorted(onward, key=str) == [["EXIT"], ["RAISE"], ["end()"], ["for x in y:"], ["more()"]]
    assert not shape.goes("x = 1", "end()", "for x in y:")
    assert not shape.goes("return", "more()")
    assert not shape.goes("return", "EXIT", "last()")
    assert not shape.goes("continue", "more()", "for x in y:")
    assert not shape.goes("break", "EXIT", "last()")
    assert [k for p in shape["last()"] for t, k in p.successors if shape.line(t) == "for x in y:"] == ["loop"]


def test_return_and_continue_in_a_finally_swallow() -> None:
    shape = Shape("try:\n  return a()\nfinally:\n  return b()")
    assert not shape.goes("return a()", "EXIT", "return b()")
    assert not shape.goes("return a()", "RAISE", "return b()")
    shape = Shape("while a:\n  try:\n    return b()\n  finally:\n    continue")
    assert not shape.goes("return b()", "EXIT", "while a:")
    assert not shape.goes("return b()", "RAISE", "while a:")


def test_handlers_and_else_pass_through_finally() -> None:
    shape = Shape(
        """
        try:
            a()
        except Exception:
            raise
        else:
            b()
        finally:
            c()
        d()
        """
    )
    assert not shape.goes("raise", "RAISE", "c()")
    assert not shape.goes("raise", "d()")
    assert not shape.goes("b()", "RAISE", "c()")
    assert not shape.goes("b()", "raise")
    rethrown = [k for p in shape["c()"] for t, k in p.successors if t is shape.graph.raises]
    assert "raise" in rethrown
    assert shape.goes("raise", "RAISE", exceptions=False)


def test_nested_finally_runs_inside_out() -> None:
    shape = Shape(
        """
        while a:
            try:
                try:
                    return b()
                finally:
                    inner()
            finally:
                outer()
        """
    )
    assert not shape.goes("return b()", "EXIT", "inner()")
    assert not shape.goes("return b()", "EXIT", "outer()")
    assert not shape.goes("return b()", "while a:")
    assert not shape.goes("outer()", "inner()", "while a:")


def test_a_loop_in_a_try_breaks_without_the_finally() -> None:
    shape = Shape("try:\n  for x in y:\n    break\n  a = 1\nfinally:\n  b()")
    assert shape.after("break") == {("a = 1", "normal")}


def test_finally_nested_in_finally_stays_small() -> None:
    body = "last()"
    for _ in range(15):
        leave = "    if b(): return\n    if c(): break\n    if d(): continue\n"
        body = f"while a:\n  try:\n{leave}  finally:\n" + textwrap.indent(body, "    ")
    graph = Shape(body).graph
    assert len(graph.points) < 2000


def test_an_unreachable_finally_has_a_point() -> None:
    shape = Shape("try:\n  while True: pass\nfinally:\n  a()\nb()")
    assert shape["a()"]
    assert not shape.goes("ENTRY", "a()")


def test_exception_groups_take_several_handlers() -> None:
    shape = Shape("try:\n  a()\nexcept* KeyError:\n  b()\nexcept* OSError:\n  c()\nd()")
    assert shape.goes("b()", "c()")
    assert not shape.goes("c()", "b()")
    assert shape.goes("b()", "RAISE", "c()", exceptions=False)


def test_with_suppress_goes_on_after_an_exception() -> None:
    shape = Shape("with suppress(KeyError):\n  a()\n  b()\nc()")
    assert shape.after("a()") == {("b()", "normal"), ("c()", "exception")}
    assert shape.goes("a()", "RAISE", "b()", "c()")
    shape = Shape("with lock, contextlib.suppress(Exception):\n  a()\n  b()\nc()")
    assert not shape.goes("a()", "RAISE", "c()")
    shape = Shape("with suppress(Exception), open(p) as f:\n  a()\nc()")
    assert not shape.goes("with suppress(Exception), open(p) as f:", "RAISE", "c()")


def test_other_contexts_swallow_nothing() -> None:
    shape = Shape("async with lock:\n  a()\n  b()\nc()")
    assert shape.after("a()") == {("b()", "normal")}
    assert not shape.goes("ENTRY", "c()", "b()")


def test_match() -> None:
    shape = Shape(
        """
        match a:
            case 1:
                b()
            case [x, *y] if x:
                c()
            case {"k": z}:
                d()
        e()
        """
    )
    assert shape.after("match a:") == {("case 1:", "normal")}
    assert shape.after("case 1:") == {("b()", "true"), ("case [x, *y] if x:", "false")}
    assert shape.after('case {"k": z}:') == {("d()", "true"), ("e()", "false")}
    assert shape.after("b()") == shape.after("d()") == {("e()", "normal")}
    assert shape.goes("ENTRY", "e()", "b()", "c()", "d()")


@pytest.mark.parametrize("pattern", ["_", "x", "1 | _", "(1 | x) as y", "_ as z"])
def test_an_irrefutable_case_does_not_fall_through(pattern: str) -> None:
    pattern = pattern.replace("1 | x", "x")
    shape = Shape(f"match a:\n  case 0:\n    b()\n  case {pattern}:\n    c()\nd()")
    assert not shape.goes("ENTRY", "d()", "b()", "c()")
    shape = Shape(f"match a:\n  case {pattern} if g:\n    c()\nd()")
    assert shape.goes("ENTRY", "d()", "c()")


def test_closing_a_generator_passes_by_except_exception() -> None:
    shape = Shape("try:\n  yield a\nexcept Exception:\n  b()\nfinally:\n  c()\nd = 1")
    assert shape.goes("yield a", "RAISE", "b()", "d = 1")
    assert not shape.goes("yield a", "RAISE", "c()")
    shape = Shape("try:\n  yield a\nexcept GeneratorExit:\n  b()\nexcept Exception:\n  c()\nd = 1")
    assert shape.goes("yield a", "b()")
    assert not shape.goes("yield a", "RAISE", "b()", "c()")
    shape = Shape("try:\n  try:\n    yield a\n  finally:\n    c = 1\nexcept Exception:\n  b = 1")
    assert shape.goes("yield a", "RAISE")
    assert Shape("x = yield").goes("x = yield", "RAISE")


def test_nested_definitions_are_single_points() -> None:
    shape = Shape("def g():\n  raise E\nclass A(b()):\n  c()\nh = lambda: i()")
    assert len(shape.graph.points) == 6
    assert not shape.goes("def g():", "RAISE", "class A(b()):")


def test_what_cannot_fail() -> None:
    quiet = "x = y = 1\nz = not x or (y is None, [x])\nw: List[int] = x\npass\nif x and y: pass\nreturn (x, 'a')"
    assert not Shape(quiet).graph.raises.predecessors
    for loud in ("x.y", "x[0]", "x()", "x + y", "x == y", "-x", "x, y = z", "x.y = z", "assert x", "import x",
                 "del x", "x += 1", "yield x", "return await x", "f'{x}'", "[*x]", "{x for x in y}"):  # fmt: skip
        assert Shape(loud).graph.raises.predecessors, loud


def test_modules_and_lambdas() -> None:
    module = cst.parse_module("import a\nif a: b()\n")
    graph = build(module)
    assert len(graph.points) == 6
    function = next(node for node in walk(cst.parse_module("f = lambda x: x()")) if isinstance(node, cst.Lambda))
    graph = build(function)
    assert [p.statement for p in graph.points[3:]] == [function.body]
    assert graph.reaches(graph.entry, graph.exit)
    assert graph.reaches(graph.entry, graph.raises)
    empty = build(cst.parse_module(""))
    assert empty.entry.successors == [(empty.exit, "normal")]


def test_enclosing_finds_the_header_or_statement() -> None:
    shape = Shape(
        "while a(1):\n  with b(2) as c:\n    d(e(3))\n  def g(x=4):\n    return 5\n"
        "  try: pass\n  except h(6): i(7)\n  else: j(8)"
    )
    function = shape.module.body[0]
    parents = {child: node for node in walk(function) for child in children(node)}
    integers = {node.value: node for node in walk(function) if isinstance(node, cst.Integer)}
    found = {n: [shape.line(p) for p in shape.graph.enclosing(node, parents)] for n, node in integers.items()}
    define = "def g(x=4):"
    assert found == {
        "1": ["while a(1):"], "2": ["with b(2) as c:"], "3": ["d(e(3))"], "4": [define], "5": [define],
        "6": ["except h(6): i(7)"], "7": ["i(7)"], "8": ["j(8)"],
    }  # fmt: skip
    assert shape.graph.enclosing(function, parents) == []


def test_expressions_are_those_of_the_header() -> None:
    def held(body: str) -> set[str]:
        point = Shape(body).graph.points[3]
        return {n.value for part in point.expressions() for n in walk(part) if isinstance(n, cst.Name)}

    assert held("while a: b") == {"a"}
    assert held("for a in b: c") == {"a", "b"}
    assert held("with a as b, c: d") == {"a", "b", "c"}
    assert held("@a\ndef b(c=d, *e: f, g=h) -> i: j") == {"a", "d", "f", "h", "i"}
    assert held("@a\nclass b(c, d=e): f") >= {"a", "c", "e"}
    assert held("a = b(c)") == {"a", "b", "c"}
    assert held("match a:\n  case b: c") == {"a"}
    assert held("try: a\nfinally: b") == set()
    assert Shape("a").graph.entry.expressions() == []


def test_paths() -> None:
    shape = Shape("while a:\n  if b:\n    c()\n  else:\n    d()\ne()")
    graph = shape.graph
    path = graph.path(graph.entry, shape["e()"], {shape.one("d()")})
    assert path is not None
    assert [shape.line(p) for p in path] == ["ENTRY", "while a:", "e()"]
    loop = graph.path(shape["while a:"], shape["while a:"], shape["c()"])
    assert loop is not None
    assert [shape.line(p) for p in loop] == ["while a:", "if b:", "d()", "while a:"]
    assert graph.path(shape["e()"], shape["e()"]) is None
    # The ends are not held against a path, what lies between them is.
    assert graph.reaches(shape["c()"], shape["d()"], [*shape["c()"], *shape["d()"]])
    assert not graph.reaches(shape["c()"], shape["d()"], shape["while a:"])


def test_dominators_with_loops() -> None:
    shape = Shape("a = 1\nwhile b:\n  if c: d = 1\n  else: e = 1\n  g = 1\nh = 1\nreturn\ni = 1")
    dominates = shape.graph.dominates
    one = shape.one
    assert dominates(one("while b:"), one("g = 1"))
    assert dominates(one("while b:"), one("h = 1"))
    assert not dominates(one("d = 1"), one("g = 1"))
    assert not dominates(one("g = 1"), one("h = 1"))
    assert not dominates(one("g = 1"), one("while b:"))
    assert shape.graph.dominators()[one("g = 1")] is one("if c: d = 1")
    assert dominates(one("g = 1"), one("g = 1"))
    assert one("i = 1") not in shape.graph.dominators()
    assert not dominates(one("a = 1"), one("i = 1"))


def test_solve_refuses_to_run_for_ever() -> None:
    graph = Shape("while a: b()").graph
    with pytest.raises(RuntimeError, match="monotone"):
        solve(graph, 0, lambda point, state: state + 1, max)


def test_solve_joins_where_paths_meet() -> None:
    shape = Shape("if a:\n  b = 1\nelse:\n  c = 1\nd = 1")
    before = solve(shape.graph, frozenset[str](), lambda p, s: s | {shape.line(p)}, lambda x, y: x & y)
    assert before[shape.one("d = 1")] == {"ENTRY", "if a:"}


# Random programs. Each statement with a number calls into a `Run`, which decides what happens next and keeps a log;
# the graph must have a path for it. Every assignment gives `x` the number of its statement, so that each call can
# tell which definition of `x` reached it.

_SIMPLE = ("t({n}, x)", "x = v({n}, x)", "x, y = v({n}, x), 0", "if (x := v({n}, x)): pass", "pass",
           "if t({n}, x) and (x := v({n}, x)): pass", "return t({n}, x)", "raise e({n}, x)", "break", "continue",
           "yield t({n}, x)", "x += s({n}, x)", "x = t({n}, x) and 0 or v({n}, x)")  # fmt: skip


class Writer:
    """Writes one random program."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.count = 0

    def number(self) -> int:
        self.count += 1
        return self.count

    def block(self, depth: int, loops: bool) -> list[str]:
        lines = [line for _ in range(self.random.randint(1, 3)) for line in self.statement(depth, loops)]
        return ["    " + line for line in lines]

    def statement(self, depth: int, loops: bool) -> list[str]:
        pick = self.random.choice
        if depth == 0 or self.random.random() < 0.4:
            text = pick(_SIMPLE)
            if text in {"break", "continue"} and not loops:
                text = "pass"
            return [text.format(n=self.number())]
        n, deeper = self.number(), depth - 1
        kind = pick(["if", "while", "while True", "for", "try", "try", "try", "with", "suppress", "match"])
        if kind == "if":
            found = [f"if t({n}, x):", *self.block(deeper, loops)]
            if pick([True, False]):
                found += [f"elif t({self.number()}, x):", *self.block(deeper, loops)]
            return found + (["else:", *self.block(deeper, loops)] if pick([True, False]) else [])
        if kind in {"while", "for", "while True"}:
            if kind == "while True":
                found = ["while True:", f"    if not w({n}, x): break", *self.block(deeper, True)]
            else:
                header = f"while w({n}, x):" if kind == "while" else f"for x in i({n}, x):"
                found = [header, *self.block(deeper, True)]
            return found + (["else:", *self.block(deeper, loops)] if pick([True, False]) else [])
        if kind == "with":
            return [f"with c({n}, x) as x:", *self.block(deeper, loops)]
        if kind == "suppress":
            types = pick(["KeyError", "Exception", "BaseException"])
            return [f"with suppress({types}):", *self.block(deeper, loops)]
        if kind == "match":
            found = [f"match m({n}, x):", "    case 0:"]
            found += ["    " + line for line in self.block(deeper, loops)]
            last = pick(["x if t({n}, x)", "x if v({n}, x)", "_", "None"]).format(n=self.number())
            return [*found, f"    case {last}:", *("    " + line for line in self.block(deeper, loops))]
        found = ["try:", *self.block(deeper, loops)]
        handlers = pick(
            [
                [],
                ["except KeyError:"],
                ["except KeyError:", "except ValueError as y:"],
                ["except Exception:"],
                ["except KeyError:", "except:"],
                ["except GeneratorExit:"],
            ]
        )
        for handler in handlers:
            found += [handler, *self.block(deeper, loops)]
        if handlers and pick([True, False]):
            found += ["else:", *self.block(deeper, loops)]
        if not handlers or pick([True, False]):
            found += ["finally:", *self.block(deeper, loops)]
        return found

    def program(self) -> str:
        return "\n".join(["def f(x):", *self.block(3, False), *self.block(2, False), ""])


class Run:
    """Runs a program with random decisions; `log` has the numbers called and the `x` that each of them saw."""

    budget = 60

    def __init__(self, code: str, seed: int) -> None:
        self.random = random.Random(seed)
        self.log: list[tuple[int, int]] = []
        space = {n: getattr(self, n) for n in "tvwiecsm"} | {"suppress": contextlib.suppress}
        exec(compile(code, "<random>", "exec"), space)
        self.end = self.drive(space["f"])

    def drive(self, function: object) -> str | None:
        """How the function ended: EXIT, RAISE, or None when it never did."""
        assert callable(function)
        try:
            result = function(0)
            if hasattr(result, "send"):
                next(result)
                for _ in range(10):
                    choice = self.random.random()
                    if choice < 0.2:
                        result.throw(GeneratorExit())
                    elif choice < 0.3:
                        result.throw(self.random.choice([KeyError, ValueError])())
                    else:
                        next(result)
                return None
        except StopIteration:
            return "EXIT"
        except (KeyError, ValueError, GeneratorExit):
            return "RAISE"
        return "EXIT"

    def t(self, n: int, x: int) -> bool:
        over = len(self.log) >= self.budget
        self.log.append((n, x))
        if not over and self.random.random() < 0.15:
            raise self.random.choice([KeyError, ValueError])
        return self.random.choice([True, False])

    def v(self, n: int, x: int) -> int:
        self.t(n, x)
        return n

    def s(self, n: int, x: int) -> int:
        return self.v(n, x) - x

    def m(self, n: int, x: int) -> int:
        return n if self.t(n, x) else 0

    def w(self, n: int, x: int) -> bool:
        return self.t(n, x) and len(self.log) < self.budget

    def e(self, n: int, x: int) -> Exception:
        self.t(n, x)
        return self.random.choice([KeyError, ValueError])()

    def i(self, n: int, x: int) -> Iterator[int]:
        for _ in range(self.random.randint(0, 2)):
            if len(self.log) >= self.budget:
                break
            self.t(n, x)
            yield n

    def c(self, n: int, x: int) -> Run:
        self.t(n, x)
        self.given = n
        return self

    def __enter__(self) -> int:
        return self.given

    def __exit__(self, *args: object) -> None:
        pass


def numbered(graph: Graph) -> dict[Point, list[int]]:
    """The numbers that each point of a random program calls with, in the order of the calls."""
    return {
        point: [
            int(node.value)
            for part in point.expressions()
            for node in walk(part)
            if isinstance(node, cst.Integer) and node.value != "0"
        ]
        for point in graph.points
    }


@settings(max_examples=120, deadline=None)
@given(st.integers(0, 2**32))
def test_what_runs_has_a_path_and_sees_a_reaching_definition(seed: int) -> None:
    code = Writer(seed).program()
    function = cst.parse_module(code).body[0]
    assert isinstance(function, cst.FunctionDef)
    graph = build(function)
    reached = reaching(graph)
    numbers = numbered(graph)
    marked = {point for point, found in numbers.items() if found}
    steps: dict[Point, set[Point]] = {}

    def step(point: Point) -> set[Point]:
        """The marked or last points that may come next, with none between."""
        if point not in steps:
            found, seen, stack = set[Point](), set[Point](), [point]
            while stack:
                for target, _ in stack.pop().successors:
                    if target in marked or not target.successors:
                        found.add(target)
                    # The header of a `for` that has no further item makes no call.
                    if (target not in marked or isinstance(target.statement, cst.For)) and target not in seen:
                        seen.add(target)
                        stack.append(target)
            steps[point] = found
        return steps[point]

    for attempt in range(20):
        run = Run(code, seed + attempt)
        here = {graph.entry}
        for n, x in run.log:
            stay = {p for p in here if numbers[p].count(n) > 1}
            move = {t for p in here for t in step(p) if n in numbers[t]}
            here = stay | move
            assert here, (code, run.log, n)
            # Between two calls of one point, and before a guard, `x` may just have been bound.
            if not any(len(numbers[p]) > 1 or isinstance(p.statement, cst.MatchCase) for p in here):
                seen = {given_by(d, numbers) for p in here for d in reached.at(p, "x")}
                assert x in seen, (code, run.log, n, x)
        last = {"EXIT": graph.exit, "RAISE": graph.raises}.get(run.end or "")
        assert last is None or any(last in step(p) for p in here), (code, run.log, run.end)


def given_by(definition: Definition, numbers: dict[Point, list[int]]) -> int:
    """The number that a definition gives to `x`: that of its statement, for a capture that of the subject."""
    point = definition.point
    while isinstance(point.statement, cst.MatchCase):
        point = point.predecessors[0][0]
    return numbers[point][-1] if numbers[point] else 0


@settings(max_examples=8, deadline=None)
@given(st.integers(0, 2**32))
def test_dominators_are_what_cannot_be_avoided(seed: int) -> None:
    function = cst.parse_module(Writer(seed).program()).body[0]
    assert isinstance(function, cst.FunctionDef)
    graph = build(function)
    for a in graph.order[1:]:
        for b in graph.order[1:]:
            assert graph.dominates(a, b) == (a is b or not graph.reaches(graph.entry, b, {a}))
