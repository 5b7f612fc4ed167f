"""AGL601: the call gets a tool message before the `continue` that passes it over, in the form of the loop's others.

The form is copied from an answer that the same loop appends: the list, the keys, the id. Only its text is new. Nothing
is done where the result has another form than text, or where the id is not read off the call itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.calls.answers import is_answer
from lint_rules.obligations.waiting import Taken
from lint_rules.repairs.edits import Edits, Fix, block_of, line_of, of_the_file
from lint_rules.rules.missing_tool_result.escapes import Escape
from lint_rules.syntax import expressions as ex

_TEXT = '"error: this call was not executed"'
_KEPT = frozenset({"role", "type", "tool_call_id", "tool_use_id", "call_id"})
_SAID = frozenset({"content", "output"})
_NO_TEXT = (cst.List, cst.Dict, cst.ListComp, cst.Tuple)


@of_the_file
def repair(anatomy: Anatomy, taken: Taken, escape: Escape) -> Fix | None:
    """An answer before the `continue`; None where the loop does not show its form."""
    line = line_of(anatomy.module, escape.jump) if taken.loop and isinstance(escape.jump, cst.Continue) else None
    block = block_of(anatomy.module, line) if line is not None else None
    answer = next(_answers(anatomy, taken), None) if line is not None else None
    if line is None or block is None or answer is None:
        return None

    def build() -> Edits:
        def inserted(statements: list[Any]) -> list[Any]:
            at = list(block.body).index(line)
            here = statements[at]
            first = answer.with_changes(leading_lines=here.leading_lines)
            return [*statements[:at], first, here.with_changes(leading_lines=[]), *statements[at + 1 :]]

        return Edits(changed={block: inserted})

    return Fix("answer the call before the loop goes on", "unsafe", build)


def _answers(anatomy: Anatomy, taken: Taken) -> Iterator[cst.SimpleStatementLine]:
    """The answers that the loop appends, as statements with a text of their own; not to a list that it makes anew."""
    assert taken.loop is not None
    slots = anatomy.facts.slots
    begun = (p.statement for p in taken.region.points if isinstance(p.statement, cst.Assign))
    anew = {slots.of(target) for node in begun for target in ex.targets(node)}
    for node in anatomy.module.nodes_inside(taken.loop.body, taken.function, cst.Expr):
        call = node.value
        base = ex.receiver(call) if isinstance(call, cst.Call) and ex.called_name(call) == "append" else None
        value = call.args[0].value if base is not None and isinstance(call, cst.Call) and len(call.args) == 1 else None
        if base is None or not isinstance(value, cst.Dict) or not is_answer(value) or slots.of(base) in {None, *anew}:
            continue
        made = _made(taken, value)
        if made is not None:
            call = cst.Call(func=cst.Attribute(base, cst.Name("append")), args=[cst.Arg(made)])
            yield cst.SimpleStatementLine([cst.Expr(call)])


def _made(taken: Taken, value: cst.Dict) -> cst.Dict | None:
    """The dict with its id and another text; None where it holds no text, or says otherwise whose answer it is."""
    elements: list[cst.DictElement] = []
    answered = said = False
    for key, given in ex.dict_items(value).items():
        if key in _KEPT:
            pair = ex.member(given)
            own = taken.hand.is_id(given) and pair is not None and taken.hand.is_whole(pair[0])
            if ex.text(given) is None and not own:
                return None
            answered = answered or own
        elif key in _SAID and not isinstance(given, _NO_TEXT):
            said, given = True, cst.SimpleString(_TEXT)
        else:
            continue
        elements.append(cst.DictElement(cst.SimpleString(f'"{key}"'), given))
    return cst.Dict(elements) if answered and said else None
