"""What a program keeps as said by the model, and where that comes from: whoever gets a history and gives it is asked.

`{"role": "assistant", "content": text}`, `Turn("model", parts)`, `store.add(chat, "assistant", text)`: what stands
there was given by a model, by whatever function, and through whatever names, parts and lists it came.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import libcst as cst

from lint_rules.anatomy import vocabulary as words
from lint_rules.anatomy.values.kinds import Kind
from lint_rules.anatomy.values.known import Known, sources
from lint_rules.anatomy.values.slots import Slot
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.module import Scope

_PAYLOADS = frozenset({"content", "text", "parts", "tool_calls"})
_TAKING = frozenset({"pop", "popleft"})


def come_from(facts: Known) -> frozenset[Slot]:
    """The places of which a part, or all, is kept as said by the model; calls among them.

    Not those behind a history: what is in there was said before, and is only put into another form.
    """
    return origins(facts, _kept(facts), behind=Kind.HISTORY)


def origins(facts: Known, values: Iterable[cst.BaseExpression], *, behind: Kind | None = None) -> frozenset[Slot]:
    """The places from which values come, or of which they are a part, an element, or form; none `behind` a kind."""
    found: set[Slot] = set()
    queue = [*values]
    for value in queue:
        for part in ex.alternatives(value):
            slot = facts.slots.of(part)
            if slot is not None and slot not in found and behind not in facts.of(slot):
                found.add(slot)
                queue += [*facts.assigned(slot), *facts.gone_through(slot)]
                queue += [part for whole, number in facts.unpacked(slot) for part in _unpacked(facts, whole, number)]
                queue += [arg.value for call in facts.grown(slot) for arg in call.args]
                queue += given_back(slot[1]) if slot[0] == "return" else facts.given(slot)
            queue += _made_of(part)
    return frozenset(found)


def _unpacked(facts: Known, whole: cst.BaseExpression, number: int) -> list[cst.BaseExpression]:
    """What `b` of `a, b = f()` comes from: that part of the tuples which a function of the file gives back."""
    callee = facts.slots.callee(ex.inner(whole))
    given = [ex.several(value) for value in given_back(callee)] if callee is not None else []
    return [whole, *(parts[number] for parts in given if len(parts) > number)]


def given_back(function: Scope) -> list[cst.BaseExpression]:
    """What a function returns or yields."""
    return [
        node.value for node in function.nodes_of(cst.Return, cst.Yield) if isinstance(node.value, cst.BaseExpression)
    ]


def _kept(facts: Known) -> Iterator[cst.BaseExpression]:
    for node in facts.module.nodes_of(cst.Dict):
        items = ex.dict_items(node)
        if "role" in items and ex.text(items["role"]) in words.SAID:
            yield from (items[key] for key in _PAYLOADS & items.keys())
    for call in facts.module.nodes_of(cst.Call):
        for place, arg in enumerate(call.args):
            if ex.text(arg.value) in words.SAID:
                beside = call.args[place + 1 : place + 2]
                named = (other for other in call.args if other.keyword is not None and other.keyword.value in _PAYLOADS)
                yield from (other.value for other in (*beside, *named))


def _made_of(value: cst.BaseExpression) -> list[cst.BaseExpression]:
    """What a value is a part, a copy, or another form of."""
    pair = ex.member(value)
    if pair is not None:
        return [pair[0]]
    if type(value) is cst.Subscript:
        return [value.value]
    if type(value) is cst.ListComp or type(value) is cst.GeneratorExp:
        return [value.for_in.iter]
    base = ex.receiver(value)
    if base is not None and type(value) is cst.Call and ex.called_name(value) in _TAKING:
        return [base]
    if type(value) is cst.Call and ex.called_name(value) in words.TEXT_FUNCTIONS:
        return [*([base] if base is not None else []), *ex.positional(value)]
    spread = [arg.value for arg in value.args if arg.star == "**"] if type(value) is cst.Call else []
    if len(spread) == 1 and type(value) is cst.Call and ex.called_name(value)[:1].isupper():
        return spread  # `Step(**json.loads(text))`
    return sources(value)
