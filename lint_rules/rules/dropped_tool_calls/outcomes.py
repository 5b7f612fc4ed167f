"""Messages that say in words of the program what a tool call has given: `{"role": "user", "content": f"Got {out}"}`."""

from __future__ import annotations

from typing import cast

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.messages.transcript import Stored
from lint_rules.anatomy.rounds.executions import call_loops, runs_tool
from lint_rules.anatomy.values.kinds import Kind
from lint_rules.anatomy.values.slots import Slot
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.walk import children

_SAID = frozenset({Kind.HISTORY, Kind.MESSAGE, Kind.REPLY, Kind.MODEL_TEXT})
_NAMED = frozenset({Kind.CALL, Kind.FUNCTION})
_CALLED = _NAMED | {Kind.CALLS, Kind.ARGUMENTS, Kind.ARGUMENTS_TEXT}


def tells_outcome(anatomy: Anatomy, stored: Stored) -> bool:
    """Whether a message says what a tool call of a reply has given, in words of the program, and not what was called.

    Its arguments are in none of these words then, nor is the call itself.
    """
    facts, content = anatomy.facts, stored.message.content if stored.message is not None else None
    if content is None or stored.calls is not None:
        return False
    function = anatomy.module.scope_of[content].function
    if not any(call_loops(facts, function)):
        return False
    queue, seen, runs = [cast(cst.CSTNode, content)], set[Slot](), False
    for part in queue:
        kinds = facts.kinds(part).keys() if isinstance(part, cst.BaseExpression) else frozenset[Kind]()
        pair = ex.member(part)
        if isinstance(part, cst.Call) and runs_tool(facts, anatomy.transcript, part):
            runs = True
        elif pair is not None and pair[1] == "name" and not _NAMED.isdisjoint(facts.kinds(pair[0])):
            continue
        elif not _CALLED.isdisjoint(kinds):
            return False
        elif _SAID.isdisjoint(kinds):
            slot = facts.slots.of_name(part)
            if slot is not None and slot not in seen and slot[:2] == ("var", function):
                seen.add(slot)
                queue += (*facts.assigned(slot), *facts.appended(slot))
            queue += children(part)
    return runs
