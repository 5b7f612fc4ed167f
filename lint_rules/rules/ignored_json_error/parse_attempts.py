"""Parses that may well fail: of a text that still grows, of one of unknown form, or with something else to try next."""

from __future__ import annotations

import re
from collections.abc import Iterator

import libcst as cst

from lint_rules.anatomy import vocabulary as words
from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.program import handlers
from lint_rules.anatomy.program.handlers import Ending, Handling
from lint_rules.anatomy.values import provenance
from lint_rules.anatomy.values.kinds import Kind
from lint_rules.anatomy.values.slots import Slot, is_parameter
from lint_rules.rules.ignored_json_error import dispatch, outside
from lint_rules.rules.ignored_json_error.other_parses import is_parsed_again
from lint_rules.rules.ignored_json_error.uses import uses_after
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.module import Scope, SourceModule
from lint_rules.syntax.walk import children, walk

_MARK = re.compile(r"(?<![A-Za-z_])(?!(?:json|python|code)\b)[A-Za-z_]{3,}|</?[A-Za-z]|```json", re.IGNORECASE)
_LABEL = re.compile(r"\[[A-Z_]{4,}\]")
_SYNTAX = re.compile(r"\\.|\[[^\]]*\]|\(\?P?(?:<\w+>)?")
"""What letters in a pattern do not stand for themselves: classes, names of groups."""
_MOST_STEPS = 12
_OF_DICTS = frozenset({"get", "items", "keys", "values", "pop", "setdefault", "update"})


def is_attempt(anatomy: Anatomy, call: cst.Call, handling: Handling, function: Scope) -> bool:
    """Whether the failure of a parse that is handled says nothing of a call that waits for its tool."""
    return (
        _is_streaming(anatomy, call, function)
        or _is_probe(anatomy, call, handling, function)
        or outside.renders_the_past(anatomy, call, function)
    )


def _is_probe(anatomy: Anatomy, call: cst.Call, handling: Handling, function: Scope) -> bool:
    """A parse that only asks whether text is JSON yet, or which of several forms a model's text has."""
    if isinstance(anatomy.module.parent.get(call), cst.Expr):
        return handling.ending is not Ending.DROPS or _falls_through(handling)
    kinds, marked = anatomy.facts.kinds(call.args[0].value), is_marked(anatomy, call)
    if Kind.ARGUMENTS_TEXT in kinds or not (marked or Kind.MODEL_TEXT in kinds):
        return False
    drops = handling.ending is Ending.DROPS
    is_call = (marked and (drops or handling.target is not None)) or dispatch.makes_call_with(
        anatomy.facts, call, function
    )
    return not is_call or (drops and _is_told_later(anatomy, handling))


def _falls_through(handling: Handling) -> bool:
    """Whether the code after the handler runs on, instead of the next turn of a loop."""
    return not any(isinstance(n, (cst.Continue, cst.Break, cst.Return)) for n in walk(handling.handler.body))


# -- calls in a model's text ------------------------------------------------------------------------------------


def is_marked(anatomy: Anatomy, call: cst.Call) -> bool:
    """Whether what is parsed was told from the rest of a model's text by words: `<tool_call>`, `ACTION:`, `"tool"`.

    It is then a call, and no piece of an answer. Braces, and fences that may hold any code, tell nothing.
    """
    return any(_LABEL.search(text) or _MARK.search(_SYNTAX.sub(" ", text)) for text in _telling(anatomy, call))


def _telling(anatomy: Anatomy, call: cst.Call) -> Iterator[str]:
    """The strings by which a text was cut out, and those that tests around its parse look for in the model's text.

    Where nothing shows that a model wrote it, those of patterns that a text matches which the function gets.
    """
    facts, seen = anatomy.facts, set[Slot]()
    queue = [call.args[0].value]
    for outer in anatomy.module.ancestors(call):
        if isinstance(outer, (cst.If, cst.While)):
            queue += [part for part in walk(outer.test) if isinstance(part, (cst.Comparison, cst.Call))]
        elif isinstance(outer, cst.For):
            queue.append(outer.iter)
    while queue:
        here = queue.pop()
        for name in provenance.made_from(anatomy, here):
            slot = facts.slots.of(name)
            if slot is not None and slot not in seen and len(seen) < _MOST_STEPS:
                seen.add(slot)
                queue += [*facts.assigned(slot), *facts.given(slot), *facts.gone_through(slot)]
                queue += _given_to(anatomy, slot[1]) if is_parameter(slot) else ()
        if _is_text(anatomy, here) or any(_matches_given(anatomy, part) for part in walk(here)):
            yield from (said for part in _written(anatomy, here) for said in _words(anatomy, part))


def _written(anatomy: Anatomy, value: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """The parts of an expression, but for the keys by which something is read, and what a request is made of."""
    stack = [value]
    while stack:
        here = stack.pop()
        yield here
        pair = ex.member(here)
        if pair is not None:
            stack.append(pair[0])
        elif not (isinstance(here, cst.Call) and anatomy.calls.asks(here)):
            stack += children(here)


def _given_to(anatomy: Anatomy, callback: Scope) -> list[cst.BaseExpression]:
    """The calls that are handed a function, to call it with what comes of the rest: `re.sub(mark, callback, text)`."""
    handed = ((anatomy.module.parent[name], name) for name in anatomy.calls.references.get(callback, ()))
    calls = (anatomy.module.parent[arg] for arg, _ in handed if isinstance(arg, cst.Arg))
    return [call for call in calls if isinstance(call, cst.Call)]


def _matches_given(anatomy: Anatomy, node: cst.CSTNode) -> bool:
    """`CALL.search(text)`, of a text that the function gets, as it is."""
    if not isinstance(node, cst.Call) or ex.called_name(node) not in words.MATCHERS:
        return False
    slots = (anatomy.facts.slots.of_name(value) for value in ex.positional(node))
    return any(slot is not None and is_parameter(slot) for slot in slots)


def _words(anatomy: Anatomy, node: cst.CSTNode) -> Iterator[str]:
    """A string, or that of the pattern that a name stands for."""
    slot = anatomy.facts.slots.of(node) if isinstance(node, (cst.Name, cst.Attribute)) else None
    for value in [node, *anatomy.facts.assigned(slot)]:
        if isinstance(value, cst.Call) and ex.called_name(value) == "compile" and value.args:
            value = value.args[0].value
        said = ex.text(value) if isinstance(value, cst.BaseString) else None
        if said is not None:
            yield said


def _is_told_later(anatomy: Anatomy, handling: Handling) -> bool:
    """Whether something that is no reply is stored behind the parse; in a loop over texts, behind all of them."""
    module, guard = anatomy.module, handling.guard
    function = module.scope_of[guard].function
    loop = next((n for n in module.ancestors(guard) if isinstance(n, cst.For) and _is_text(anatomy, n.iter)), guard)
    return any(
        not module.inside(stored.node, loop) and module.before(loop, stored.node) and stored.role != "assistant"
        for stored in anatomy.transcript.stored(function)
    )


def _is_text(anatomy: Anatomy, value: cst.BaseExpression) -> bool:
    """Whether a value is made of a model's text."""
    return any(isinstance(p, cst.BaseExpression) and Kind.MODEL_TEXT in anatomy.facts.kinds(p) for p in walk(value))


# -- text that grows --------------------------------------------------------------------------------------------


def _is_streaming(anatomy: Anatomy, call: cst.Call, function: Scope) -> bool:
    """Text that has just grown, in a loop: a try at each piece is a display of what there is so far."""
    slot = anatomy.facts.slots.of(call.args[0].value)
    loop = anatomy.module.loop_around(call)
    if slot is None or loop is None:
        return False
    for node in function.nodes:
        if isinstance(node, cst.AugAssign) and anatomy.facts.slots.of(node.target) == slot:
            if anatomy.module.inside(node, loop) and _comes_next(anatomy, node, call, loop):
                return True
    return False


def _comes_next(anatomy: Anatomy, piece: cst.AugAssign, call: cst.Call, loop: cst.For | cst.While) -> bool:
    """Whether the try follows the piece in one turn of the loop, and no test of the event stands before it."""
    blocks = [node for node in anatomy.module.ancestors(piece) if isinstance(node, cst.IndentedBlock)]
    for block in blocks:
        if anatomy.module.inside(call, block):
            return True
        branch = anatomy.module.parent[block]
        alone = isinstance(branch, cst.If) and branch.orelse is None
        if not alone or isinstance(anatomy.module.parent[branch], cst.If):
            return False
    return False


# -- another way ------------------------------------------------------------------------------------------------


def is_tried_otherwise(anatomy: Anatomy, call: cst.Call, handling: Handling) -> bool:
    """Whether something else is tried, or the text itself is kept: `x = json.loads(x)` that fails leaves x as it is."""
    function = anatomy.module.scope_of[call].function
    return not _is_taken_for_parsed(anatomy, call, handling) and (
        isinstance(anatomy.module.statement(call), cst.Return)
        or is_parsed_again(anatomy, call, function)
        or _text_goes_on(anatomy, call, handling)
    )


def _is_taken_for_parsed(anatomy: Anatomy, call: cst.Call, handling: Handling) -> bool:
    """`x = json.loads(x)` before `tool(**x)`: the text that an error leaves in the name is used as a dict, untested."""
    module, given, statement = anatomy.module, call.args[0].value, anatomy.module.statement(call)
    targets = ex.assigned(statement)
    if not isinstance(given, cst.Name) or given.value not in {name for t in targets for name in ex.target_names(t)}:
        return False
    uses = uses_after(module, given.value, handling.guard, module.scope_of[call].function.node)
    given_to = (module.parent[module.parent[use]] for use in uses)
    if any(isinstance(outer, cst.Call) and ex.called_name(outer) == "isinstance" for outer in given_to):
        return False
    return any(_is_used_as_dict(module, use) for use in uses)


def _is_used_as_dict(module: SourceModule, use: cst.Name) -> bool:
    """`**x`, `x["key"]`, `x.get("key")`, `x.items()`; the `input` of a `tool_use` block is one (Anthropic API)."""
    parent = module.parent[use]
    if isinstance(parent, (cst.Arg, cst.DictElement)):
        made = module.parent[parent]
        parts = ex.made_of(made) if isinstance(made, (cst.Dict, cst.Call)) else {}
        is_input = parts.get("input") is use and "name" in parts
        return is_input or (isinstance(parent, cst.Arg) and parent.star == "**")
    if isinstance(parent, cst.Subscript):
        return parent.value is use and ex.key(parent) is not None
    return isinstance(parent, cst.Attribute) and parent.attr.value in _OF_DICTS


def _text_goes_on(anatomy: Anatomy, call: cst.Call, handling: Handling) -> bool:
    """Whether the text itself is used further down: what could not be parsed is passed on as it is."""
    given = call.args[0].value
    if not isinstance(given, cst.Name) or not _falls_through(handling):
        return False
    function = anatomy.module.scope_of[call].function
    uses = uses_after(anatomy.module, given.value, handling.guard, function.node)
    return any(not handlers.shown_only(anatomy.module, use) for use in uses)
