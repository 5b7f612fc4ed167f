"""Messages that are left out because one that looks the same is in the history already."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.messages.transcript import Stored
from lint_rules.anatomy.values.kinds import Kind
from lint_rules.anatomy.values.slots import Slot
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.record import record
from lint_rules.syntax.walk import nodes_below, walk
from lint_rules.syntax.word import SAYING, meaning

_ONCE = frozenset({"fromkeys", "set", "frozenset", "unique_everseen"})
_SAYS = ("content", "text", "parts")
_TELLS_NOTHING_ELSE = frozenset({"role", "content", "name", "text", "type", "parts"})


@record
class LeftOut:
    """`node` asks whether a message is new: to the list in `history`, or by a key of its own that is in `seen`.

    Where it is no `if`, it keeps only messages that are not among those of `seen`, or each of `seen` once.
    """

    node: cst.If | cst.BaseExpression
    history: Slot | None
    seen: cst.BaseExpression


def left_out(anatomy: Anatomy) -> Iterator[LeftOut]:
    """Where a file stores a message only if no equal one was there before, and it has nothing that tells them apart."""
    for node in anatomy.module.nodes_of(cst.If):
        question = _question(node.test)
        kept = _kept(anatomy, node, question.is_new) if question is not None else None
        if question is None or kept is None:
            continue
        history = _history(anatomy, question.seen)
        if history is not None and _stores(anatomy, kept, history, question):
            yield LeftOut(node, history, question.seen)
        if _keeps_unseen(anatomy, question.asked, question.seen, kept):
            yield LeftOut(node, None, question.seen)
    yield from _taken_out(anatomy)
    yield from _once_each(anatomy)


def _taken_out(anatomy: Anatomy) -> Iterator[LeftOut]:
    """`[m for m in new if m not in history]`, also by keys: with each that is there go all that are equal to it."""
    for picked in anatomy.module.nodes_of(cst.ListComp, cst.GeneratorExp):
        over = picked.for_in
        question = _question(over.ifs[0].test) if len(over.ifs) == 1 else None
        taken = next((target for listed, target in ex.iterated(over)), over.target)
        if question is None or not question.is_new or not _is_same(picked.elt, taken):
            continue
        seen = ex.unsliced(question.seen)
        if _is_same(question.asked, picked.elt):
            is_out = anatomy.is_history(seen) and _messages_are_values(anatomy)
        else:
            is_out = _key_of(anatomy, question.asked) is not None and _has_keys(anatomy, seen, question.asked)
        if is_out:
            yield LeftOut(picked, anatomy.facts.slots.of(over.iter), question.seen)


def _once_each(anatomy: Anatomy) -> Iterator[LeftOut]:
    """`dict.fromkeys(messages)`, `{(m.role, m.content): m for m in messages}`: of equal ones, one is left."""
    for made in anatomy.module.nodes_of(cst.Call, cst.DictComp):
        if isinstance(made, cst.DictComp):
            over, key = made.for_in, _key_of(anatomy, made.key)
            is_one = key is not None and _is_same(made.value, over.target) and not over.ifs
            listed = over.iter if is_one else None
        else:
            keeps = ex.called_name(made) in _ONCE and (ex.receiver(made) is None or ex.called_name(made) == "fromkeys")
            given = ex.positional(made) if keeps else []
            listed = given[0] if len(given) == 1 else None
        if listed is None:
            continue
        texts = isinstance(listed, (cst.ListComp, cst.GeneratorExp)) and anatomy.facts.encoder(listed.elt) is not None
        while isinstance(listed, (cst.ListComp, cst.GeneratorExp)):
            listed = listed.for_in.iter
        parts = ex.positional(listed) if isinstance(listed, cst.Call) else [listed]
        if any(anatomy.is_history(part) for part in parts):
            if isinstance(made, cst.DictComp) or texts or _messages_are_values(anatomy):
                yield LeftOut(made, next(map(anatomy.facts.slots.of, parts), None), listed)


@record
class _Question:
    """A test whether `asked` is in `seen`; `is_new`: whether it is not. `by_parts`: role and text are asked for."""

    asked: cst.BaseExpression
    seen: cst.BaseExpression
    is_new: bool
    by_parts: bool = False


def _question(test: cst.BaseExpression) -> _Question | None:
    """`m in seen`, `any(x.role == m.role and x.content == m.content for x in seen)`, and that it is not so."""
    test = ex.inner(test)
    if isinstance(test, cst.UnaryOperation) and isinstance(test.operator, cst.Not):
        found = _question(test.expression)
        return replace(found, is_new=not found.is_new) if found is not None else None
    count, least = (test, 1) if isinstance(test, cst.Call) else _counted(test)
    if isinstance(count, cst.Call) and ex.called_name(count) == "count" and (seen := ex.receiver(count)) is not None:
        return _Question(count.args[0].value, seen, least == 0) if len(count.args) == 1 else None
    if isinstance(test, cst.Comparison) and len(test.comparisons) == 1:
        asked, operator, seen = ex.compared(test)
        return _Question(asked, seen, type(operator) is cst.NotIn) if type(operator) in {cst.In, cst.NotIn} else None
    looked = ex.positional(test) if isinstance(test, cst.Call) and ex.dotted(test.func) == "any" else []
    if len(looked) != 1 or not isinstance(looked[0], (cst.GeneratorExp, cst.ListComp)) or looked[0].for_in.ifs:
        return None
    over = looked[0].for_in
    parts = [_compared_part(part, over.target) for part in _both(looked[0].elt)]
    said = {part[0]: part[1] for part in parts if part is not None}
    words = next((said[name] for name in _SAYS if name in said), None)
    if None in parts or words is None or not _TELLS_NOTHING_ELSE.issuperset(said):
        return None
    return _Question(words, over.iter, False, by_parts=True)


def _counted(test: cst.BaseExpression) -> tuple[cst.BaseExpression | None, int]:
    """What a number is compared with: `n` and 0 for `n == 0`, and 1 for `n > 0` and `n >= 1`."""
    count, operator, number = ex.compared(test) if isinstance(test, cst.Comparison) else (None, None, None)
    limit = ex.integer(number)
    if count is None or operator is None or limit is None:
        return None, 0
    passes = [ex.holds(operator, each, limit) for each in (0, 1)]
    return (count, passes.index(True)) if any(passes) and not all(passes) else (None, 0)


def _both(test: cst.BaseExpression) -> list[cst.BaseExpression]:
    """All that has to hold."""
    test = ex.inner(test)
    if isinstance(test, cst.BooleanOperation) and isinstance(test.operator, cst.And):
        return [*_both(test.left), *_both(test.right)]
    return [test]


def _compared_part(test: cst.BaseExpression, of: cst.BaseExpression) -> tuple[str, cst.BaseExpression] | None:
    """`(name, value)` of `x.name == value`, also the other way round, for the `x` that is looked at."""
    if not isinstance(test, cst.Comparison) or len(test.comparisons) != 1:
        return None
    left, operator, right = ex.compared(test)
    for side, other in ((left, right), (right, left)) if type(operator) is cst.Equal else ():
        part = ex.member(side)
        if part is not None and ex.source(part[0]) == ex.source(of):
            return part[1], other
    return None


def _kept(anatomy: Anatomy, node: cst.If, is_new: bool) -> cst.BaseSuite | None:
    """Where one comes to only with what is new: into the body of a test, or past one that leaves with what is not."""
    if is_new:
        return node.body
    if isinstance(node.orelse, cst.Else):
        return node.orelse.body
    around = next((o for o in anatomy.module.ancestors(node) if isinstance(o, (cst.For, cst.FunctionDef))), None)
    leaves = cst.Continue if isinstance(around, cst.For) else cst.Return
    return around.body if around is not None and node.orelse is None and nodes_below(node.body, leaves) else None


# -- an equal message in the history ------------------------------------------------------------------------------


def _history(anatomy: Anatomy, container: cst.BaseExpression) -> Slot | None:
    """The history that `container` is, or whose contents it lists: `[m["content"] for m in history]`."""
    if isinstance(container, (cst.ListComp, cst.SetComp, cst.GeneratorExp)):
        pair = ex.member(container.elt)
        if pair is None or pair[1] not in _SAYS or container.for_in.ifs:
            return None
        container = container.for_in.iter
    if not isinstance(container, (cst.Name, cst.Attribute)) or Kind.HISTORY not in anatomy.facts.kinds(container):
        return None
    return anatomy.facts.slots.of(container)


def _stores(anatomy: Anatomy, region: cst.CSTNode, history: Slot, question: _Question) -> bool:
    """Whether a region stores in a history what was asked for."""
    return any(_is_asked(anatomy, stored, question) for stored in _stored_in(anatomy, region, history))


def _is_asked(anatomy: Anatomy, stored: Stored, question: _Question) -> bool:
    if not question.by_parts:
        return _is_value(anatomy, stored, question.asked)
    content = stored.message.content if stored.message is not None else None
    return content is not None and ex.source(content, 200) == ex.source(question.asked, 200)


def _stored_in(anatomy: Anatomy, region: cst.CSTNode, slot: Slot) -> Iterator[Stored]:
    function = anatomy.module.scope_of[region].function
    for stored in anatomy.transcript.stored(function):
        if stored.slot == slot and stored.kind == "append" and anatomy.module.inside(stored.node, region):
            if stored.role in {"user", "assistant", None} and not stored.answers:
                yield stored


def _is_value(anatomy: Anatomy, stored: Stored, value: cst.BaseExpression) -> bool:
    """Whether what is stored is the value that was asked for, or a message with it as content; without an id."""
    message = stored.message
    if message is None:
        return False
    made = message.node
    if _has_identity(made) or any(_has_identity(v) for v in anatomy.facts.values_of(made)):
        return False
    asked = ex.source(value, 200)
    wrote = stored.write.value if stored.write is not None else None
    if wrote is not None and ex.source(wrote, 200) == asked:
        return message.role is not None or _is_plain(anatomy, value)
    part = ex.member(value)
    if wrote is not None and part is not None and part[1] in _SAYS and _is_same(part[0], wrote):
        return True
    return message.content is not None and ex.source(message.content, 200) == asked


def _is_plain(anatomy: Anatomy, value: cst.BaseExpression) -> bool:
    """Whether a message is known to be equal to another one that says the same."""
    if isinstance(value, cst.Name) and meaning(value.value) == SAYING:
        return True
    shown = anatomy.facts.evidence(value, Kind.MESSAGE)
    if any(step.reason.startswith("has `role`") for fact in shown for step in fact.chain()):
        return True
    return bool(shown) and _messages_are_values(anatomy)


def _messages_are_values(anatomy: Anatomy) -> bool:
    """Whether the messages that a file makes are compared by what they say: dicts, records, and none has an id."""
    told = [(n, items["role"]) for n, items in anatomy.made if "role" in items and "tool_calls" not in items]
    displays = [n for n, role in told if ex.text(role) not in {"system", "developer", "tool"}]
    return any(map(ex.is_dict, displays)) and not any(map(_has_identity, displays))


def _has_identity(node: cst.BaseExpression) -> bool:
    named = ex.keywords(node) if isinstance(node, cst.Call) else {}
    return any(map(_tells_apart, [*ex.dict_items(node), *named]))


def _tells_apart(key: str) -> bool:
    """Whether a field says which one of many something is, or when it came."""
    return "id" in key.lower().split("_") or "time" in key.lower() or key in {"index", "created_at", "ts"}


# -- a key that was seen ------------------------------------------------------------------------------------------


def _keeps_unseen(anatomy: Anatomy, key: cst.BaseExpression, seen: cst.BaseExpression, region: cst.BaseSuite) -> bool:
    """Whether a region notes a key made of a message's text, and keeps the message."""
    slot, message = anatomy.facts.slots.of(seen), _key_of(anatomy, key)
    if slot is None:
        return False
    noted = [t for node in nodes_below(region, cst.Assign) for t in ex.targets(node) if isinstance(t, cst.Subscript)]
    adds = any(anatomy.facts.slots.of(t.value) == slot and _is_same(ex.index(t), key) for t in noted)
    appends = message is None and _stores_what_is_in(anatomy, key, region)
    for call in nodes_below(region, cst.Call):
        base = ex.receiver(call)
        if base is None or ex.called_name(call) not in {"add", "append", "insert"} or not call.args:
            continue
        if anatomy.facts.slots.of(base) == slot and _is_same(call.args[-1].value, key):
            adds = True
        elif message is not None and anatomy.facts.slots.of(call.args[-1].value) == message:
            appends = True
    return adds and appends


def _key_of(anatomy: Anatomy, key: cst.BaseExpression) -> Slot | None:
    """The message of which a key tells what it says, and nothing else but who."""
    parts = _parts_of_key(anatomy, key)
    names, messages = {name for _, name in parts}, {base for base, _ in parts}
    said = _said(anatomy) | {*_SAYS}
    if names.isdisjoint(said) or not names <= _TELLS_NOTHING_ELSE | said or len(messages) != 1:
        return None
    message = messages.pop()
    return message if Kind.MESSAGE in anatomy.facts.of(message) else None


def _has_keys(anatomy: Anatomy, seen: cst.BaseExpression, key: cst.BaseExpression) -> bool:
    """Whether a container holds such keys of messages: `known = {(m.role, m.content) for m in history}`."""
    wanted = {name for _, name in _parts_of_key(anatomy, key)}
    made = [each for each in anatomy.facts.values_of(seen) or [seen] if isinstance(each, (cst.SetComp, cst.ListComp))]
    return any(
        {name for _, name in _parts_of_key(anatomy, each.elt)} == wanted and not each.for_in.ifs for each in made
    )


def _stores_what_is_in(anatomy: Anatomy, key: cst.BaseExpression, region: cst.BaseSuite) -> bool:
    """Whether a region stores a message of whose parts, and nothing else, a key is made: `md5(role + text)`."""
    module, of = anatomy.module, anatomy.facts.slots.of
    parts = [part for value in (key, *anatomy.facts.values_of(key)) for part in walk(value)]
    called = {part.func for part in parts if isinstance(part, cst.Call)}
    names = {n for n in parts if isinstance(n, cst.Name) and n is not key and n.value not in module.imports.full}
    used = {of(name) for name in names - called}
    for stored in anatomy.transcript.stored(module.scope_of[region].function):
        message = stored.message
        if message is None or stored.kind != "append" or not module.inside(stored.node, region):
            continue
        content = of(message.content)
        if stored.role != "system" and content in used - {None} and not stored.answers and stored.calls is None:
            said = {of(value) for value in ex.dict_items(message.node).values()}
            if used <= said and not _has_identity(message.node):
                return True
    return False


def _is_same(node: cst.BaseExpression | None, other: cst.BaseExpression) -> bool:
    return node is not None and ex.source(node, 200) == ex.source(other, 200)


def _parts_of_key(anatomy: Anatomy, key: cst.BaseExpression) -> set[tuple[Slot, str]]:
    """The members that a key is made of, each with the slot of the message: `(m, "role")`, `(m, "content")`.

    Of the values that its names may have here; none where anything in them tells two messages apart, as an id does.
    """
    found: set[tuple[Slot, str]] = set()
    queue = [key]
    for value in queue:
        parts = [*walk(value)]
        read = {part.func for part in parts if isinstance(part, cst.Call)}  # `m.get`, of `m.get("role")`
        for part in (part for part in parts if part not in read):
            pair = ex.member(part)
            slot = anatomy.facts.slots.of(pair[0]) if pair is not None else None
            if pair is not None and slot is not None and Kind.MESSAGE in anatomy.facts.of(slot):
                found.add((slot, pair[1]))
            elif pair is not None and _tells_apart(pair[1]):
                return set()
            elif isinstance(part, cst.Name):
                given = [bound.value for bound in anatomy.definitions(part) if bound.kind == "assign"]
                queue += [each for each in given if each is not None and each not in queue]
    return found


def _said(anatomy: Anatomy) -> set[str]:
    """What a file calls that which a message says: with nothing else, beside a role, it makes messages."""
    made = [items.keys() - {"role"} for node, items in anatomy.made if anatomy.facts.is_kind(node, Kind.MESSAGE)]
    return {"content"}.union(*(rest for rest in made if len(rest) == 1))
