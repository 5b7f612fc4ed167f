"""What single expressions show by their form alone: messages, tool calls, comparisons that tell a role or a type."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import libcst as cst

from lint_rules.anatomy import vocabulary as words
from lint_rules.anatomy.values.kinds import Kind
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.word import meaning

_EQUAL = frozenset({cst.Equal, cst.NotEqual})
_AMONG = frozenset({cst.In, cst.NotIn})
_LISTS = frozenset({"list", "List", "Sequence", "Iterable", "deque", "MutableSequence", "tuple", "Tuple"})
_CLASSES = {"class of message": Kind.MESSAGE, "class of call": Kind.CALL}

Member = tuple[cst.BaseExpression, str]
"""What something is read of, and under which name."""


def message(node: cst.BaseExpression) -> str | None:
    """How a dict display or constructor shows that it is a message: `{"role": ..., "content": ...}`, `Message(...)`."""
    items = ex.dict_items(node)
    if items:
        return _message_items(items)
    return _message_class(node) if type(node) is cst.Call else None


def _message_items(items: dict[str, cst.BaseExpression]) -> str | None:
    if items.get("type") is not None and ex.text(items["type"]) in {"function_call_output", "function_call"}:
        return f'has `"type": "{ex.text(items["type"])}"`'
    if "role" not in items:
        return None
    part = next((key for key in items if key in words.MESSAGE_PARTS), None)
    plain = words.MESSAGE_PARTS.union({"role", "name"}).issuperset(items) and ex.text(items["role"]) is None
    if part is None or not (plain or names_role(items["role"])):
        return None
    return f"has `role` and `{part}`"


def names_role(value: cst.BaseExpression) -> bool:
    """Whether a value is one of the roles of model histories, or handed on from something called a role."""
    literal = ex.text(value)
    if literal is not None:
        return literal in words.ROLES
    return "role" in ex.source(value, 200).lower() or isinstance(value, cst.IfExp)


def made_message(call: cst.Call, fields: list[str]) -> bool:
    """Whether a constructor call fills the field `role` of a class with these fields, in order, as messages do."""
    if "role" not in fields or not words.MESSAGE_PARTS.union({"text"}).intersection(fields):
        return False
    role = ex.argument(call, "role", fields.index("role"))
    return role is not None and names_role(role)


def _message_class(call: cst.Call) -> str | None:
    name = ex.called_name(call)
    if meaning(name) == "class of message":
        return f"is a `{name}`, whose fields are sent as a message's"
    if name in words.MESSAGE_CLASSES and call.args:
        return f"is made by `{name}(...)`"
    if not name[:1].isupper() and name != "replace":
        return None
    keywords = {arg.keyword.value for arg in call.args if arg.keyword is not None}
    role = ex.argument(call, "role", 0)
    if role is not None and "Message" in name and ex.text(role) in words.ROLES:
        return f"is made by `{name}(role, ...)`"
    if {"role", "parts"} <= keywords and name == "Content":
        return "is made by `Content(role=..., parts=...)`"
    if {"role", "content"} <= keywords and name[:1].isupper():
        return f"is made by `{name}(role=..., content=...)`"
    return None


def tool_call(node: cst.BaseExpression) -> str | None:
    """How a dict display shows that it is a tool call: an id beside a function with arguments, or a tool_use block."""
    items = ex.dict_items(node)
    function = items.get("function")
    if function is not None and "arguments" in ex.dict_items(function):
        return "has a `function` with `arguments`"
    kind = items.get("type")
    if kind is not None and ex.text(kind) in {"tool_use"} and "input" in items:
        return 'has `"type": "tool_use"`'
    if {"toolUseId", "name", "input"} <= items.keys():
        return "has a `toolUseId`, a `name` and an `input`"
    if {"id", "name", "arguments"} <= set(items):
        return "has an `id`, a `name` and `arguments`"
    return None


def tool_result(node: cst.BaseExpression) -> cst.BaseExpression | None:
    """The content of a message, or a part of one, that answers a tool call: `{"role": "tool", "content": x}`.

    Blocks: `tool_result` (Anthropic), `toolResult` (Bedrock), `function_response` (Gemini).
    """
    if type(node) is cst.Call:
        made = ex.called_name(node) in words.RESPONSE_MAKERS
        return ex.argument(node, "response", 1) if made else None
    items = ex.dict_items(node)
    wrapped = next((items[key] for key in words.RESPONSES if key in items), None)
    if wrapped is not None:
        return ex.dict_items(wrapped).get("response")
    kind = ex.text(items["type"]) if "type" in items else None
    role = ex.text(items["role"]) if "role" in items else None
    if kind == "function_call_output":
        return items.get("output")
    if role in {"tool", "function"} or kind == "tool_result" or not items.keys().isdisjoint(words.ANSWERED_BLOCKS):
        return items.get("content")
    return None


def said_of(test: cst.Comparison) -> set[str]:
    """The words, or last names, with which something is compared."""
    _, _, right = ex.compared(test)
    shown = right.elements if isinstance(right, (cst.Tuple, cst.List, cst.Set)) else [cst.Element(right)]
    return {ex.text(e.value) or (ex.dotted(e.value) or "").removesuffix(".value").rpartition(".")[2] for e in shown}


def comparisons(
    node: cst.Comparison, read_as: Callable[[cst.BaseExpression], Member | None]
) -> Iterator[tuple[cst.BaseExpression, Kind, str]]:
    """What a comparison tells of its parts: `x.role == "tool"` makes x a message, `b.type == "tool_use"` b a call.

    `read_as` tells what a side is read of.
    """
    left = node.left
    for target in node.comparisons:
        right = target.comparator
        if type(target.operator) in _EQUAL:
            for side, other in ((left, right), (right, left)):
                yield from _told(read_as(side), [ex.text(other)])
        elif type(target.operator) in _AMONG and isinstance(right, (cst.Tuple, cst.List, cst.Set)):
            yield from _told(read_as(left), [ex.text(element.value) for element in right.elements])
        left = right


def _told(pair: Member | None, values: list[str | None]) -> Iterator[tuple[cst.BaseExpression, Kind, str]]:
    if pair is None:
        return
    base, name = pair
    if name == "role" and words.TELLING_ROLES.intersection(v for v in values if v):
        yield base, Kind.MESSAGE, f"its role is compared with `{next(v for v in values if v)}`"
    elif name == "type" and words.CALL_TAGS.intersection(v for v in values if v):
        yield base, Kind.CALL, f"its type is compared with `{next(v for v in values if v)}`"


def type_tests(call: cst.Call) -> tuple[cst.BaseExpression, Kind, str] | None:
    """What `isinstance(x, ToolUseBlock)` tells of x."""
    if len(call.args) != 2 or ex.called_name(call) != "isinstance" or type(call.func) is not cst.Name:
        return None
    told = annotated(call.args[1].value)
    return (call.args[0].value, told[0], told[1].replace("annotated", "tested to be a")) if told is not None else None


def lists_dicts(annotation: cst.BaseExpression) -> bool:
    """`list[dict]`, `List[Dict[str, Any]]`, `Sequence[dict] | None`."""
    if isinstance(annotation, cst.BinaryOperation):
        return lists_dicts(annotation.left) or lists_dicts(annotation.right)
    inside = ex.element_type(annotation)
    outer = (ex.dotted(annotation.value) or "").rpartition(".")[2] if isinstance(annotation, cst.Subscript) else ""
    if inside is None or outer not in _LISTS | {"Optional"}:
        return False
    if outer == "Optional":
        return lists_dicts(inside)
    element = inside.value if isinstance(inside, cst.Subscript) else inside
    return (ex.dotted(element) or "").rpartition(".")[2] in {"dict", "Dict"}


def annotated(annotation: cst.BaseExpression) -> tuple[Kind, str] | None:
    """What an annotation says: `list[ChatCompletionMessageParam]` is a history, `ToolUseBlock` a tool call."""
    name = ex.last_name(annotation)
    if meaning(name) in _CLASSES:
        return _CLASSES[meaning(name)], f"is annotated `{name}`"
    if type(annotation) is cst.SimpleString:
        name = (ex.text(annotation) or "").rpartition(".")[2]
    if name in words.MESSAGE_TYPES:
        return Kind.MESSAGE, f"is annotated `{name}`"
    if name in words.CALL_TYPES:
        return Kind.CALL, f"is annotated `{name}`"
    if name in words.SESSION_TYPES:
        return Kind.MODEL, f"is annotated `{name}`"
    if type(annotation) is cst.BinaryOperation:
        return annotated(annotation.left) or annotated(annotation.right)
    if type(annotation) is cst.Subscript:
        outer = (ex.dotted(annotation.value) or "").rpartition(".")[2]
        inside = ex.element_type(annotation) if outer in _LISTS else ex.index(annotation)
        told = annotated(inside) if inside is not None else None
        if told is None or outer in {"Callable", "type", "Type", "dict", "Dict", "Mapping"}:
            return None
        if outer in _LISTS:
            kind = {Kind.MESSAGE: Kind.HISTORY, Kind.CALL: Kind.CALLS}.get(told[0])
            return None if kind is None else (kind, f"is annotated `{ex.source(annotation, 50)}`")
        return told
    return None
