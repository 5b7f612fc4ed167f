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

_SAYS = ("content", "text", "parts")
_TELLS_NOTHING_ELSE = frozenset({"role", "content", "name", "text", "type", "parts"})


@record
class LeftOut:
    """`node` asks whether a message is new: to the list in `history`, or by a key of its own that is in `seen`.

    Where it takes messages out of `history`, it asks whether they are among those of `seen`.
    """

    node: cst.If | cst.ListComp
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


def _taken_out(anatomy: Anatomy) -> Iterator[LeftOut]:
    """`history = [m for m in history if m not in old]`: with each that is in `old` go all that are equal to it."""
    for picked in anatomy.module.nodes_of(cst.ListComp):
        over, outer = picked.for_in, anatomy.module.parent[picked]
        question = _question(over.ifs[0].test) if len(over.ifs) == 1 else None
        targets = ex.assigned(outer)
        if question is None or not question.is_new or [ex.source(each) for each in targets] != [ex.source(over.iter)]:
            continue
        same = {ex.source(each) for each in (over.target, picked.elt, question.asked)}
        history = _history(anatomy, over.iter) if len(same) == 1 else None
        if history is not None and Kind.HISTORY in anatomy.facts.kinds(question.seen) and _messages_are_values(anatomy):
            yield LeftOut(picked, history, question.seen)


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
            if stored.role in {"user", "assistant", None} and not stored.answers and stored.calls is None:
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
    made = [
        stored.message.node
        for function in anatomy.module.functions
        for stored in anatomy.transcript.stored(function)
        if stored.message is not None and stored.role in {"user", "assistant"} and stored.calls is None
    ]
    nodes = [value for node in made for value in (node, *anatomy.facts.values_of(node))]
    displays = [node for node in nodes if isinstance(node, (cst.Dict, cst.Call))]
    return any(map(ex.is_dict, displays)) and not any(map(_has_identity, displays))


def _has_identity(node: cst.BaseExpression) -> bool:
    keys = set(ex.dict_items(node))
    if isinstance(node, cst.Call):
        keys |= {arg.keyword.value for arg in node.args if arg.keyword is not None}
    return any(map(_tells_apart, keys))


def _tells_apart(key: str) -> bool:
    """Whether a field says which one of many something is, or when it came."""
    return "id" in key.lower().split("_") or "time" in key.lower() or key in {"index", "created_at", "ts"}


# -- a key that was seen ------------------------------------------------------------------------------------------


def _keeps_unseen(anatomy: Anatomy, key: cst.BaseExpression, seen: cst.BaseExpression, region: cst.BaseSuite) -> bool:
    """Whether a region notes a key made of a message's text, and keeps the message."""
    parts = _parts_of_key(anatomy, key)
    slot = anatomy.facts.slots.of(seen)
    names, messages = {name for _, name in parts}, {base for base, _ in parts}
    said = _said(anatomy) | {*_SAYS}
    if slot is None or names.isdisjoint(said) or not names <= _TELLS_NOTHING_ELSE | said or len(messages) != 1:
        return False
    message = messages.pop()
    if Kind.MESSAGE not in anatomy.facts.of(message):
        return False
    noted = [t for node in nodes_below(region, cst.Assign) for t in ex.targets(node) if isinstance(t, cst.Subscript)]
    adds = any(anatomy.facts.slots.of(t.value) == slot and _is_same(ex.index(t), key) for t in noted)
    appends = False
    for call in nodes_below(region, cst.Call):
        base = ex.receiver(call)
        if base is None or ex.called_name(call) not in {"add", "append", "insert"} or not call.args:
            continue
        if anatomy.facts.slots.of(base) == slot and _is_same(call.args[-1].value, key):
            adds = True
        elif anatomy.facts.slots.of(call.args[-1].value) == message:
            appends = True
    return adds and appends


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
