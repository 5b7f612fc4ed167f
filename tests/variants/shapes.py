"""Messages, calls and results in shapes of the program's own: classes, subclasses of `dict`, factories.

Where a display of a message stands, an object is made; where a request is sent, it is rendered. The names, whether
values are given by position or by keyword, and whether it stands in the same file or in another are drawn by lot.
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from .edits import Edits, Lot, expression, placed
from .project import Files, Node, Project, Source, last_word, text_of, walk

ROLE, TEXT, ANSWERS, ASKED = "role", "content", "tool_call_id", "tool_calls"
OPTIONAL = (ANSWERS, ASKED)


# -- displays -----------------------------------------------------------------------------------------------------


def keys_of(node: cst.Dict) -> list[str] | None:
    """Its keys, if all are plain texts."""
    keys = [text_of(it.key) if isinstance(it, cst.DictElement) else None for it in node.elements]
    return keys if all(keys) else None  # type: ignore[return-value]


def values_of(node: cst.Dict) -> dict[str, cst.BaseExpression]:
    return {text_of(it.key) or "": it.value for it in node.elements if isinstance(it, cst.DictElement)}


def messages_in(source: Source, more: bool = False) -> Iterator[cst.Dict]:
    """Displays with a role and a content, and nothing but what a message has (`more`: any other names, too)."""
    for node in source.all(cst.Dict):
        keys = keys_of(node)
        if keys is None or not {ROLE, TEXT} <= set(keys) or len(set(keys)) < len(keys):
            continue
        rest = set(keys) - {ROLE, TEXT, *OPTIONAL}
        if not rest or (more and all(key.isidentifier() and key not in ("self", "rest") for key in rest)):
            yield node


def is_result(node: cst.Dict) -> bool:
    return text_of(values_of(node)[ROLE]) == "tool" and set(values_of(node)) == {ROLE, TEXT, ANSWERS}


class Shape:
    """A class of messages with drawn names: how one is made, in place of a display."""

    def __init__(self, lot: Lot) -> None:
        self.message = lot.name("Turn", "Entry", "Line", "Remark")
        self.result = lot.name("Outcome", "Report", "Finding", "Delivery")
        self.render = lot.name("plain", "outward", "packed", "as_sent")
        self.names = {
            ROLE: lot.name("speaker", "side", "who"),
            TEXT: lot.name("words", "said", "body"),
            ANSWERS: lot.name("ref", "number", "about"),
            ASKED: lot.name("wants", "orders", "asked"),
        }
        self.by_keyword = lot.either()

    def made(self, node: cst.Dict, function: str, order: tuple[str, ...]) -> cst.Call:
        """`Turn("user", text)`: keys in `order` by position, or all by keyword in the order of the display."""
        values = values_of(node)
        if self.by_keyword or [key for key in values if key in order] != [key for key in order if key in values]:
            return cst.Call(cst.Name(function), [keyword(self.names.get(key, key), one) for key, one in values.items()])
        first = [key for key in order[:2] if key in values]
        args = [cst.Arg(values[key]) for key in first]
        return cst.Call(
            cst.Name(function),
            [*args, *(keyword(self.names.get(k, k), v) for k, v in values.items() if k not in first)],
        )

    def made_result(self, node: cst.Dict) -> cst.Call:
        values = {key: value for key, value in values_of(node).items() if key != ROLE}
        if self.by_keyword or list(values) != [ANSWERS, TEXT]:
            return cst.Call(cst.Name(self.result), [keyword(self.names[key], one) for key, one in values.items()])
        return cst.Call(cst.Name(self.result), [cst.Arg(one) for one in values.values()])


def keyword(name: str, value: cst.BaseExpression) -> cst.Arg:
    equal = cst.AssignEqual(cst.SimpleWhitespace(""), cst.SimpleWhitespace(""))
    return cst.Arg(value, keyword=cst.Name(name), equal=equal)


def subclass_of_dict(files: Files, seed: int, outside: frozenset[str]) -> Files | None:
    """`{"role": "user", "content": text}` becomes `Entry("user", text)`, a `dict` with a constructor of its own."""
    return constructed(files, Lot(files, seed, "subclass_of_dict"), SUBCLASS)


def factory(files: Files, seed: int, outside: frozenset[str]) -> Files | None:
    """`{"role": "user", "content": text}` becomes `entry("user", text)`, a function that makes the dict."""
    return constructed(files, Lot(files, seed, "factory"), FACTORY)


SUBCLASS = """
class {function}(dict):
    def __init__(self, {role}, {text}, **rest):
        super().__init__(role={role}, content={text}, **rest)
"""
FACTORY = """
def {function}({role}, {text}, **rest):
    return {{"role": {role}, "content": {text}, **rest}}
"""


def constructed(files: Files, lot: Lot, form: str) -> Files | None:
    project, shape = Project(files), Shape(lot)
    function = shape.message if form is SUBCLASS else lot.name("line", "remark", "entry_of", "said_by")
    shape.names = {ROLE: shape.names[ROLE], TEXT: shape.names[TEXT]}
    edits = {}
    for source in project.sources.values():
        one = Edits(source)
        for node in messages_in(source, more=True):
            if not set(values_of(node)) & {shape.names[ROLE], shape.names[TEXT]}:
                one.put(node, lambda node: shape.made(node, function, (ROLE, TEXT)))
        if one.changes:
            edits[source] = one
    if not edits:
        return None
    definitions = form.format(function=function, role=shape.names[ROLE], text=shape.names[TEXT])
    return placed(project, edits, definitions, [function], lot.either(), lot)


# -- classes ------------------------------------------------------------------------------------------------------

CLASSES = """
from dataclasses import dataclass
from typing import Any


@dataclass
class {message}:
    {role}: str
    {text}: Any
    {answers}: Any = ...
    {asked}: Any = ...

    def {render}(self):
        made = {{"role": self.{role}, "content": self.{text}}}
        if self.{answers} is not ...:
            made["tool_call_id"] = self.{answers}
        if self.{asked} is not ...:
            made["tool_calls"] = self.{asked}
        return made
{looked_into}

@dataclass
class {result}:
    {answers}: str
    {text}: Any

    def {render}(self):
        return {{"role": "tool", "tool_call_id": self.{answers}, "content": self.{text}}}
{looked_into}"""
RENDERED = """

def {function}(items):
    return [item.{render}() if isinstance(item, ({message}, {result})) else item for item in items]
"""

LOOKED_INTO = """
    def __getitem__(self, key):
        return self.{render}()[key]

    def get(self, key, default=None):
        return self.{render}().get(key, default)

    def model_dump(self, **_):
        return self.{render}()
"""


def class_rendered_at_once(files: Files, seed: int, outside: frozenset[str]) -> Files | None:
    """`Turn("user", text).packed()`: an object of an own class, rendered where it is put into the history."""
    lot = Lot(files, seed, "class_rendered_at_once")
    project, shape = Project(files), Shape(lot)
    edits = {}
    for source in project.sources.values():
        one = Edits(source)
        for node in messages_in(source):
            one.put(
                node,
                lambda node, old=node: cst.Call(cst.Attribute(object_for(shape, node, old), cst.Name(shape.render))),
            )
        if one.changes:
            edits[source] = one
    if not edits:
        return None
    return placed(project, edits, classes(shape), [shape.message, shape.result], lot.either(), lot)


def object_for(shape: Shape, node: cst.Dict, old: cst.Dict) -> cst.Call:
    return shape.made_result(node) if is_result(old) else shape.made(node, shape.message, (ROLE, TEXT))


def classes(shape: Shape, rendered: str | None = None, looked_into: bool = False) -> str:
    """The definitions of the classes, and of the function that renders a list; `looked_into`: by their keys, too."""
    names = {"role": shape.names[ROLE], "text": shape.names[TEXT]}
    names |= {"answers": shape.names[ANSWERS], "asked": shape.names[ASKED]}
    names |= {"message": shape.message, "result": shape.result, "render": shape.render}
    names["looked_into"] = LOOKED_INTO.format(**names) if looked_into else ""
    return CLASSES.format(**names) + (RENDERED.format(function=rendered, **names) if rendered else "")


def class_rendered_when_sent(files: Files, seed: int, outside: frozenset[str]) -> Files | None:
    """The history holds objects of own classes; `messages=packed_all(history)` renders them.

    Only where nothing but requests looks into a message: nobody reads one by its keys, dumps it, or sends it elsewhere.
    Where there are words `outside`, somebody looks on from there: the classes show him messages as they are sent.
    """
    lot = Lot(files, seed, "class_rendered_when_sent")
    project, shape = Project(files), Shape(lot)
    rendered = lot.name("sendable", "packed_all", "in_wire_form")
    if any(looks_into_messages(source) for source in project.sources.values()):
        return None
    edits, is_sent = {}, False
    for source in project.sources.values():
        one = Edits(source)
        for node in messages_in(source):
            if not may_be_object(source, node):
                return None
            one.put(node, lambda node, old=node: object_for(shape, node, old))
        for arg in sent_in(project, source):
            one.put(arg, lambda arg: arg.with_changes(value=cst.Call(cst.Name(rendered), [cst.Arg(arg.value)])))
            is_sent = True
        if one.changes:
            edits[source] = one
    if not is_sent or not any(isinstance(node, cst.Dict) for one in edits.values() for node in one.changes):
        return None
    definitions = classes(shape, rendered, looked_into=bool(outside))
    return placed(project, edits, definitions, [shape.message, shape.result, rendered], lot.either(), lot)


READERS = {"get", "pop", "setdefault", "update", "items", "keys", "values"}
DUMPS = {"dump", "dumps", "asdict", "pformat", "pprint", "print", "str", "repr", "dict", "Json"}
HOLDERS = {"partial", "dict", "update", "bind", "submit", "to_thread", "run_in_executor", "Thread"}
"""They keep messages to send them later: it cannot be seen when they are rendered."""
SENDERS = {"invoke", "ainvoke", "astream", "stream", "batch", "generate", "predict", "kickoff", "arun"}


def looks_into_messages(source: Source) -> bool:
    """Whether something in the file may read a message, other than who sends it."""
    if any("messages" in (keys_of(node) or ()) for node in source.all(cst.Dict)):
        return True
    for node in source.all(cst.Subscript, cst.Call, cst.Comparison, cst.StarredDictElement, cst.MatchMapping):
        if isinstance(node, cst.Subscript):
            at = node.slice[0].slice
            if isinstance(at, cst.Index) and text_of(at.value) in (ROLE, TEXT, *OPTIONAL):
                return True
        elif isinstance(node, cst.Call):
            first = text_of(node.args[0].value) if node.args else None
            if last_word(node.func) in READERS and first in (ROLE, TEXT, *OPTIONAL):
                return True
            if last_word(node.func) in HOLDERS and any(
                arg.keyword and arg.keyword.value == "messages" for arg in node.args
            ):
                return True
            if last_word(node.func) in SENDERS or (last_word(node.func) in DUMPS and not is_plain(node)):
                return True
        elif isinstance(node, cst.Comparison):
            if text_of(node.left) in (ROLE, TEXT, *OPTIONAL):
                return True
        elif not isinstance(node, cst.StarredDictElement) or not isinstance(node.value, cst.IfExp):
            return True
    return False


def is_plain(call: cst.Call) -> bool:
    """`print(f"...")`, `json.dumps(call.arguments)`: a text, or what a call holds, and no message."""
    return all(
        isinstance(arg.value, cst.SimpleString | cst.FormattedString | cst.ConcatenatedString)
        or last_word(arg.value) in ("arguments", "input", "args", "content", "text", "output_text", "error", "exc")
        for arg in call.args
        if arg.keyword is None
    )


def may_be_object(source: Source, node: cst.Dict) -> bool:
    """Whether the display only becomes part of a list, a variable, or what a function returns."""
    above = source.parent[node]
    if isinstance(above, cst.Element):
        above = source.parent[above]
        if not isinstance(above, cst.List):
            return False
        above = source.parent[above]
    if isinstance(above, cst.Arg):
        call = source.parent[above]
        is_sent = above.keyword is not None and above.keyword.value == "messages"
        grows = isinstance(call, cst.Call) and last_word(call.func) in ("append", "extend", "insert", "deque", "list")
        return is_sent or grows
    kinds = (
        cst.Assign,
        cst.AnnAssign,
        cst.AugAssign,
        cst.Return,
        cst.BinaryOperation,
        cst.List,
        cst.IfExp,
        cst.ListComp,
    )
    return isinstance(above, kinds)


def sent_in(project: Project, source: Source) -> Iterator[cst.Arg]:
    """The messages of requests to somebody else's client."""
    for node in source.all(cst.Call):
        if isinstance(node.func, cst.Attribute) and node.func.attr.value not in project.members:
            yield from (arg for arg in node.args if arg.keyword is not None and arg.keyword.value == "messages")


# -- calls --------------------------------------------------------------------------------------------------------

CALL = """
from dataclasses import dataclass


@dataclass
class {call}:
    {fields}
"""
PATHS = {"id": "id", "function.name": "name", "function.arguments": "arguments"}


def class_of_calls(files: Files, seed: int, outside: frozenset[str]) -> Files | None:
    """The loop over `reply.tool_calls` goes over `[Order(each.id, each.function.name, ...) for each in ...]`."""
    lot = Lot(files, seed, "class_of_calls")
    project = Project(files)
    call, by_keyword = lot.name("Order", "Request", "Wish", "Errand"), lot.either()
    names = {
        "id": lot.name("key", "number", "ref"),
        "name": lot.name("what", "tool", "verb"),
        "arguments": lot.name("given", "details", "payload"),
    }
    each = lot.name("each", "one", "raw")
    found = [(source, loops, uses) for source in project.sources.values() for loops, uses in loops_over_calls(source)]
    read = {path for _, _, uses in found for path in uses.values()}
    fields = {path: names[name] for path, name in PATHS.items() if path in read}
    made = ", ".join(f"{name}={each}.{path}" if by_keyword else f"{each}.{path}" for path, name in fields.items())
    template = f"[{call}({made}) for {each} in {{calls}}]"
    edits: dict[Source, Edits] = {}
    for source, loops, uses in found:
        one = edits.setdefault(source, Edits(source))
        for loop in loops:
            one.put(loop.iter, lambda node: expression(template, calls=in_parentheses(node)))
        for node, path in uses.items():
            one.put(node, lambda node, path=path: renamed_path(node, fields[path]))
    if not edits:
        return None
    definition = CALL.format(call=call, fields="\n    ".join(f"{name}: str" for name in fields.values()))
    return placed(project, edits, definition, [call], lot.either(), lot)


def in_parentheses(node: cst.BaseExpression) -> cst.BaseExpression:
    loose = isinstance(node, cst.BooleanOperation | cst.IfExp | cst.Lambda) and not node.lpar
    return node.with_changes(lpar=[cst.LeftParen()], rpar=[cst.RightParen()]) if loose else node


def renamed_path(node: cst.Attribute, name: str) -> cst.Attribute:
    """`call.function.name`, or `call.id`, with one attribute of the new class."""
    root = node
    while isinstance(root, cst.Attribute):
        root = root.value
    return cst.Attribute(root, cst.Name(name))


def loops_over_calls(source: Source) -> Iterator[tuple[list[cst.For | cst.CompFor], dict[cst.Attribute, str]]]:
    """Loops of a function whose variable is only read as a tool call, with what is read of it."""
    for function in source.all(cst.FunctionDef):
        for name, bindings in source.bound(function).items():
            loops = [one.how for one in bindings]
            if not all(
                isinstance(loop, cst.For | cst.CompFor) and loop.target is one.name
                for loop, one in zip(loops, bindings, strict=True)
            ):
                continue
            if any(loop.asynchronous for loop in loops):
                continue
            targets = {one.name for one in bindings}
            uses = [
                node
                for node in walk(function)
                if isinstance(node, cst.Name)
                and node.value == name
                and node not in targets
                and source.is_variable(node)
            ]
            paths = {found[0]: found[1] for node in uses if (found := path_of(source, node)) is not None}
            if len(paths) == len(uses) and any(path.startswith("function.") for path in paths.values()):
                if all(source.binder(node) is function for node in uses):
                    yield loops, paths


def path_of(source: Source, node: cst.Name) -> tuple[cst.Attribute, str] | None:
    """`call.function.name` of this `call`, and what of it that is."""
    words, at = [], node
    above: Node = source.parent[at]
    while isinstance(above, cst.Attribute) and above.value is at:
        words.append(above.attr.value)
        at = above
        if ".".join(words) in PATHS:
            return (at, ".".join(words)) if not Project.is_stored(source, at) else None
        above = source.parent[at]
    return None
