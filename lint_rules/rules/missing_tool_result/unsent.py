"""Results that are sent with the next request only, and never are: the API keeps the conversation, and waits for them.

The id of the last response is stored behind the rounds, and the next turn goes on from that.
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.calls.answers import is_answer
from lint_rules.anatomy.values.slots import Slot
from lint_rules.rules.draft import Draft, Note
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.module import Scope
from lint_rules.syntax.walk import walk

_IDS = frozenset({"previous_response_id", "last_response_id"})
"""What the id is called by which a request goes on from another. Source: OpenAI, Responses API."""


def unsent(anatomy: Anatomy, function: Scope) -> Iterator[Draft]:
    """Rounds that may end with results in hand, though the next turn goes on from the reply that waits for them."""
    kept = [node for node in function.nodes_of(cst.Call, cst.Assign) if _keeps_response(node)]
    if not kept:
        return
    graph = anatomy.flow(function)
    for loop in function.nodes_of(cst.For):
        behind = anatomy.points(function, (node for node in kept if not anatomy.module.inside(node, loop)))
        for node in anatomy.module.nodes_inside(loop.body, function, cst.Assign) if behind else ():
            slot = anatomy.facts.slots.of(node.targets[0].target) if any(map(is_answer, walk(node.value))) else None
            asking = {*anatomy.points(function, _asks_with(anatomy, function, slot))} if slot is not None else set()
            if asking and graph.reaches(graph.at(node), behind, asking, exceptions=False):
                message = "when the rounds run out, the last results are not sent: the next turn goes on from a reply"
                cure = "send the results once more behind the loop, without tools, or forget the id of that response"
                yield Draft(loop.iter, f"{message} with open calls, and is refused", cure, (Note(node, "the results"),))
                break


def _asks_with(anatomy: Anatomy, function: Scope, slot: Slot) -> Iterator[cst.Call]:
    for call in function.nodes_of(cst.Call):
        if anatomy.calls.asks(call) and any(anatomy.facts.slots.of(arg.value) == slot for arg in call.args):
            yield call


def _keeps_response(node: cst.CSTNode) -> bool:
    """`session.set("previous_response_id", r.id)`, `self.previous_response_id = r.id`."""
    if isinstance(node, cst.Call):
        return len(node.args) > 1 and any(ex.text(arg.value) in _IDS for arg in node.args)
    pairs = map(ex.member, ex.targets(node)) if isinstance(node, cst.Assign) else ()
    return any(pair is not None and pair[1] in _IDS for pair in pairs)
