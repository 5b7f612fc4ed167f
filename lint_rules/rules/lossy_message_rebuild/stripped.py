"""Tool calls and results that are made anew from others, with parts left behind that those have.

Calls: `{"id": c.id, "function": {"name": c.function.name}}` without arguments. Results: `{"role": "tool", ...}`
without the id of the call that they answer.
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.messages.messages import ROLES
from lint_rules.anatomy.messages.recast import put_later
from lint_rules.anatomy.messages.sent import what_is_sent
from lint_rules.anatomy.values.kinds import Kind
from lint_rules.anatomy.values.slots import Slot
from lint_rules.anatomy.vocabulary import CALL_TAGS, CALL_WRAPPERS
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.conditions import passed
from lint_rules.syntax.mentions import names_in
from lint_rules.syntax.module import Scope, parameters
from lint_rules.syntax.record import record
from lint_rules.syntax.walk import walk
from lint_rules.syntax.word import meaning

_ARGUMENTS = frozenset({"arguments", "input", "args"})
_BESIDE = frozenset({"function", "index"}) | CALL_WRAPPERS
_IDS = ("id", "call_id", "tool_call_id", "toolUseId")
_TOOL_USE = frozenset({"tool_use", "toolUse"})
_PIECE = "partial_json"
_ADDING = frozenset({"update", "append", "setdefault", "extend", "write"})
_SCHEMA_FIELDS = frozenset({"parameters", "description", "strict"})


@record
class Stripped:
    """`node` makes the new message or call, without `lost`; `shows` is the place that shows that the old has it."""

    node: cst.BaseExpression
    lost: str
    shows: cst.CSTNode


# -- calls and results without their parts ------------------------------------------------------------------------


def stripped_calls(anatomy: Anatomy) -> Iterator[Stripped]:
    """Tool calls of assistant messages that are made of others, or of what is told of them, without arguments or id."""
    ids = _has_ids(anatomy)
    for node in _rebuilt_calls(anatomy):
        items = {**ex.made_of(node), **put_later(anatomy, node)}
        key, parts = _parts(items)
        if _has_more(node) or (key is not None and _has_more(items[key])):
            continue
        source = _call_in(anatomy, node)
        if source is None or (isinstance(node, cst.Call) and key is None) or any(map(_is_begun, items.values())):
            told = _told_of(anatomy, node, key, parts)
            if told is not None:
                yield Stripped(node, "arguments", told)
        elif "name" in parts and not _SCHEMA_FIELDS & set(parts) and (key is not None or _is_marked(items)):
            given = next((parts[word] for word in _ARGUMENTS if word in parts), None)
            if _is_left_out(anatomy, node, given):
                yield Stripped(
                    node, "input" if "input" in parts or _TOOL_USE & {key, _tag(items)} else "arguments", source
                )
            elif "id" not in items and (_tag(items) == "tool_use" or (key == "function" and ids)):
                if key is None or not _has_no_ids(anatomy, node, given):
                    yield Stripped(node, "id", source)


def _parts(items: dict[str, cst.BaseExpression]) -> tuple[str | None, dict[str, cst.BaseExpression]]:
    """The key under which a call has its name and arguments, and what there is."""
    key = next((word for word in ("function", *CALL_WRAPPERS) if word in items), None)
    inside = items[key] if key is not None else None
    return key, ex.made_of(inside) if isinstance(inside, (cst.Dict, cst.Call)) else items if key is None else {}


def _has_more(node: cst.BaseExpression) -> bool:
    """Whether a display or constructor has parts that it does not name."""
    if isinstance(node, cst.Call):
        return any(arg.keyword is None for arg in node.args)
    return any(isinstance(element, cst.StarredDictElement) for element in getattr(node, "elements", ()))


def _tag(items: dict[str, cst.BaseExpression]) -> str | None:
    return ex.text(items["type"]) if "type" in items else None


def _is_marked(items: dict[str, cst.BaseExpression]) -> bool:
    """Whether what is made says by its type, or by an id, that it is a call."""
    return _tag(items) in CALL_TAGS or not items.keys().isdisjoint(_IDS)


def _is_left_out(anatomy: Anatomy, node: cst.CSTNode, arguments: cst.BaseExpression | None) -> bool:
    """Whether a call is made without its arguments, or with empty ones that nothing fills.

    Where an error has been met, or what the model wrote has been looked at, they are meant to be empty.
    """
    if arguments is None:
        return True
    if not _is_empty(arguments) or any(type(outer) is cst.ExceptHandler for outer in anatomy.module.ancestors(node)):
        return False
    tests = (part for each, _ in passed(anatomy.module, node) for part in walk(each.test))
    looked = (ex.member(part) for part in tests)
    return not any(pair is not None and pair[1] in _ARGUMENTS for pair in looked) and not _is_filled(anatomy, node)


def _is_filled(anatomy: Anatomy, node: cst.CSTNode) -> bool:
    """Whether the arguments of what a display makes are set, or added to, later."""
    bases = (pair[0] for pair in _places_of_arguments(anatomy))
    queue, seen = [part for base in bases for part in walk(base)], set[cst.CSTNode]()
    while queue:
        part = queue.pop()
        if part is node:
            return True
        slot = anatomy.facts.slots.of(part) if isinstance(part, cst.BaseExpression) and part not in seen else None
        seen.add(part)
        queue += [inside for value in _put_into(anatomy, slot) for inside in walk(value)] if slot is not None else []
    return False


def _told_of(
    anatomy: Anatomy, node: cst.Dict | cst.Call, wrapped: str | None, parts: dict[str, cst.BaseExpression]
) -> cst.CSTNode | None:
    """What has told the id and the name of a call that is made without its arguments, which nobody adds later.

    An event, a row, a handler's parameters: `Call(event.id, event.name)`.
    """
    items = ex.made_of(node)
    name, parts = parts.get("name"), {**items, **parts}
    if isinstance(node, cst.Call) and meaning(ex.called_name(node)) != "class of call":
        return None
    if isinstance(node, cst.Dict) and wrapped is None and "input" not in items and _tag(items) not in CALL_TAGS:
        return None
    if any(key in parts and not _is_empty(parts[key]) for key in _ARGUMENTS) or _SCHEMA_FIELDS & set(parts):
        return None
    key = next((parts[key] for key in _IDS if key in parts), None)
    said = _teller(anatomy, key) if key is not None else None
    if said is None or name is None or said != _teller(anatomy, name) or _are_added(anatomy):
        return None
    others = (value for part, value in parts.items() if value not in (key, name) and part not in _BESIDE | _ARGUMENTS)
    return name if all(isinstance(value, cst.SimpleString) for value in others) else None


def _is_empty(value: cst.BaseExpression) -> bool:
    """`{}`, `dict()`, `""`, `"{}"`, `None`; and what Anthropic's stream begins a call with: its pieces are to come."""
    if _is_begun(value):
        return True
    return ex.text(value) in {"", "{}"} or ex.source(value) in {"{}", "dict()", "None"}


def _is_begun(value: cst.BaseExpression) -> bool:
    """`event.content_block.input` of Anthropic's stream: the input is empty where its block begins."""
    pair = ex.member(value)
    block = ex.member(pair[0]) if pair is not None and pair[1] == "input" else None
    return block is not None and block[1] == "content_block"


def _teller(anatomy: Anatomy, value: cst.BaseExpression) -> object:
    """What a value is taken from: the object that it is a part of, a row, a pattern, a function's parameters."""
    pair = ex.member(value) or ex.asked(value)
    if pair is not None:
        return ex.source(pair[0], 200)
    if not isinstance(value, cst.Name):
        return None
    function = anatomy.module.scope_of[value].function
    for outer in anatomy.module.ancestors(value):
        loop = outer if isinstance(outer, cst.For) else getattr(outer, "for_in", None)
        if loop is not None and value.value in ex.target_names(loop.target):
            return loop
        if isinstance(outer, cst.MatchCase):
            bound = (part.name for part in walk(outer.pattern) if isinstance(part, cst.MatchAs))
            if any(name is not None and name.value == value.value for name in bound):
                return outer
    given = [p.name.value for p in parameters(function)]
    return function if value.value in given else None


def _are_added(anatomy: Anatomy) -> bool:
    """Whether anything in the file sets, or adds to, the arguments of a call, makes one with them, or reads a piece."""
    reads = (ex.member(node) for node in anatomy.module.nodes_of(cst.Attribute, cst.Subscript, cst.Call))
    if any(pair is not None and pair[1] == _PIECE for pair in reads):
        return True
    for call in anatomy.module.nodes_of(cst.Call):
        name = ex.called_name(call)
        made = meaning(name) == "class of call" or name in {"replace", "model_copy"}
        if made and not _ARGUMENTS.isdisjoint(ex.keywords(call)):
            return True
    return any(_places_of_arguments(anatomy))


def _places_of_arguments(anatomy: Anatomy) -> Iterator[tuple[cst.BaseExpression, str]]:
    """Where arguments are set, or added to: of what, and how they are called."""
    calls = anatomy.module.nodes_of(cst.Call)
    places = [ex.receiver(call) for call in calls if ex.called_name(call) in _ADDING]
    for node in (*anatomy.module.nodes_of(cst.Assign, cst.AnnAssign), *anatomy.module.nodes_of(cst.AugAssign)):
        places += ex.targets(node)
    members = (ex.member(place) for place in places if place is not None)
    yield from (member for member in members if member is not None and member[1] in _ARGUMENTS)


def _has_no_ids(anatomy: Anatomy, node: cst.CSTNode, arguments: cst.BaseExpression | None) -> bool:
    """Whether a call has the form of an API without ids: its arguments are decoded, or its result names the tool alone.

    Ollama API, chat: `arguments` is an object, and a result has `tool_name`. With ids, `arguments` is text (OpenAI).
    """
    kinds = anatomy.facts.kinds(arguments) if arguments is not None else {}
    if Kind.ARGUMENTS in kinds and Kind.ARGUMENTS_TEXT not in kinds:
        return True
    for other in anatomy.module.scope_of[node].function.nodes_of(cst.Dict):
        items = ex.dict_items(other)
        if "role" in items and ex.text(items["role"]) == "tool" and {"tool_name", "name"} & set(items):
            if not any("id" in key.split("_") for key in items):
                return True
    return False


def stripped_results(anatomy: Anatomy) -> Iterator[Stripped]:
    """Tool messages without the id of their call, in files that ask APIs with ids, where the call is at hand."""
    if not _has_ids(anatomy):
        return
    sent = what_is_sent(anatomy)
    for function in anatomy.module.functions:
        for stored in anatomy.transcript.stored(function):
            write = stored.write
            if stored.role != "tool" or write is None or write.node is not stored.node or write.value is None:
                continue
            node = ex.inner(write.value)
            items = ex.dict_items(node)
            if "role" not in items or ex.text(items["role"]) != "tool":
                continue
            if any("id" in key.split("_") for key in items) or not isinstance(items.get("content"), cst.BaseExpression):
                continue
            if isinstance(node, cst.Dict) and len(items) == len(node.elements) and stored.slot in sent.slots:
                call = _loop_over_calls(anatomy, stored.node)
                if call is not None:
                    yield Stripped(node, "tool_call_id", call)


def silenced(anatomy: Anatomy) -> Iterator[Stripped]:
    """Messages with the calls of a reply that say nothing, whatever the reply says: nobody has stored its text."""
    sent = what_is_sent(anatomy).nodes
    for node, items in anatomy.made:
        if "role" not in items or ex.text(items["role"]) != "assistant" or not _is_wordless(node, items):
            continue
        function = anatomy.module.scope_of[node].function
        calls = items.get("tool_calls")
        shows = _calls_in(anatomy, calls) if calls is not None else None
        if shows is None or _is_stored_before(anatomy, node, function, shows):
            continue
        if not anatomy.calls.reaches_llm(function) and not (node in sent and _says_something(anatomy, shows)):
            continue
        if not any(anatomy.single_calls) and not _sets_content(anatomy, node):
            yield Stripped(node, "content", shows)


def _is_wordless(node: cst.Dict | cst.Call, items: dict[str, cst.BaseExpression]) -> bool:
    """Whether the content of a message is empty, or it is made of nothing but its role and calls."""
    if "content" in items:
        return _is_empty(items["content"])
    parts = node.args if isinstance(node, cst.Call) else node.elements
    return items.keys() == {"role", "tool_calls"} and len(parts) == len(items)


def _calls_in(anatomy: Anatomy, calls: cst.BaseExpression) -> cst.CSTNode | None:
    """The calls of a reply, or the pieces of its stream, that calls are, or are made of."""
    facts, slot = anatomy.facts, anatomy.facts.slots.of(calls)
    for value in [calls, *(_put_into(anatomy, slot) if slot is not None else ())]:
        around = (*anatomy.module.ancestors(value), *walk(value))
        listed = [node.iter for node in around if isinstance(node, (cst.For, cst.CompFor))]
        named = (made for each in listed for made in facts.values_of(each))
        for part in (part for region in (value, *listed, *named) for part in walk(region)):
            pair = ex.member(part) or ex.asked(part)
            if pair is not None and pair[1] == "tool_calls":
                return part
        filled = (place for each in listed if (place := facts.slots.of(each)) is not None)
        for piece in (piece for place in filled for piece in facts.appended(place)):
            name = facts.slots.of_name(piece)
            if name is not None and any(ex.inner(each) in facts.calls for each in facts.gone_through(name)):
                return piece
    return None


def _is_stored_before(anatomy: Anatomy, node: cst.CSTNode, function: Scope, shows: cst.CSTNode) -> bool:
    """Whether an assistant's text is stored by itself since there is the reply that has the calls."""
    said = [s.node for s in anatomy.transcript.stored(function) if s.role == "assistant" and s.calls is None]
    names = names_in(shows)
    loops = (outer for outer in anatomy.module.ancestors(node) if isinstance(outer, cst.For))
    taken = (loop for loop in loops if not names.isdisjoint(ex.target_names(loop.target)))
    begun = anatomy.points(function, (*anatomy.calls.llm_calls[function], *taken))
    return bool(said) and anatomy.leads(function, said, [node], begun)


def _says_something(anatomy: Anatomy, shows: cst.CSTNode) -> bool:
    """Whether the file reads, too, what the message says that has the calls."""
    pair = ex.member(shows) or ex.asked(shows)
    slot = anatomy.facts.slots.of(pair[0]) if pair is not None else None
    others = (
        ex.member(node) or ex.asked(node) for node in anatomy.module.nodes_of(cst.Attribute, cst.Subscript, cst.Call)
    )
    read = (other[0] for other in others if other is not None and other[1] == "content")
    return slot is not None and any(anatomy.facts.slots.of(base) == slot for base in read)


def _sets_content(anatomy: Anatomy, node: cst.CSTNode) -> bool:
    """Whether the content is set later, on a message that is named."""
    statement = anatomy.module.statement(node)
    targets = ex.assigned(statement)
    slots = {anatomy.facts.slots.of(target) for target in targets}
    for other in anatomy.module.nodes_of(cst.Assign, cst.AugAssign):
        pairs = (ex.member(target) for target in ex.targets(other))
        if any(p is not None and p[1] == "content" and anatomy.facts.slots.of(p[0]) in slots - {None} for p in pairs):
            return True
    return False


def _has_ids(anatomy: Anatomy) -> bool:
    """Whether all requests of a file go to APIs whose calls have ids: not to Ollama, nor to the old functions."""
    names = [call.name.lower() for call in anatomy.facts.calls.values()]
    if not names or any("ollama" in name for name in names):
        return False
    return not any("ollama" in origin for origin in anatomy.module.imports.origin) and any(
        "completion" in name or "chat.complete" in name for name in names
    )


def _rebuilt_calls(anatomy: Anatomy) -> Iterator[cst.Dict | cst.Call]:
    """What becomes an element of `tool_calls`, or of the content, of assistant messages made here."""
    facts = anatomy.facts
    roles = ((items, ROLES.get(ex.text(items["role"]) or "")) for _, items in anatomy.made if "role" in items)
    said = [items for items, role in roles if role == "assistant"]
    queue = [items[key] for items in said for key in ("tool_calls", "content", "parts") if key in items]
    for function in anatomy.module.functions:
        queue += [stored.calls for stored in anatomy.transcript.stored(function) if stored.calls is not None]
    seen: set[cst.CSTNode] = set()
    while queue:
        value = ex.inner(queue.pop())
        if value in seen:
            continue
        seen.add(value)
        if isinstance(value, cst.Dict) or (isinstance(value, cst.Call) and ex.made_of(value)):
            yield value
        elif isinstance(value, (cst.ListComp, cst.GeneratorExp)):
            queue.append(value.elt)
        elif isinstance(value, (cst.List, cst.Tuple)):
            queue.extend(element.value for element in value.elements)
        elif isinstance(value, (cst.IfExp, cst.BooleanOperation)):
            queue.extend(ex.alternatives(value))
        elif isinstance(value, cst.Call):
            base = ex.receiver(value)
            queue.extend(arg.value for arg in value.args if ex.dotted(value.func) in {"list", "tuple"})
            queue.extend([base] if base is not None and ex.called_name(value) in {"values", "copy"} else [])
            callee = facts.slots.callee(value)
            given = (node.value for node in callee.nodes_of(cst.Return)) if callee is not None else ()
            queue.extend(node for node in given if node is not None)
        else:
            slot = facts.slots.of(value)
            queue.extend(_put_into(anatomy, slot) if slot is not None else ())


def _put_into(anatomy: Anatomy, slot: Slot) -> Iterator[cst.BaseExpression]:
    """What a name or an attribute is set to, what is put into its list or dict, and what it is one of."""
    facts = anatomy.facts
    yield from (*facts.assigned(slot), *facts.appended(slot), *facts.assigned(("item", slot)))
    yield from _merged(anatomy, slot)
    if slot[0] == "var":
        yield from (*facts.gone_through(slot), *facts.given(slot))


def _merged(anatomy: Anatomy, slot: Slot) -> Iterator[cst.BaseExpression]:
    """The displays that are merged into a dict: `block.update({"id": ..., "name": ...})`."""
    for key, value in anatomy.facts.merged(slot):
        whole = value if key is None else anatomy.module.parent.get(anatomy.module.parent[value])
        if isinstance(whole, cst.Dict):
            yield whole


def _call_in(anatomy: Anatomy, node: cst.CSTNode) -> cst.CSTNode | None:
    """A part of a tool call of a reply that a new one is made of."""
    for part in walk(node):
        if type(part) in {cst.Name, cst.Attribute}:
            kinds = anatomy.facts.kinds(part)  # type: ignore[arg-type]
            if Kind.CALL in kinds or Kind.FUNCTION in kinds:
                return part
    return None


def _loop_over_calls(anatomy: Anatomy, node: cst.CSTNode) -> cst.CSTNode | None:
    for outer in anatomy.module.ancestors(node):
        if isinstance(outer, cst.For) and Kind.CALLS in anatomy.facts.kinds(outer.iter):
            return outer
        if isinstance(outer, cst.FunctionDef):
            return None
    return None
