"""Normal form: what is written in several ways stands in one, and what a program does stays as it is."""

from __future__ import annotations

import ast
import difflib
import pprint
import textwrap
from pathlib import Path
from types import ModuleType

import libcst as cst
import pytest

from lint_rules.gate.signs import Signs
from lint_rules.syntax.bare import bare_tree
from lint_rules.syntax.normal import normalize, webs
from lint_rules.syntax.normal.names import scopes
from lint_rules.syntax.walk import walk
from lint_rules.syntax.word import Word

FIXTURES = Path(__file__).parent.parent / "fixtures"


def normal(source: str, *exported: str) -> str:
    tree = ast.parse(source)
    normalize(tree, Signs(tree).nodes, exported=exported.__contains__)
    return ast.unparse(tree)


def same(source: str, other: str) -> None:
    assert normal(source) == ast.unparse(ast.parse(other))


def stays(source: str) -> None:
    same(source, source)


# -- lists that are taken apart -------------------------------------------------------------------------------------


def test_who_takes_one_after_the_other_goes_over_the_list() -> None:
    loop = "def f(calls, log):\n    left = list(calls)\n    for {} in left:\n        log(g({}))\n        h()"
    drained = "def f(calls, log):\n    left = {}(calls)\n    while left:\n        {}\n        h()"
    taken = normal(drained.format("list", "one = left.pop(0)\n        log(g(one))"))
    assert taken == normal(loop.format("one", "one"))
    assert normal(drained.format("list", "log(g(left.pop(0)))")) == normal(loop.format("left_taken", "left_taken"))
    assert "for left_taken in left" in normal(drained.format("deque", "log(g(left.popleft()))"))


@pytest.mark.parametrize(
    "inside",
    [
        "one = left.pop()\n        log(one)",
        "one = left.pop(0)\n        left.append(log(one))",
        "if h():\n            log(left.pop(0))",
        "one = left.pop(0)\n        log(one, left)",
        "one = left.pop(0)\n        if log(one):\n            break\n    log(left)",
    ],
)
def test_who_looks_at_what_is_left_does_not(inside: str) -> None:
    assert "while left" in normal(f"def f(calls, log):\n    left = list(calls)\n    while left:\n        {inside}\n")


# -- what each element is handed to ---------------------------------------------------------------------------------


def test_what_maps_one_list_is_a_comprehension() -> None:
    same("a.extend(map(self.use, calls))", "a.extend((self.use(_each) for _each in calls))")
    same("f(*map(lambda call: run(call.id), calls))", "f(*(run(call.id) for call in calls))")
    same("list(map(f, map(g, xs)))", "list((f(_each) for _each in (g(_each) for _each in xs)))")


def test_what_maps_otherwise_stays() -> None:
    stays("all(map(eq, xs, ys))")
    stays("map(made(), xs)")
    stays("pool.map(f, xs)")
    stays("def map(f, xs):\n    return f\nmap(f, xs)")


# -- calls that somebody else makes ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "source",
    [
        "async def f(m):\n    return await to_thread(client.ask, m, n=1)",
        "async def f(m):\n    return await asyncio.to_thread(lambda: client.ask(m, n=1))",
        "async def f(m):\n    return await loop.run_in_executor(None, functools.partial(client.ask, m, n=1))",
        "async def f(m):\n    return await sync_to_async(client.ask)(m, n=1)",
    ],
)
def test_a_call_that_is_made_in_a_thread_is_that_call(source: str) -> None:
    same(source, "async def f(m):\n    return await client.ask(m, n=1)")


@pytest.mark.parametrize("last", ["return given", "given = fn(*args, **kw)\n    return given"])
def test_a_call_that_is_made_once_more_after_an_error_is_that_call(last: str) -> None:
    again = f"def again(fn, *args, most=3, **kw):\n    given = fn(*args, **kw)\n    {last}\n"
    assert normal(f"{again}x = again(client.ask, m, most=5, n=1)").endswith("x = client.ask(m, n=1)")
    assert normal(f"{again}x = again(partial(client.ask, m), n=1)").endswith("x = client.ask(m, n=1)")
    none = "class A:\n    def again(self, fn):\n        return fn()\n"
    assert normal(f"{none}x = a.again(lambda: client.ask(m))").endswith("x = client.ask(m)")


@pytest.mark.parametrize(
    "source",
    [
        "t = to_thread(client.ask, m)",
        "def ask(m):\n    return m\n\nasync def f(m):\n    return await to_thread(ask, m)",
        "async def f(m):\n    return await to_thread(lambda x: client.ask(x), m)",
        "def again(fn, *args):\n    return fn(*args) or 1\nx = again(client.ask, m)",
        "def again(fn, *args):\n    return fn(m, *args)\nx = again(client.ask)",
        "def again(fn, *args):\n    fn(*args)\nx = again(client.ask, m)",
        "def given(fn, *args):\n    return fn\nx = given(client.ask, m)",
    ],
)
def test_a_call_that_is_more_than_the_one_it_is_given_stays(source: str) -> None:
    stays(source)


# -- comparisons --------------------------------------------------------------------------------------------------


def test_a_chain_of_comparisons_is_one_after_the_other() -> None:
    same("if a[-1] == a[-2] == a[-3]:\n    f()", "if a[-1] == a[-2] and a[-2] == a[-3]:\n    f()")
    same("x = [y for y in z if 0 < len(y) <= 9]", "x = [y for y in z if 0 < len(y) and len(y) <= 9]")
    same("x = a < b < (c == d == e)", "x = a < b and b < (c == d and d == e)")


@pytest.mark.parametrize(
    "source", ["x = a < f() < b", "x = a < (y := b) < c", "async def f():\n    x = a < await b < c"]
)
def test_a_chain_around_what_does_something_stays(source: str) -> None:
    stays(source)


# -- patterns -----------------------------------------------------------------------------------------------------


def test_what_a_pattern_takes_out_of_a_value_is_read_of_it() -> None:
    same(
        "match item:\n    case Call(name=n, args=x) as call:\n        run(n, x)\n        keep(n, x)",
        "match item:\n    case Call(name=_, args=_) as call:\n"
        "        n = item.name\n        x = item.args\n        run(n, x)\n        keep(n, x)",
    )
    same(
        "match item:\n    case {'type': 'call', 'args': x}:\n        run(x)\n        keep(x)",
        "if item['type'] == 'call':\n    x = item['args']\n    run(x)\n    keep(x)",
    )


def test_what_a_guard_asks_for_and_what_is_no_plain_value_stays_in_its_pattern() -> None:
    stays("match item:\n    case Call(args=x) if x:\n        run(x)")
    stays("match take():\n    case Call(args=x):\n        run(x)")


def test_patterns_that_are_tests_are_tests() -> None:
    same(
        "match reply.reason:\n    case 'length':\n        cut()\n    case 'stop' | 'end':\n        done()\n"
        "    case None:\n        pass\n    case _:\n        raise Odd",
        "if reply.reason == 'length':\n    cut()\nelif reply.reason in ('stop', 'end'):\n    done()\n"
        "elif reply.reason is None:\n    pass\nelse:\n    raise Odd",
    )
    same(
        "match block:\n    case Text():\n        say()\n    case Use(name='end') if late:\n        stop()\n"
        "    case {'id': _}:\n        keep()",
        "if isinstance(block, Text):\n    say()\nelif (isinstance(block, Use) and block.name == 'end') and late:\n"
        "    stop()\nelif 'id' in block:\n    keep()",
    )


def test_patterns_that_are_more_than_tests_stay() -> None:
    stays("match item:\n    case [a, b]:\n        run(a, b)")
    stays("match item:\n    case 'x' | [_]:\n        run()")
    stays("match item:\n    case {'a': 1, **rest}:\n        run(rest)")
    stays("match item:\n    case other if other.late:\n        run()")


# -- tuples -------------------------------------------------------------------------------------------------------


def test_names_that_are_bound_together_are_bound_one_after_the_other() -> None:
    same(
        "def f(h):\n    old, new = h[:-5], g(h)\n    return new",
        "def f(h):\n    old = h[:-5]\n    new = g(h)\n    return new",
    )


def test_attributes_that_are_set_together_are_set_one_after_the_other() -> None:
    same(
        "def f(self, a, b):\n    self.a, self.b = a, b or []",
        "def f(self, a, b):\n    self.a = a\n    self.b = b or []",
    )


def test_names_stay_together_where_one_looks_at_another() -> None:
    same("def f(a, b):\n    a, b = b, a\n    return a", "def f(a, b):\n    a_1, b_1 = b, a\n    return a_1")
    stays("a, b = x, f()")
    stays("def f(x):\n    x.a, x.b = x.b, x.a")
    stays("def f(x):\n    x.a, x.b = 1, g(x)")
    stays("def f(x):\n    a, x[0] = 1, 2")
    stays("def f(x):\n    a, b = x")


# -- webs ---------------------------------------------------------------------------------------------------------


def test_a_name_that_is_bound_anew_is_another_name() -> None:
    same(
        "def f(a):\n    r = g(a)\n    use(r, r)\n    r = h(a)\n    return r",
        "def f(a):\n    r = g(a)\n    use(r, r)\n    r_1 = h(a)\n    return r_1",
    )
    same(
        "def f(a):\n    use(a)\n    for a in xs:\n        use(a, f'{a}')\n    with g() as r:\n        use(r)\n"
        "    try:\n        use()\n    except E as r:\n        log(r)",
        "def f(a):\n    use(a)\n    for a_1 in xs:\n        use(a_1, f'{a_1}')\n    with g() as r:\n        use(r)\n"
        "    try:\n        use()\n    except E as r_1:\n        log(r_1)",
    )
    same(
        "match g():\n    case [x]:\n        use(x)\n    case {'x': x}:\n        use(x)\nx = 1",
        "match g():\n    case [x_1]:\n        use(x_1)\n    case {'x': x_2}:\n        use(x_2)\nx = 1",
    )
    same("def f(x):\n    x.a = [x for x in x]\n    x = 2", "def f(x):\n    x.a = [x for x in x]\n    x_1 = 2")
    loop = "def f(xs):\n    for x in xs:\n        y = x\n        break\n    else:\n        y = 0\n    return y"
    same(loop, loop)  # a `break` passes by the `else`


def test_a_name_is_printed_as_the_program_has_it() -> None:
    tree = ast.parse("def f(m):\n    r = g()\n    use(r, r)\n    r = h()\n    use(r, f'{r}')")
    normalize(tree, Signs(tree).nodes)
    names = [node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and str(node.id) == "r"]
    assert len(names) == 6
    assert len(set(names)) == 2


@pytest.mark.parametrize(
    "source",
    [
        "def f(a):\n    r = g()\n    if a:\n        r = h()\n    return r",  # either may be read there
        "def f(a):\n    r = g()\n    while k(r):\n        r = h()",
        "def f():\n    r = g()\n    for x in k():\n        if x:\n            r = x\n        else:\n            use(r)",
        "def f():\n    r = g()\n    try:\n        r = h()\n    except E:\n        use(r)",
        "def f():\n    r = g()\n    try:\n        r = h()\n        use()\n    finally:\n        use(r)",
        "def f():\n    r = g()\n    use(a and (r := h()), r)\n    use(r)",
        "def f():\n    r = g()\n    use(r)\n    r += h()\n    use(r)",  # it goes on
        "def f():\n    r = g()\n    use(r)\n    r = r[-9:]\n    use(r)",
        "def f():\n    r = g()\n    use(r)\n    r = [*k(r), 1]\n    use(r)",
        "def f():\n    r = g()\n    use(lambda: r)\n    r = h()",  # others see it
        "def f():\n    global r\n    r = g()\n    use(r)\n    r = h()\n    use(r)",
        "def f():\n    r: T = g()\n    use(r)\n    r = h()\n    use(r)",
        "def f(r: T):\n    use(r)\n    r = h()\n    use(r)",
        "def f():\n    import r\n    use(r)\n    r = h()\n    use(r)",
        "def f():\n    for _ in xs:\n        _, r = g()\n        use(r)",
        "def f():\n    for x in k():\n        r = x\n        break\n    else:\n        r = h()\n    use(r)",
    ],
)
def test_a_name_that_may_stand_for_either_stays(source: str) -> None:
    stays(source)


def _split(module: ModuleType) -> ModuleType:
    """A module in which each web has its own name."""
    tree = ast.parse(Path(str(module.__file__)).read_text())
    assert sum(webs.split(scope) for scope in scopes(tree, Signs(tree).nodes))
    for node in ast.walk(tree):
        for field in {"id", "arg", "name", "rest"} & set(node._fields):
            if isinstance(word := getattr(node, field), Word):
                setattr(node, field, str.__str__(word))
    found = ModuleType(module.__name__)
    exec(compile(tree, str(module.__file__), "exec"), vars(found))
    return found


def test_a_program_whose_names_are_split_does_the_same() -> None:
    text = Path(textwrap.__file__).read_text()
    lines = [text.splitlines()[at::3] for at in range(2)]
    assert _split(textwrap).wrap(text) == textwrap.wrap(text)
    assert _split(textwrap).dedent(text) == textwrap.dedent(text)
    assert [*_split(difflib).ndiff(*lines)] == [*difflib.ndiff(*lines)]
    assert _split(difflib).HtmlDiff().make_table(*lines) == difflib.HtmlDiff().make_table(*lines)
    assert _split(pprint).pformat(vars(ast)) == pprint.pformat(vars(ast))
    assert _split(ast).unparse(ast.parse(text)) == ast.unparse(ast.parse(text))


# -- displays -----------------------------------------------------------------------------------------------------


def test_a_dict_that_is_put_together_is_a_display() -> None:
    same("m = {}\nm['role'] = 'tool'\nm['content'] = f(x)", "m = {'role': 'tool', 'content': f(x)}")
    same("m = dict(role='tool', **rest)", "m = {'role': 'tool', **rest}")


def test_a_dict_that_looks_at_itself_stays_in_steps() -> None:
    stays("m = {}\nm['a'] = len(m)")
    stays("m = {}\nf(m)\nm['a'] = 1")
    stays("m = {}\nm[key] = 1")


def test_one_element_is_appended() -> None:
    same("xs.extend([a])", "xs.append(a)")
    same("self.xs += [f(a)]", "self.xs.append(f(a))")
    stays("xs += ys")
    stays("xs.extend([*ys])")


# -- names for what is there anyway ---------------------------------------------------------------------------------


def test_another_name_for_an_attribute_gives_way_to_it() -> None:
    same("def f(self):\n    h = self.messages\n    h.append(1)\n    g(h)",
         "def f(self):\n    h = self.messages\n    self.messages.append(1)\n    g(self.messages)")  # fmt: skip


@pytest.mark.parametrize(
    "source",
    [
        "def f(self):\n    h = self.messages\n    self.messages = []\n    h.append(1)",
        "class A:\n    def f(self):\n        h = self.m\n        g()\n        h()\n\n    def g(s):\n        s.m = 1",
        "def f(self):\n    h = self.messages\n    if self.new:\n        h = []\n    h.append(1)",
        "def f(self, x):\n    h = x.messages\n    if self.new:\n        x = other\n    h.append(x)",
        "def f(self):\n    h = self.messages\n\n    def g():\n        h.append(1)\n    return g",
        "def f(xs, i):\n    h = xs[i]\n    xs[i] = []\n    h.append(1)",
        "def f(self):\n    n = self.count\n    g(self.bump(), n)\n\ndef h(self):\n    self.count = 1",
        "class A:\n\n    @property\n    def m(self):\n        return list(self._m)\n\n    def f(self):\n"
        "        h = self.m\n        h.append(1)\n        g(h)",
    ],
)  # fmt: skip
def test_a_name_for_what_may_be_another_by_then_stays(source: str) -> None:
    stays(source)


def test_a_value_that_is_named_for_the_next_line_stands_where_it_is_used() -> None:
    same("def f(m):\n    c = run(m)\n    m.append({'content': c})\n    d = g(m)\n    m.append(d)",
         "def f(m):\n    c = run(m)\n    m.append({'content': c})\n    m.append(g(m))")  # fmt: skip


@pytest.mark.parametrize(
    "source",
    [
        "def f(m):\n    d = g(m)\n    m.append(d)\n    return d",
        "def f(m):\n    d = g(m)\n    h(k(m), d)",
        "async def f(self, x):\n    a = await self.ask(x)\n    await self.channel.send(a)",
        "def f(m):\n    d = g(m)\n    while h(d):\n        pass",
    ],
)
def test_a_value_that_would_be_worked_out_later_or_twice_keeps_its_name(source: str) -> None:
    stays(source)


def test_a_walrus_that_comes_first_anyway() -> None:
    same("if not (r := ask(m)).calls:\n    f(r)", "r = ask(m)\nif not r.calls:\n    f(r)")
    stays("if a and (r := ask(m)):\n    f(r)")


# -- loops ----------------------------------------------------------------------------------------------------------


def test_a_loop_that_only_collects_is_a_comprehension() -> None:
    same("def f(xs):\n    found = []\n    for x in xs:\n        if x:\n            found.append(x.a)\n    return found",
         "def f(xs):\n    found = [x.a for x in xs if x]\n    return found")  # fmt: skip
    stays("def f(xs):\n    found = []\n    for x in xs:\n        found.append(g(x, found))\n    return found")
    stays("def f(xs):\n    found = []\n    for x in xs:\n        found.append(g(x))\n    return found, x")


_OLD = "if 'role' in old:\n    new['role'] = old['role']\nif 'calls' in old:\n    new['calls'] = old['calls']"


def test_what_is_done_for_each_of_some_keys_is_done_for_one_after_the_other() -> None:
    same("for k in ('role', 'calls'):\n    if k in old:\n        new[k] = old[k]", _OLD)
    same("for k in ['a', 'b']:\n    new[k] = old.get(k)", "new['a'] = old.get('a')\nnew['b'] = old.get('b')")
    same("new = {k: old[k] for k in ('a', 'b')}", "new = {'a': old['a'], 'b': old['b']}")
    same("new = {k: old[k] for k in ('a',) if k in old}", "new = {**({'a': old['a']} if 'a' in old else {})}")


@pytest.mark.parametrize(
    "source",
    [
        "for k in ('a', 'b'):\n    new[k] = old[k]\nprint(k)",
        "for k in ('a', 'b'):\n    if k in old:\n        break",
        "for k in ('a', 'b'):\n    new[k] = k",
        "for k in ('a', 'b'):\n    for x in old[k]:\n        new.append(x)",
        "for k in ('a', 'b'):\n    new[k] = lambda: old[k]",
        "for k in ('a', b):\n    new[k] = old[k]",
        "for k in ('a', 'b'):\n    new[k] = old[k]\nelse:\n    new = None",
        "new = {k: old[k] for k in keys}",
        "new = {k: ask(k) for k in ('a', 'b')}",
        "for k in ('a', 'b'):\n    agent.ask(k)",
        "new = {old[k]: k for k in ('a', 'b')}",
    ],
)
def test_what_keys_do_more_than_name_parts_stays(source: str) -> None:
    stays(source)


def test_lists_beside_each_other_are_one_list() -> None:
    same("for n, a in zip([c.name for c in cs], [c.args for c in cs]):\n    run(n, a)",
         "for c in cs:\n    run(c.name, c.args)")  # fmt: skip
    stays("for n, a in zip([c.name for c in cs], [c.args for c in ds]):\n    run(n, a)")


def test_what_is_put_together_and_taken_apart_is_what_it_was() -> None:
    same("def f(cs):\n    found = []\n    for c in cs:\n        found.append((c.name, c.args))\n"
         "    for n, a in found:\n        n.run(a, n, a)",
         "def f(cs):\n    for c in cs:\n        n = c.name\n        a = c.args\n"
         "        c.name.run(c.args, c.name, c.args)")  # fmt: skip


@pytest.mark.parametrize(
    "source",
    [
        "found = [(c.name, load(c)) for c in cs]\nfor n, a in found:\n    n.run(a)",
        "found = [(c.name, c.args) for c in cs]\nfor n, a in found:\n    n.run(a)\nprint(found)",
        "found = [(c.name, c.args) for c in cs]\nfor n, a in found:\n    cs.append(a)",
        "found = [(c.name, c.args) for c in cs]\ncs.clear()\nfor n, a in found:\n    n.run(a)",
        "found = [(c.name, c.args) for c in cs if c]\nfor n, a in found:\n    n.run(a)",
        "for n, a in [(c.name, c.args, c.id) for c in cs]:\n    n.run(a)",
        "for n, a in [(c.name, c.args) for c in cs]:\n    n.run(a, c)",
        "while cs:\n    for n, a in found:\n        n.run(a)\n    found = [(c.name, c.args) for c in ds]",
    ],
)
def test_what_may_change_meanwhile_stays_apart(source: str) -> None:
    stays("def f(c, cs):\n" + textwrap.indent(source, "    "))


# -- procedures -----------------------------------------------------------------------------------------------------


def test_a_procedure_stands_where_it_is_called() -> None:
    same("def put(box, item):\n    box.append(item)\n\ndef f(xs):\n    put(xs, 1)\n    put(xs, 2)",
         "def f(xs):\n    xs.append(1)\n    xs.append(2)")  # fmt: skip


def test_a_procedure_that_does_nothing_yet() -> None:
    same(
        "def put(box):\n    'Later.'\n\ndef f(xs):\n    if xs:\n        put(xs)", "def f(xs):\n    if xs:\n        pass"
    )


@pytest.mark.parametrize(
    "source",
    [
        "def put(box, item):\n    box.append(item)\n    return box\n\ndef f(xs):\n    put(xs, 1)",
        "def put(box):\n    try:\n        box.pop()\n    except KeyError:\n        pass\n\ndef f(xs):\n    put(xs)",
        "@traced\ndef put(box):\n    box.append(1)\n\ndef f(xs):\n    put(xs)",
        "def put(box):\n    box.append(1)\n\ndef f(xs):\n    put(xs)\n    return put",
        "def put(box):\n    box.append(log)\n\ndef f(xs, log):\n    put(xs)",
        "async def put(box):\n    box.append(1)\n\ndef f(xs):\n    put(xs)",
        "class A:\n    def put(self, item):\n        self.xs.append(item)\n\n    def f(self, a):\n        self.put(a)",
    ],
)
def test_what_is_no_mere_procedure_stays(source: str) -> None:
    stays(source)


def test_names_of_a_procedure_do_not_meet_those_around() -> None:
    """`n` of the caller is another than `n` of the procedure."""
    found = normal("def put(box, item):\n    n = len(box)\n    box.append(item + n)\n    n = 0\n\n"
                   "def f(xs, n):\n    put(xs, n)\n    return n")  # fmt: skip
    namespace: dict[str, object] = {}
    tree = ast.parse(found)
    exec(compile(tree, "f", "exec"), namespace)
    xs = [1, 2]
    assert namespace["f"](xs, 5) == 5  # type: ignore[operator]
    assert xs == [1, 2, 7]


def test_a_procedure_that_a_copy_of_its_caller_calls_is_there_in_the_end() -> None:
    """Both go in one round: what `main` does stands at its call before what `save` does stands in it."""
    same(
        "def save(h):\n    f(h)\n    g(h)\n\ndef main():\n    h = []\n    save(h)\n\nmain()",
        "h = []\nf(h)\ng(h)",
    )


# -- tail calls -----------------------------------------------------------------------------------------------------

WALK = """
def walk(xs, depth=0):
    xs.append(depth)
    if depth >= 3:
        return xs
    {end}
"""


@pytest.mark.parametrize(
    "end",
    ["return walk(xs, depth + 1)", "return walk(depth=depth + 1, xs=xs)", "xs = walk(xs, depth + 1)\n    return xs"],
)
def test_a_function_that_ends_by_calling_itself_is_a_loop_that_does_the_same(end: str) -> None:
    found = normal(WALK.format(end=end))
    assert "while True:" in found
    assert found.count("walk(") == 1
    namespace: dict[str, object] = {}
    exec(found, namespace)
    assert namespace["walk"]([]) == [0, 1, 2, 3]  # type: ignore[operator]


def test_two_functions_that_end_by_calling_each_other_are_one_loop() -> None:
    found = normal("class A:\n    def ask(self, n):\n"
                   "        if n > 2:\n            return self._do(n - 1)\n        return n\n\n"
                   "    def _do(self, n):\n        self.log = n\n        return self.ask(n)")  # fmt: skip
    assert "while True:" in found
    assert "_do" not in found
    namespace: dict[str, type] = {}
    exec(found, namespace)
    assert namespace["A"]().ask(9) == 2


def test_what_a_generator_goes_through_at_its_end_is_its_next_round() -> None:
    for end in ("yield from count(n - 1)", "for x in count(n - 1):\n        yield x"):
        found = normal(f"def count(n):\n    if n == 0:\n        return\n    yield n\n    {end}")
        assert "while True:" in found
        namespace: dict[str, object] = {}
        exec(found, namespace)
        assert list(namespace["count"](3)) == [3, 2, 1]  # type: ignore[operator]


@pytest.mark.parametrize(
    "source",
    [
        WALK.format(end="walk(xs, depth + 1)\n    xs.append(-1)"),
        WALK.format(end="return [walk(xs, depth + 1), 1]"),
        WALK.format(end="with lock:\n        return walk(xs, depth + 1)"),
        WALK.format(end="for _ in xs:\n        return walk(xs, depth + 1)"),
        WALK.format(end="try:\n        return walk(xs, depth + 1)\n    finally:\n        xs.clear()"),
        WALK.format(end="return walk(depth, xs)"),
        WALK.format(end="return other.walk(xs, depth + 1)"),
        "@traced\n" + WALK.format(end="return walk(xs, depth + 1)").lstrip(),
        "def make(n):\n    yield n\n    return make(n - 1)",
        "async def make(n):\n    return make(n - 1)",
    ],
)
def test_what_goes_on_after_it_has_called_itself_stays(source: str) -> None:
    stays(source)


@pytest.mark.parametrize("path", sorted(FIXTURES.glob("*/*.py")), ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_normal_form_of_a_fixture_is_python(path: Path) -> None:
    """And libcst's tree can be made of it, as of the file."""
    source = path.read_text("utf-8")
    try:
        tree = ast.parse(source)
    except SyntaxError:
        pytest.skip("newer syntax")
    bare_tree(source, ast.parse(source))
    normalize(tree, Signs(tree).nodes)
    bare_tree(source, tree)
    ast.parse(ast.unparse(tree))


def test_what_a_literal_substitutes_has_the_names_of_the_normal_form() -> None:
    """The tree for the analysis reads literals off the text, where a helper that was inlined has names of its own."""
    source = (
        "def keep(log, said):\n    log.append(f'Bot: {said} {said.strip()!r:>{said.width}}')\n\nkeep(talk, answer)\n"
    )
    tree = ast.parse(source)
    assert normalize(tree, Signs(tree).nodes)
    names = [node.value for node in walk(bare_tree(source, tree)) if isinstance(node, cst.Name)]
    assert "said" not in names
    assert names.count("answer") == 3


def test_a_helper_stays_for_the_files_that_call_it() -> None:
    helper, caller = (
        "def keep(key, talk):\n    box[key] = talk",
        "def add(key, talk):\n    keep(key, talk)",
    )
    inlined = "def add(key, talk):\n    box[key] = talk"
    assert normal(f"{helper}\n\n{caller}") == inlined
    assert normal(f"{helper}\n\n{caller}", "keep") == f"{helper}\n\n{inlined}"


@pytest.mark.parametrize(
    ("source", "other"),
    [
        ("with suppress(E):\n    a()", "try:\n    a()\nexcept E:\n    pass"),
        ("with contextlib.suppress(E, F):\n    a()", "try:\n    a()\nexcept (E, F):\n    pass"),
        (
            "with suppress(E), open(p) as f:\n    a(f)",
            "try:\n    with open(p) as f:\n        a(f)\nexcept E:\n    pass",
        ),
        (
            "with open(p) as f, suppress(E):\n    a(f)",
            "with open(p) as f:\n    try:\n        a(f)\n    except E:\n        pass",
        ),
        ("with suppress(*errors):\n    a()", "with suppress(*errors):\n    a()"),
        ("with suppress():\n    a()", "with suppress():\n    a()"),
        (
            "def f():\n    r = g()\n    with suppress(E):\n        r = h()\n    use(r)",  # either may be read there
            "def f():\n    r = g()\n    try:\n        r = h()\n    except E:\n        pass\n    use(r)",
        ),
    ],
)
def test_what_is_suppressed_is_caught(source: str, other: str) -> None:
    same(source, other)


@pytest.mark.parametrize(
    ("source", "other"),
    [
        ("def f(m):\n    run(lambda talk=m: ask(messages=talk))", "def f(m):\n    run(lambda: ask(messages=m))"),
        ("def f(m):\n    run(lambda m=m: ask(m))", "def f(m):\n    run(lambda: ask(m))"),
        (  # it was bound before the loop
            "def f(m):\n    while g():\n        run(lambda n=1, talk=m: ask(talk, n))",
            "def f(m):\n    while g():\n        run(lambda n=1: ask(m, n))",
        ),
    ],
)
def test_a_name_of_a_lambda_gives_way_to_what_it_stands_for(source: str, other: str) -> None:
    same(source, other)


@pytest.mark.parametrize(
    "source",
    [
        "for call in calls:\n    jobs.append(lambda call=call: run(call))",
        "for call in calls:\n    jobs.append(lambda c=call: run(c))",
        "while g():\n    m = h()\n    jobs.append(lambda talk=m: ask(talk))",
        "def f(m):\n    run(lambda x, talk=m: ask(x, talk))",
        "def f(m):\n    run(lambda talk=m: [talk(m) for m in ms])",
        "def f(m):\n    run(lambda talk=m: (lambda talk: ask(talk)))",
    ],
)
def test_a_name_of_a_lambda_that_keeps_what_is_bound_anew_or_that_somebody_hands_over_stays(source: str) -> None:
    stays(source)
