"""By what a program tells tool calls apart, where two of them can have it in common."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.calls.picks import calls_of
from lint_rules.anatomy.calls.uses import may_run
from lint_rules.anatomy.program import handlers
from lint_rules.anatomy.values.kinds import Kind
from lint_rules.anatomy.values.slots import Slot, default_of, is_parameter
from lint_rules.anatomy.vocabulary import ANSWERED, IDS
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.memo import once
from lint_rules.syntax.module import Scope
from lint_rules.syntax.record import record
from lint_rules.syntax.walk import walk

_RESULT_IDS = IDS - {"id"}
_INPUTS = frozenset({"arguments", "input", "args"})
_RESULTS = frozenset({"result", "output", "response", "tool_result"})


@record
class SharedId:
    """An id, `value`, that is taken from `source`: the tool's name, the position in a list of calls, or a text."""

    value: cst.BaseExpression
    by: Literal["name", "position", "constant"]
    source: cst.CSTNode


def shared_ids(anatomy: Anatomy) -> Iterator[SharedId]:
    """Ids of calls and of their results that are names, positions or the same for all; under a name the first only."""
    told: set[Slot] = set()
    for made, items in anatomy.made:
        for value in _ids(made, items):
            slot = anatomy.facts.slots.of_name(value)
            named = _by_name(anatomy, value, items) if not _is_the_only_one(anatomy, made) else None
            shared = named or _by_position(anatomy, value, made, items) or _constant(anatomy, value, items)
            if shared is not None and slot not in told:
                told.update([slot] if slot is not None else [])
                yield shared


def _ids(made: cst.CSTNode, items: dict[str, cst.BaseExpression]) -> Iterator[cst.BaseExpression]:
    """The id of a call that a dict or constructor makes, or of a call that it answers.

    Where a call has a `call_id`, its `id` is that of the item, with which nothing is paired (Responses API).
    """
    if (
        "id" in items
        and "call_id" not in items
        and (("function" in items) or ("name" in items and items.keys() & _INPUTS))
    ):
        yield items["id"]
    said = isinstance(made, cst.Call) and ex.positional(made)
    if said or items.keys() & {"content", "output", "name", "role"}:
        yield from (value for key, value in items.items() if key in _RESULT_IDS)


def _is_the_only_one(anatomy: Anatomy, made: cst.CSTNode) -> bool:
    """Whether a reply comes to one call at most: it is made in no loop, for a list in which no other stands.

    `[Call(id=name, ...)]`, or `calls.append(Call(...))` behind the loop over what the model sent.
    """
    module = anatomy.module
    parent, function = module.parent[made], module.scope_of[made].function
    loops = (outer for outer in module.ancestors(made) if isinstance(outer, (cst.For, cst.While, cst.BaseComp)))
    if any(module.inside(loop, function.node) for loop in loops):
        return False
    if isinstance(parent, cst.Element):
        shown = module.parent[parent]
        return isinstance(shown, cst.List) and len(shown.elements) == 1
    grown = module.parent[parent] if isinstance(parent, cst.Arg) else None
    base = ex.receiver(grown) if isinstance(grown, cst.Call) and ex.called_name(grown) == "append" else None
    slot = anatomy.facts.slots.of(base)
    if slot is None or slot[:2] != ("var", function) or is_parameter(slot):
        return False
    return len(list(anatomy.facts.appended(slot))) == 1


def _by_name(anatomy: Anatomy, value: cst.BaseExpression, items: dict[str, cst.BaseExpression]) -> SharedId | None:
    named = _name(items)
    names = {ex.source(named)} if named is not None else set()
    for part in _ways(anatomy, value):
        only = _only_part(part)
        if only is None or handlers.is_neutral(only):
            continue
        if _is_name_of_call(anatomy, only) or (ex.source(only) in names and is_some_name(anatomy, only)):
            return SharedId(value, "name", only if named is None else named)
    return None


def _name(items: dict[str, cst.BaseExpression]) -> cst.BaseExpression | None:
    """The name in what a call is made of."""
    function = items.get("function")
    inside = ex.made_of(function) if isinstance(function, (cst.Dict, cst.Call)) else {}
    return items.get("name") or inside.get("name")


def _ways(anatomy: Anatomy, value: cst.BaseExpression) -> Iterator[cst.BaseExpression]:
    """What an id may be, as it is written or by its name, with the defaults: `call.get("id", default)`.

    What stands in for an id that is missing comes to nothing where the API sends arguments as JSON text: its calls have
    ids (OpenAI API reference, chat completion message tool call: `id` is required). Those without give them as objects.
    """
    slot = anatomy.facts.slots.of(value)
    given = anatomy.facts.assigned(slot) if slot is not None and slot[0] == "var" else []
    has_ids = _are_texts(anatomy, anatomy.module.scope_of[value].function)
    for way in (value, *given):
        parts = list(ex.alternatives(_unwrapped(way)))
        own = [part for part in parts if (pair := ex.member(part)) is not None and pair[1] in IDS]
        yield from own if own and has_ids else parts
        for part in own if not has_ids else ():
            if isinstance(part, cst.Call) and len(part.args) > 1:
                yield from ex.positional(part)[-1:]


@once(circular=False)
def _are_texts(anatomy: Anatomy, function: Scope) -> bool:
    """Whether a function parses the arguments of calls, and does so always: not where it has told text from objects."""
    perhaps = anatomy.facts.told(("str", True))
    return any(
        anatomy.facts.decoder(call) is not None
        and call.args[0].value not in perhaps
        and Kind.ARGUMENTS_TEXT in anatomy.facts.kinds(call.args[0].value)
        for call in function.nodes_of(cst.Call)
        if call.args
    )


def _unwrapped(value: cst.BaseExpression) -> cst.BaseExpression:
    """What a text is made of by `str(...)`."""
    made = isinstance(value, cst.Call) and ex.dotted(value.func) == "str" and len(value.args) == 1
    return value.args[0].value if made and isinstance(value, cst.Call) else value


def _only_part(value: cst.BaseExpression, beside: cst.BaseExpression | None = None) -> cst.BaseExpression | None:
    """The one value that a text is made of: of `f"call_{i}"` and `str(i)` it is `i`; names and members themselves.

    `beside`: what may stand in it as well.
    """
    if isinstance(value, cst.FormattedString):
        parts = [part.expression for part in value.parts if isinstance(part, cst.FormattedStringExpression)]
        parts = [part for part in parts if beside is None or ex.source(part) != ex.source(beside)]
        return parts[0] if len(parts) == 1 else None
    unwrapped = _unwrapped(value)
    return unwrapped if unwrapped is not value or ex.reads_place(value) else None


def _is_name_of_call(anatomy: Anatomy, value: cst.BaseExpression) -> bool:
    pair = ex.member(value)
    return pair is not None and pair[1] == "name" and _is_call(anatomy, pair[0])


def _is_call(anatomy: Anatomy, value: cst.BaseExpression) -> bool:
    return not anatomy.facts.kinds(value).keys().isdisjoint({Kind.CALL, Kind.FUNCTION})


def is_some_name(anatomy: Anatomy, value: cst.BaseExpression) -> bool:
    """`x.name`, or a local name for one; what a function gets as a parameter may be unique.

    Not a tool's own name, in its own method: it makes a call for one run of itself, and hands the result back.
    """
    slot = anatomy.facts.slots.of(value)
    given = anatomy.facts.assigned(slot) if slot is not None and type(value) is cst.Name else []
    parts = [value, *(part for way in given for part in ex.alternatives(way))]
    own = anatomy.module.self_name(anatomy.module.scope_of[value])
    named = [pair[0] for part in parts if (pair := ex.member(part)) is not None and pair[1] == "name"]
    return any(ex.dotted(base) != own for base in named)


def _by_position(
    anatomy: Anatomy, value: cst.BaseExpression, made: cst.BaseExpression, items: dict[str, cst.BaseExpression]
) -> SharedId | None:
    """An id that is a position in the calls of one reply: of those that are gone through, or that are there so far.

    Whatever a call is made of, its position is no other than that of a call of the next reply; if results say it.
    """
    texts = [_unwrapped(value), *(part for part in _ways(anatomy, value) if isinstance(part, cst.FormattedString))]
    parts = (_only_part(part, _name(items)) for part in texts)
    positions = [only for only in parts if only is not None and only is not value]
    if not positions:
        return None
    slots = {anatomy.facts.slots.of(only) for only in positions if isinstance(only, cst.Name)}
    is_call = items.get("id") is value and anatomy.facts.is_kind(made, Kind.CALL) and _pairs_results(anatomy, value)
    for loop in anatomy.module.nodes_of(cst.For, cst.CompFor) if slots else ():
        position = position_in(loop)
        if position is None or anatomy.facts.slots.of(position) not in slots or not isinstance(loop.iter, cst.Call):
            continue
        through = loop.iter.args[0].value
        of_reply = is_call and anatomy.facts.kinds(through).keys().isdisjoint({Kind.HISTORY, Kind.MESSAGE})
        told = of_reply or anatomy.facts.is_kind(through, Kind.CALLS)
        if told and not _makes_messages(anatomy, loop) and not _is_never_missing(anatomy, value, items, through):
            return SharedId(value, "position", loop.iter)
    counted = [only for only in positions if is_call and _is_count_of_its_list(anatomy, only, made)]
    return SharedId(value, "position", counted[0]) if counted else None


def _is_never_missing(
    anatomy: Anatomy, value: cst.BaseExpression, items: dict[str, cst.BaseExpression], calls: cst.BaseExpression
) -> bool:
    """Whether an id stands in for one that all calls have, as far as the file tells.

    It makes the calls of the list, each with an id, or says in a result what it says in no call.
    """
    facts, same = anatomy.facts, ex.source(value, 200)
    if not any((pair := ex.member(part)) is not None and pair[1] in IDS for part in ex.alternatives(value)):
        return False
    if items.get("id") is not value:
        return all(ex.source(made["id"], 200) != same for _, made in anatomy.made if "id" in made)
    slot = facts.slots.of(calls)
    given = (facts.slots.of(part) for part, *_ in facts.given_apart(slot)) if slot is not None else ()
    entries = [value for each in (slot, *given) if each is not None for value in facts.appended(each)]
    return bool(entries) and all("id" in ex.dict_items(value) for value in entries)


def _pairs_results(anatomy: Anatomy, value: cst.BaseExpression) -> bool:
    """Whether a result says an id of the same words, or one that is read of a call where such calls are made."""
    same, maker = ex.source(value, 200), anatomy.module.scope_of[value].function
    stored = (each.message for function in anatomy.module.functions for each in anatomy.transcript.stored(function))
    answers = [
        said for message in stored if message is not None for said in message.answers if said in anatomy.module.parent
    ]
    for said in (*answers, *(items[key] for _, items in anatomy.made for key in _RESULT_IDS & items.keys())):
        pair, reader = ex.member(said), anatomy.module.scope_of[said].function
        is_read = pair is not None and pair[1] in IDS and anatomy.facts.is_kind(pair[0], Kind.CALL)
        if ex.source(said, 200) == same or (is_read and maker in {reader, *anatomy.calls.reachable(reader)}):
            return True
    return False


def _is_count_of_its_list(anatomy: Anatomy, node: cst.BaseExpression, made: cst.CSTNode) -> bool:
    """`calls.append({"id": f"call_{len(calls)}", ...})`: how many calls a list has that is begun for each reply.

    In the function that puts them there, or around it, where that asks no model.
    """
    counted = node.args[0].value if type(node) is cst.Call and ex.dotted(node.func) == "len" and node.args else None
    slot = anatomy.facts.slots.of(counted)
    if slot is None or not any(made in (each, *anatomy.facts.values_of(each)) for each in anatomy.facts.appended(slot)):
        return False
    own, maker = slot[1] if slot[0] == "var" else None, anatomy.module.scope_of[made].function
    around = own is not None and own.kind == "function" and own is not maker and not anatomy.calls.reaches_llm(own)
    return (own is maker or around) and not is_parameter(slot)


def _makes_messages(anatomy: Anatomy, loop: cst.For | cst.CompFor) -> bool:
    """Whether each turn of a loop makes a message of its own with one call, and nothing comes back to the loop."""
    if isinstance(loop, cst.CompFor) or any(anatomy.module.inside(loop, rounds.node) for rounds in anatomy.rounds):
        return False
    shown = [ex.dict_items(node) for node in anatomy.module.nodes_of(cst.Dict) if anatomy.module.inside(node, loop)]
    shown += [ex.keywords(node) for node in anatomy.module.nodes_of(cst.Call) if anatomy.module.inside(node, loop)]
    alone = [
        (key, each.elements[0].value)
        for items in shown
        for key, each in items.items()
        if isinstance(each, cst.List) and len(each.elements) == 1
    ]
    return any(key == "tool_calls" or anatomy.facts.is_kind(only, Kind.CALL) for key, only in alone)


def _constant(anatomy: Anatomy, value: cst.BaseExpression, items: dict[str, cst.BaseExpression]) -> SharedId | None:
    """`{"id": "call_0", "name": name, ...}`: the id is a text, and the name is not, as it is in an example.

    Not where it stands in for an id that is missing: an item of the Responses API is told by its `call_id`.
    """
    named = items.get("name")
    if named is None or not ex.text(value) or items.get("id") is not value or _is_chosen(anatomy, named):
        return None
    return SharedId(value, "constant", value)


def _is_chosen(anatomy: Anatomy, named: cst.BaseExpression) -> bool:
    """Whether the program itself says which tool it is, as a script of replies does: a text, or a name for one."""
    if ex.text(named) is not None:
        return True
    slot = anatomy.facts.slots.of(named)
    given = (
        [*default_of(slot), *anatomy.facts.assigned(slot), *anatomy.facts.given(slot)]
        if slot is not None and slot[0] == "var"
        else []
    )
    if not given:
        return ex.dotted(named) in anatomy.module.imports.full
    return all(ex.text(value) is not None for value in given)


def position_in(loop: cst.For | cst.CompFor) -> cst.Name | None:
    """`i` of `for i, x in enumerate(xs)`."""
    if not isinstance(loop.iter, cst.Call) or ex.dotted(loop.iter.func) != "enumerate" or not loop.iter.args:
        return None
    target = loop.target
    if isinstance(target, cst.Tuple) and len(target.elements) == 2:
        first = target.elements[0].value
        return first if isinstance(first, cst.Name) else None
    return None


def results_by_id(anatomy: Anatomy) -> Iterator[tuple[cst.BaseExpression, cst.CSTNode]]:
    """Results for an API that pairs them by name, which have the id of the call for a name: the id, the call's name.

    Where the file puts calls into that form by their names, and takes ids that calls have of their own.
    """
    named = [items["name"] for _, items in anatomy.made if "name" in items and items.keys() & _INPUTS]
    calls = [name for name in named if _is_name_of_call(anatomy, name)]
    read = anatomy.module.nodes_of(cst.Attribute, cst.Subscript, cst.Call) if calls else ()
    if not any(
        (pair := ex.member(node)) is not None and pair[1] == "id" and _is_call(anatomy, pair[0]) for node in read
    ):
        return
    for _, items in anatomy.made:
        pair = ex.member(items["name"]) if {"name", "response"} <= items.keys() else None
        if pair is not None and pair[1] in ANSWERED:
            yield items["name"], calls[0]


def results_by_name(anatomy: Anatomy) -> Iterator[tuple[cst.BaseExpression, cst.CSTNode]]:
    """`results[call.name] = run(call)` in a loop over calls, and `results[call.name]` in another: the key, the read."""
    facts, kept = anatomy.facts, dict[Slot | None, tuple[cst.BaseExpression, cst.CSTNode]]()
    for into, key, value, loop, region in _kept_values(anatomy):
        if facts.is_kind(loop.iter, Kind.CALLS) and _says_name(anatomy, key):
            if _runs_one(anatomy, value, calls_of(anatomy, loop)):
                kept[facts.slots.of(into)] = key, region
    for read in anatomy.module.nodes_of(cst.Subscript, cst.Call) if kept else ():
        at = ex.index(read) if isinstance(read, cst.Subscript) else read.args[0].value if read.args else None
        base = read.value if isinstance(read, cst.Subscript) else ex.receiver(read)
        helpers = (facts.slots.callee(value) for value in facts.values_of(base))
        held = [base, *(value for helper in helpers if helper is not None for value in helper.returned)]
        found = next((kept[slot] for value in held if (slot := facts.slots.of(value)) in kept), None)
        if found is not None and at is not None and _says_name(anatomy, at):
            if not anatomy.module.inside(read, found[1]):
                yield found[0], read


def _kept_values(
    anatomy: Anatomy,
) -> Iterator[tuple[cst.BaseExpression, cst.BaseExpression, cst.BaseExpression, cst.For | cst.CompFor, cst.CSTNode]]:
    """What loops put into dicts: the dict, the key, the value, the loop, and all that runs in it."""
    for node in anatomy.module.nodes_of(cst.Assign):
        target = node.targets[0].target
        at = ex.index(target) if isinstance(target, cst.Subscript) else None
        loop = next((outer for outer in anatomy.module.ancestors(node) if isinstance(outer, cst.For)), None)
        if isinstance(target, cst.Subscript) and at is not None and loop is not None:
            yield target.value, at, node.value, loop, loop
        if isinstance(node.value, cst.DictComp):
            yield target, node.value.key, node.value.value, node.value.for_in, node.value


def _says_name(anatomy: Anatomy, key: cst.BaseExpression) -> bool:
    """Whether a value is the name of the tool that a call asks for."""
    return any(_is_name_of_call(anatomy, value) for value in [key, *anatomy.facts.values_of(key)])


def _runs_one(anatomy: Anatomy, value: cst.BaseExpression, calls: frozenset[Slot]) -> bool:
    """Whether a call, what is written in it, or its arguments are handed to a function."""
    for call in (part for part in walk(value) if isinstance(part, cst.Call)):
        if may_run(call) and anatomy.facts.decoder(call) is None and anatomy.facts.encoder(call) is None:
            given = [part for arg in call.args for part in walk(arg.value) if isinstance(part, cst.Name)]
            if any(
                anatomy.facts.slots.of(part) in calls or anatomy.facts.is_kind(part, Kind.ARGUMENTS) for part in given
            ):
                return True
    return False


def results_of_the_last(anatomy: Anatomy) -> Iterator[tuple[cst.Subscript, cst.CSTNode]]:
    """`state["tool_calls"][-1]["result"] = ...` in a function that did not append that call: the entry, the write."""
    of = anatomy.facts.slots.of
    for node in anatomy.module.nodes_of(cst.Subscript):
        if ex.integer(ex.index(node)) != -1 or not anatomy.facts.is_kind(node.value, Kind.CALLS):
            continue
        function = anatomy.module.scope_of[node].function
        base = ex.source(node.value, 200)
        parent = anatomy.module.parent[node]
        entries = {of(node)} | {of(t.target) for t in parent.targets} if isinstance(parent, cst.Assign) else {of(node)}
        stored = _result_in(anatomy, entries, function)
        if stored is not None and not _grown_in(function, base):
            yield node, stored


def _result_in(anatomy: Anatomy, entries: set[Slot | None], function: Scope) -> cst.BaseExpression | None:
    """The result that a function puts into an entry, as a member or by `entry.update(...)`."""
    facts = anatomy.facts
    for slot in (entry for entry in entries if entry is not None):
        merged = (ex.dict_items(part) if key is None else {key: part} for key, part in facts.merged(slot))
        for key, value in (pair for parts in (facts.members(slot), *merged) for pair in parts.items()):
            if key in _RESULTS and anatomy.module.scope_of[value].function is function:
                return value
    return None


def _grown_in(function: Scope, base: str) -> bool:
    """Whether a function itself puts calls into the list."""
    return any(
        isinstance(node, cst.Call)
        and ex.called_name(node) in {"append", "extend", "insert"}
        and (receiver := ex.receiver(node)) is not None
        and ex.source(receiver, 200) == base
        for node in function.nodes
    )
