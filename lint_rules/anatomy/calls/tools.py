"""Tools of a program: the functions that a model may call, known by what is told of them, or by how they are run.

- A declaration has the tool's name, and says what it is for or takes: a display, a constructor, a decorator. It names
  the function (`Tool(name="read", description=..., run=read)`), stands above it, or gives its name, also in a table.
- A class has a name and a description: what it does with arguments, and none of its own methods asks for.
- A function is offered: `tools=[read]`.
- One is taken from a table, and run with what was written for it: `TABLE[name](**arguments)`.
- One compares what it gets with the names of tools: `if name == "read": return ...`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import libcst as cst

from lint_rules.anatomy import vocabulary as words
from lint_rules.anatomy.agent import Anatomy
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.module import Scope, decorators, fields, parameter_names

_SCHEMAS = words.SCHEMA_NAMES | {"parameters"}


def tools(anatomy: Anatomy) -> list[Scope]:
    """The functions of a file that are tools; handlers of a framework are none, whatever is told of them."""
    ways = (_declared, _of_classes, _offered, _run_by_name)
    found = dict.fromkeys(function for way in ways for function in way(anatomy))
    return [function for function in found if function not in anatomy.calls.servings]


def _declared(anatomy: Anatomy) -> Iterator[Scope]:
    named: dict[str, list[Scope]] = {}
    for function in anatomy.module.functions:
        for name in (function.name, *_compared(function)):
            named.setdefault(name, []).append(function)
    for display in anatomy.module.nodes_of(cst.Dict):
        for name, value in ex.dict_items(display).items():  # `{"read": read_file}`
            named.setdefault(name, []).extend(_functions(anatomy, [value]))
    for node in anatomy.module.nodes_of(cst.Dict, cst.Call):
        items = ex.dict_items(node) if isinstance(node, cst.Dict) else ex.keywords(node)
        has_schema = not _SCHEMAS.isdisjoint(items)
        if not has_schema and "description" not in items:
            continue
        parent = anatomy.module.parent[node]
        if isinstance(parent, cst.Decorator):
            yield anatomy.module.own_scope[anatomy.module.parent[parent]]
        elif "name" in items:
            given = (anatomy.facts.slots.function(value) for value in items.values())
            yield from (function for function in given if function is not None)
            yield from named.get(ex.text(items["name"]) or "", ()) if has_schema else ()


def _compared(function: Scope) -> Iterator[str]:
    """The strings with which a function compares what it gets, or what it takes out of that."""
    given = parameter_names(function)
    for node in function.nodes_of(cst.Comparison):
        left, operator, right = ex.compared(node) if len(node.comparisons) == 1 else (node, None, node)
        if isinstance(operator, cst.Equal) and (ex.dotted(left) or "").partition(".")[0] in given:
            yield ex.text(right) or ""


def _of_classes(anatomy: Anatomy) -> Iterator[Scope]:
    for cls in anatomy.module.own_scope.values():
        if cls.kind != "class" or not {"name", "description"} <= {*fields(cls), *_assigned(cls), *cls.methods}:
            continue
        for method in cls.methods.values():
            own = anatomy.module.self_name(method)
            if parameter_names(method) - {own or ""} and not anatomy.calls.sites[method] and not decorators(method):
                yield method


def _assigned(cls: Scope) -> Iterator[str]:
    """The names that the body of a class gives a value."""
    for node in cls.nodes_of(cst.Assign):
        yield from (name for target in node.targets for name in ex.target_names(target.target))


def _offered(anatomy: Anatomy) -> Iterator[Scope]:
    for call in anatomy.module.nodes_of(cst.Call):
        offered = ex.argument(call, "tools")
        for value in [offered, *anatomy.facts.values_of(offered)] if offered is not None else ():
            yield from _functions(anatomy, [e.value for e in value.elements] if isinstance(value, cst.List) else [])


def _run_by_name(anatomy: Anatomy) -> Iterator[Scope]:
    for call in anatomy.module.nodes_of(cst.Call):
        if not any(arg.star == "**" for arg in call.args):
            continue
        for taken in (call.func, *anatomy.facts.values_of(call.func)):
            table = _table(taken)
            for value in anatomy.facts.values_of(table) if table is not None else ():
                yield from _functions(anatomy, ex.dict_items(value).values() if isinstance(value, cst.Dict) else [])


def _table(taken: cst.BaseExpression) -> cst.BaseExpression | None:
    """`TABLE` of `TABLE[name]` and `TABLE.get(name)`."""
    taken = ex.inner(taken)
    if isinstance(taken, cst.Subscript) and ex.slice_of(taken) is None:
        return taken.value
    return ex.receiver(taken) if isinstance(taken, cst.Call) and ex.called_name(taken) == "get" else None


def _functions(anatomy: Anatomy, values: Iterable[cst.BaseExpression]) -> Iterator[Scope]:
    for value in values:
        function = anatomy.facts.slots.function(value)
        if function is not None:
            yield function
