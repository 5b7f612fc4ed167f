"""Tests that look at what a message is: its role, its type, its tool calls, the id it answers."""

from __future__ import annotations

import re
from collections.abc import Iterator

import libcst as cst

from lint_rules.anatomy import vocabulary as words
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.truth import evaluate
from lint_rules.syntax.walk import walk

_ROLE_KEYS = frozenset({"role", "type", "message_type", "kind", "author", "sender", "from"})
_CALL_KEYS = frozenset(
    {
        "tool_calls", "tool_call_id", "tool_use_id", "toolUseId", "call_id", "function_call", "tool_results",
        "toolResult", "toolUse", "function_response", "functionResponse",
    }
)  # fmt: skip
SYSTEM = frozenset({"system", "developer", "SystemMessage", "SYSTEM", "System", "system_prompt"})
_RESULTS = words.RESULT_TAGS | {"tool", "function"}
_CALLERS = words.SPEAKERS | words.CALL_TAGS
_ASKS = re.compile(r"(^|_)(is|has|starts?|find|contains|keeps?|check)_|tool|role|user|turn|assistant|boundary|safe")


def role_tests(nodes: list[cst.CSTNode], *, system: bool = False) -> Iterator[cst.BaseExpression]:
    """The expressions among `nodes` that are looked at to learn what a message is: `m` of `m["role"] == "user"`.

    Tests for the system role alone tell nothing of calls and results: they are given with `system` only.
    """
    for node in nodes:
        if type(node) is cst.Comparison:
            yield from _compared(node, system)
        elif type(node) is cst.Call:
            yield from _asked(node, system)
        else:
            pair = ex.member(node) if type(node) in {cst.Attribute, cst.Subscript} else None
            if pair is not None and pair[1] in _CALL_KEYS:
                yield pair[0]


def _compared(node: cst.Comparison, system: bool) -> Iterator[cst.BaseExpression]:
    others = [target.comparator for target in node.comparisons]
    pair = ex.asked(node)
    if pair is not None and pair[1] in _CALL_KEYS:
        yield pair[0]
        return
    for side, other in ((node.left, others[0]), (others[0], node.left)):
        subject = asks_role(side)
        if subject is not None and (system or not _says_system_only(other)):
            yield subject


def asks_role(node: cst.BaseExpression) -> cst.BaseExpression | None:
    """`m`, where its role is asked for: `m["role"]`, `m.get("role", "").lower()`, `m.type or m.role`."""
    for part in ex.alternatives(node):
        pair = ex.member(part)
        if pair is not None and pair[1] in _ROLE_KEYS:
            return pair[0]
        if isinstance(part, cst.Call) and ex.called_name(part) in {"lower", "str", "strip"}:
            inside = ex.receiver(part) or (part.args[0].value if part.args else None)
            return asks_role(inside) if inside is not None else None
        if isinstance(part, cst.Name) and part.value in {"role", "msg_role", "message_role"}:
            return part
    return None


def _says_system_only(node: cst.BaseExpression) -> bool:
    if isinstance(node, (cst.Tuple, cst.List, cst.Set)):
        return bool(node.elements) and all(_says_system_only(element.value) for element in node.elements)
    word = ex.text(node) or (ex.dotted(node) or "").removesuffix(".value").rpartition(".")[2]
    return word in SYSTEM


def _asked(node: cst.Call, system: bool) -> Iterator[cst.BaseExpression]:
    """`isinstance(m, ToolMessage)`, `m.get("tool_calls")`, `is_tool_message(m)`, `m.has_tool_calls()`."""
    name, given, base = ex.called_name(node), ex.positional(node), ex.receiver(node)
    if name == "isinstance" and len(given) == 2:
        if "Message" in ex.source(given[1], 200) and (system or not _says_system_only(given[1])):
            yield given[0]
        return
    pair = ex.member(node) or ex.asked(node)
    if pair is not None:
        if pair[1] in _CALL_KEYS:
            yield pair[0]
        return
    if given and _ASKS.search(name) and isinstance(given[0], (cst.Name, cst.Subscript)):
        yield given[0]
    elif base is not None and not node.args and name.startswith(("is_", "has_")) and _ASKS.search(name[3:]):
        yield base


def named_roles(test: cst.BaseExpression) -> frozenset[str] | None:
    """The roles that a test lets pass: `m["role"] == "tool"`, `m.role in ("user", "assistant")`; None for others."""
    return None if excludes_roles(test) else told_roles(test)


def told_roles(test: cst.BaseExpression) -> frozenset[str] | None:
    """The roles that a test lets pass, or that it excludes: `m["role"] != "tool"`; None for others."""
    if isinstance(test, cst.UnaryOperation) and isinstance(test.operator, cst.Not):
        return told_roles(test.expression)
    if isinstance(test, cst.Call):
        return _roles_of_classes(test)
    if not isinstance(test, cst.Comparison) or len(test.comparisons) != 1:
        return None
    left, operator, right = ex.compared(test)
    if asks_role(left) is None:
        return None
    if isinstance(operator, (cst.Equal, cst.NotEqual)):
        listed = [right]
    elif isinstance(operator, (cst.In, cst.NotIn)) and isinstance(right, (cst.Tuple, cst.List, cst.Set)):
        listed = [element.value for element in right.elements]
    else:
        return None
    roles = [(ex.text(r) or (ex.dotted(r) or "").removesuffix(".value").rpartition(".")[2]).lower() for r in listed]
    return frozenset(roles) if roles and all(roles) else None


def _roles_of_classes(test: cst.Call) -> frozenset[str] | None:
    """`isinstance(m, (SystemMessage, ToolMessage))`."""
    given = ex.positional(test)
    if ex.dotted(test.func) != "isinstance" or len(given) != 2:
        return None
    roles = [words.CLASS_ROLES.get(ex.last_name(each)) for each in ex.several(given[1])]
    return frozenset(role for role in roles if role is not None) if roles and all(roles) else None


def told_classes(test: cst.BaseExpression) -> frozenset[str] | None:
    """The classes that a test asks for: `isinstance(m, HumanMessage)`; None for others."""
    given = ex.positional(test) if isinstance(test, cst.Call) and ex.called_name(test) == "isinstance" else []
    listed = [part for each in given[1:] for part in ex.several(each)]
    return frozenset(ex.last_name(each) or "" for each in listed) or None


def given_a_result(test: cst.BaseExpression) -> bool | None:
    """What a test of roles gives for a message that holds results of tools; None where that is open."""
    roles = told_roles(test)
    if roles is None or (roles.isdisjoint(_RESULTS) and not roles <= _CALLERS):
        return None  # of a user's message some providers make one with results
    return roles.isdisjoint(_RESULTS) == excludes_roles(test)


def given_a_call(test: cst.BaseExpression) -> bool | None:
    """The same for a message that makes calls."""
    roles = told_roles(test)
    return None if roles is None else roles.isdisjoint(_CALLERS) == excludes_roles(test)


def parts_results(test: cst.BaseExpression, holds: bool) -> bool:
    """Whether results may come where a test gives this, calls cannot, and nothing else decides about a single result.

    Its ids do, and so does what a function tells of the message.
    """
    parts = [part for part in walk(test) if isinstance(part, cst.BaseExpression)]
    read = [pair for part in parts if (pair := ex.member(part)) is not None]
    asking = (part.args for part in parts if isinstance(part, cst.Call) and ex.called_name(part) != "isinstance")
    handed = {ex.dotted(arg.value) for args in asking for arg in args}
    return (
        evaluate(test, given_a_call) is (not holds)
        and evaluate(test, given_a_result) is not (not holds)
        and any({given_a_result(part), given_a_call(part)} == {True, False} for part in parts)
        and not any(name in _CALL_KEYS or ex.dotted(base) in handed for base, name in read)
    )


def excludes_roles(test: cst.BaseExpression) -> bool:
    """`m["role"] != "system"`, `m.role not in (...)`, `not isinstance(m, SystemMessage)`."""
    if isinstance(test, cst.UnaryOperation) and isinstance(test.operator, cst.Not):
        return told_roles(test.expression) is not None and not excludes_roles(test.expression)
    if not isinstance(test, cst.Comparison) or len(test.comparisons) != 1:
        return False
    left, operator, _ = ex.compared(test)
    return isinstance(operator, (cst.NotEqual, cst.NotIn)) and asks_role(left) is not None
