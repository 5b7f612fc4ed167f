"""What the loop of an agent calls stands elsewhere: the request to the model, the holder of the history, the helpers.

The new functions and classes lie in a file of their own, with names that say nothing; their form is drawn by lot.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import libcst as cst

from .edits import Edits, Lot, expression, placed
from .project import FOREIGN, Files, Node, Project, Source, dotted, text_of, walk
from .words import LOOKUPS

# -- the request --------------------------------------------------------------------------------------------------

ROUTES = ("chat.completions.create", "messages.create", "responses.create", "beta.messages.create", "chat.complete")
SENT = ("messages", "input")


class Request(NamedTuple):
    """`client.chat.completions.create(messages=..., ...)`"""

    call: cst.Call
    client: cst.BaseExpression
    route: str
    is_awaited: bool


def request_in_function(files: Files, seed: int, outside: frozenset[str]) -> Files | None:
    """`put(client, model="m", thread=messages)`, a function of another file that sends the request."""
    return requests_moved(files, Lot(files, seed, "request_in_function"), FUNCTION)


def request_in_class(files: Files, seed: int, outside: frozenset[str]) -> Files | None:
    """`Line(client).put(model="m", thread=messages)`, a method of a class of another file."""
    return requests_moved(files, Lot(files, seed, "request_in_class"), METHOD)


def request_two_deep(files: Files, seed: int, outside: frozenset[str]) -> Files | None:
    """A function of another file that calls the method of a class, which sends the request."""
    return requests_moved(files, Lot(files, seed, "request_two_deep"), METHOD + TWO_DEEP)


FUNCTION = """
{start}def {function}(client, {thread}, **rest):
    return {wait}client.{route}({sent}={thread}, **rest)
"""
METHOD = """
class {kind}:
    def __init__(self, client):
        self.client = client

    {start}def {method}(self, {thread}, **rest):
        return {wait}self.client.{route}({sent}={thread}, **rest)
"""
TWO_DEEP = """

{start}def {function}(client, {thread}, **rest):
    return {wait}{kind}(client).{method}({thread}, **rest)
"""


def requests_moved(files: Files, lot: Lot, form: str) -> Files | None:
    """All requests of one route that are sent in one way (awaited or not): those of which there are most."""
    project = Project(files)
    found = [(source, one) for source in project.sources.values() for one in requests_in(project, source)]
    if not found:
        return None
    ways = [(one.route, one.is_awaited, sent_name(one.call)) for _, one in found]
    route, is_awaited, sent = way = max(ways, key=lambda one: (ways.count(one), one))
    names = {
        "function": lot.name("put", "turn_over", "step", "carry"),
        "kind": lot.name("Line", "Channel", "Bridge", "Desk"),
        "method": lot.name("push", "pass_on", "hand", "move"),
        "thread": lot.name("thread", "sheet", "log_so_far", "strand"),
    }
    is_method = form == METHOD
    edits: dict[Source, Edits] = {}
    for (source, one), its_way in zip(found, ways, strict=True):
        if its_way == way:
            change = edits.setdefault(source, Edits(source))
            change.put(one.call, lambda call, one=one: moved_request(call, one, names, is_method))
    start, wait = ("async ", "await ") if is_awaited else ("", "")
    definitions = form.format(route=route, sent=sent, start=start, wait=wait, **names)
    return placed(project, edits, definitions, [names["kind"] if is_method else names["function"]], True, lot)


def sent_name(call: cst.Call) -> str:
    return next(arg.keyword.value for arg in call.args if arg.keyword is not None and arg.keyword.value in SENT)


def moved_request(call: cst.Call, one: Request, names: dict[str, str], is_method: bool) -> cst.Call:
    """The call that takes the place of a request; the order of its arguments stays."""
    client = call.func
    for _ in one.route.split("."):
        client = client.value
    args = [
        arg.with_changes(keyword=cst.Name(names["thread"]))
        if arg.keyword is not None and arg.keyword.value in SENT
        else arg
        for arg in call.args
    ]
    if is_method:
        function = expression(f"{names['kind']}({{client}}).{names['method']}", client=client)
        return call.with_changes(func=function, args=args)
    first = cst.Arg(client, comma=cst.Comma(whitespace_after=cst.SimpleWhitespace(" ")))
    return call.with_changes(func=cst.Name(names["function"]), args=[first, *args])


def requests_in(project: Project, source: Source) -> Iterator[Request]:
    for call in source.all(cst.Call):
        keywords = [arg.keyword.value for arg in call.args if arg.keyword is not None]
        if sum(word in SENT for word in keywords) != 1 or any(not arg.keyword and not arg.star for arg in call.args):
            continue
        for route in ROUTES:
            if route_of(call.func) == route or (route_of(call.func) or "").endswith(f".{route}"):
                client = call.func
                for _ in route.split("."):
                    client = client.value
                above = source.parent[call]
                if dotted(client) or isinstance(client, cst.Call):
                    yield Request(call, client, route, isinstance(above, cst.Await))
                break


def route_of(node: Node) -> str | None:
    words = []
    while isinstance(node, cst.Attribute):
        words.append(node.attr.value)
        node = node.value
    return ".".join(reversed(words)) or None


# -- the holder of the history ------------------------------------------------------------------------------------

HOLDER = """
class {kind}:
    def __init__(self, {items}):
        self.{items} = {items}

    def {add}(self, {item}):
        self.{items}.append({item})
"""


def holder_of_history(files: Files, seed: int, outside: frozenset[str]) -> Files | None:
    """`self.messages` is no list any more, but an object of a class in another file that holds one, and adds to it."""
    lot, project = Lot(files, seed, "holder_of_history"), Project(files)
    names = {
        "kind": lot.name("Shelf", "Binder", "Pile", "Strip"),
        "items": lot.name("rows", "leaves", "inside"),
        "add": lot.name("take", "lay", "note_down"),
        "item": lot.name("leaf", "it", "piece"),
    }
    edits: dict[Source, Edits] = {}
    for source, starts, uses in lists_in(project, outside):
        one = edits.setdefault(source, Edits(source))
        for value in starts:
            one.put(value, lambda value: expression(f"{names['kind']}({{value}})", value=value))
        for node in uses:
            above, call = source.parent[node], source.parent[source.parent[node]]
            is_append = isinstance(above, cst.Attribute) and above.attr.value == "append" and is_function(call, above)
            if is_append:
                one.put(above, lambda node: node.with_changes(attr=cst.Name(names["add"])))
            else:
                one.put(node, lambda node: cst.Attribute(node, cst.Name(names["items"])))
    if not edits:
        return None
    return placed(project, edits, HOLDER.format(**names), [names["kind"]], True, lot)


def is_function(call: Node, node: Node) -> bool:
    return isinstance(call, cst.Call) and call.func is node


Found = tuple[Source, list[cst.BaseExpression], list[Node]]


def lists_in(project: Project, outside: frozenset[str]) -> Iterator[Found]:
    """Lists that grow: the displays they start with, and where they are used."""
    looked_up = {text for _, node in project.all(cst.Call) if dotted(node.func) in LOOKUPS for text in texts_in(node)}
    words = [node.attr.value for _, node in project.all(cst.Attribute)]
    for source in project.sources.values():
        for owner in source.all(cst.ClassDef):
            yield from attributes_in(project, source, owner, outside | looked_up, words)
        for function in source.all(cst.FunctionDef):
            yield from locals_in(source, function)


def texts_in(node: Node) -> set[str]:
    return {text for below in walk(node) if (text := text_of(below)) is not None}


def attributes_in(
    project: Project, source: Source, owner: cst.ClassDef, fixed: frozenset[str] | set[str], words: list[str]
) -> Iterator[Found]:
    """`self.x = []` in `__init__`, where nobody but the methods of this class has an `x`."""
    for word, holders in project.members.items():
        if holders != {owner.name.value} or word in fixed or word in source.bound(owner):
            continue
        uses = [
            node
            for node in source.all(cst.Attribute)
            if node.attr.value == word and project.self_class(source, node) is owner
        ]
        if len(uses) != words.count(word):
            continue
        starts = [node for node in uses if isinstance(source.parent[node], cst.AssignTarget | cst.AnnAssign)]
        starts = [node for node in starts if project.is_stored(source, node) and in_init(source, node)]
        if len(starts) != 1 or not grows(source, uses):
            continue
        value = started(source, starts[0])
        if value is not None:
            yield source, [value], [node for node in uses if node is not starts[0]]


def in_init(source: Source, node: Node) -> bool:
    function = next(up for up in source.up(node) if isinstance(up, cst.FunctionDef | cst.Lambda))
    return isinstance(function, cst.FunctionDef) and function.name.value == "__init__"


def locals_in(source: Source, function: cst.FunctionDef) -> Iterator[Found]:
    """`x = []`, once, of a function."""
    for name, bindings in source.bound(function).items():
        if len(bindings) != 1 or not isinstance(bindings[0].how, cst.AssignTarget):
            continue
        uses = [
            node
            for node in walk(function.body)
            if isinstance(node, cst.Name)
            and node.value == name
            and node is not bindings[0].name
            and source.is_variable(node)
        ]
        value = started(source, bindings[0].name)
        declared = any(isinstance(node, cst.NameItem) and node.name.value == name for node in walk(function.body))
        if value is None or declared or not grows(source, uses):
            continue
        if all(source.binder(node) is function for node in uses):
            yield source, [value], uses


def started(source: Source, target: Node) -> cst.List | None:
    """The display that a plain assignment gives to the target alone."""
    above = source.parent[target]
    assigned = source.parent[above] if isinstance(above, cst.AssignTarget) else above
    if isinstance(assigned, cst.AnnAssign):
        return None
    is_alone = isinstance(assigned, cst.Assign) and len(assigned.targets) == 1
    return assigned.value if is_alone and isinstance(assigned.value, cst.List) else None


def grows(source: Source, uses: list[Node]) -> bool:
    """Whether something with a role is ever appended, or a reply: messages are what is asked for here."""
    is_sent = any(
        isinstance(above := source.parent[node], cst.Arg) and above.keyword is not None and above.keyword.value in SENT
        for node in uses
    )
    appended = any(
        isinstance(above := source.parent[node], cst.Attribute)
        and above.attr.value == "append"
        and is_function(source.parent[above], above)
        for node in uses
    )
    return is_sent and appended


# -- helpers ------------------------------------------------------------------------------------------------------

HELPER = """
def {function}({items}, {item}):
    {items}.append({item})
"""


def append_in_another_file(files: Files, seed: int, outside: frozenset[str]) -> Files | None:
    """`messages.append(x)` becomes `put_down(messages, x)`, a function of another file."""
    lot, project = Lot(files, seed, "append_in_another_file"), Project(files)
    names = {
        "function": lot.name("put_down", "keep", "set_aside"),
        "items": lot.name("pile", "rows", "box"),
        "item": lot.name("leaf", "it", "piece"),
    }
    edits = {}
    for source in project.sources.values():
        one = Edits(source)
        for call in source.all(cst.Call):
            func = call.func
            is_append = isinstance(func, cst.Attribute) and func.attr.value == "append" and dotted(func.value)
            plain = len(call.args) == 1 and not call.args[0].star and call.args[0].keyword is None
            if (
                is_append
                and plain
                and isinstance(source.parent[call], cst.Expr)
                and is_list(project, source, func.value)
            ):
                one.put(call, lambda call: moved_append(call, names["function"]))
        if one.changes:
            edits[source] = one
    if not edits:
        return None
    return placed(project, edits, HELPER.format(**names), [names["function"]], True, lot)


def is_list(project: Project, source: Source, node: Node) -> bool:
    """Whether it is not an object of the program with an `append` of its own."""
    return "append" not in project.members or project.kind(source, node) is FOREIGN


def moved_append(call: cst.Call, function: str) -> cst.Call:
    first = cst.Arg(call.func.value, comma=cst.Comma(whitespace_after=cst.SimpleWhitespace(" ")))
    return call.with_changes(func=cst.Name(function), args=[first, *call.args])
