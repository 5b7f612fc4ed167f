"""AGL405: `before = history[-2]` becomes a search for the newest message with tool calls, and the `if` that asks
whether `before` has some asks whether there is one.

Only for a repeat guard in a loop of rounds, between the request and the append of its reply: the newest message with
calls is then that of an earlier round. The program says itself, by its own `if`, what is done where there are none.
"""

from __future__ import annotations

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.messages.writes import GROWING
from lint_rules.anatomy.rounds.rounds import RoundLoop
from lint_rules.anatomy.values.slots import Slot
from lint_rules.repairs.edits import Edits, Fix, block_of, line_of, of_the_file
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.walk import walk

_CALLS = "tool_calls"
_BINDERS = (cst.AssignTarget, cst.AnnAssign, cst.AugAssign, cst.NamedExpr, cst.For, cst.CompFor)


@of_the_file
def repair(anatomy: Anatomy, node: cst.Subscript) -> Fix | None:
    """Search for the message; `node` is `history[-2]`, or with its length."""
    assigned = anatomy.module.parent.get(node)
    if not isinstance(assigned, cst.Assign) or len(assigned.targets) != 1 or _hidden(anatomy, node):
        return None
    name = assigned.targets[0].target
    if not isinstance(name, cst.Name) or not _is_before_append(anatomy, node):
        return None
    term = _asks_for_calls(anatomy, name, assigned)
    calls = _calls_of_each(anatomy, node, term) if term is not None else None
    if term is None or calls is None:
        return None
    found = cst.parse_expression(f"next((m for m in reversed({ex.source(node.value, 200)}) if {calls}), None)")
    there = cst.parse_expression(f"{name.value} is not None").with_changes(lpar=term.lpar, rpar=term.rpar)
    return Fix(
        "look for the newest message with tool calls", "unsafe", lambda: Edits(replaced={node: found, term: there})
    )


def _hidden(anatomy: Anatomy, node: cst.CSTNode) -> bool:
    """Whether `next` or `reversed` are something else here."""
    module = anatomy.module
    return any(module.scope_binding(module.scope_of[node], name) is not None for name in ("next", "reversed"))


# -- the place ----------------------------------------------------------------------------------------------------


def _is_before_append(anatomy: Anatomy, node: cst.Subscript) -> bool:
    """Whether the request of the same round comes before on every path, and its reply is stored after."""
    module, slot = anatomy.module, anatomy.facts.slots.of(node.value)
    function, here = module.scope_of[node].function, module.statement(node)
    around = module.loop_around(node)
    loop = anatomy.round_at.get(around) if around is not None else None
    if loop is None or loop.function is not function or slot is None or slot[0] != "var" or slot[1] is not function:
        return False
    if module.statement(loop.asks) is here or _stores_reply(anatomy, loop):
        return False
    stored_after = any(
        place.slot == slot and place.kind == "append" and place.calls is not None
        for place in anatomy.transcript.stored(function)
        if module.inside(place.node, loop.node) and module.before(here, place.node)
    )
    flow = anatomy.flow(function)
    requests, goals = flow.enclosing(loop.asks, module.parent), flow.enclosing(node, module.parent)
    asked = bool(goals) and all(any(flow.dominates(request, goal) for request in requests) for goal in goals)
    return stored_after and asked and _is_still(anatomy, loop, here, slot)


def _stores_reply(anatomy: Anatomy, loop: RoundLoop) -> bool:
    """Whether a function of this file that asks may store the reply itself."""
    callee = anatomy.facts.slots.callee(loop.asks)
    reached = anatomy.calls.reachable(callee) if callee is not None else ()
    return any(
        place.kind in GROWING and place.role not in {"user", "system", "tool"}
        for function in reached
        for place in anatomy.transcript.stored(function)
    )


def _is_still(anatomy: Anatomy, loop: RoundLoop, here: cst.CSTNode, slot: Slot) -> bool:
    """Whether nothing is done to the history from the request to the statement `here`."""
    module, asks = anatomy.module, anatomy.module.statement(loop.asks)
    for node in loop.function.nodes:
        between = module.before(asks, node) and module.before(node, here) and module.inside(node, loop.node)
        if not between or module.inside(node, loop.asks):
            continue
        if isinstance(node, cst.Name) and anatomy.facts.slots.of(node) == slot and not _only_looks(anatomy, node):
            return False
        if isinstance(node, cst.Call) and anatomy.writes.grows(node, slot) is not None:
            return False
    return True


def _only_looks(anatomy: Anatomy, name: cst.Name) -> bool:
    """`len(history)`, or `history[i]` that is not set."""
    parent = anatomy.module.parent[name]
    above = anatomy.module.parent[parent]
    if isinstance(parent, cst.Arg):
        return isinstance(above, cst.Call) and ex.dotted(above.func) == "len"
    return isinstance(parent, cst.Subscript) and parent.value is name and not isinstance(above, (*_BINDERS, cst.Del))


# -- the question -------------------------------------------------------------------------------------------------


def _asks_for_calls(anatomy: Anatomy, name: cst.Name, assigned: cst.Assign) -> cst.BaseExpression | None:
    """`before.tool_calls`, a term of the `if` of the same block in which all uses of the name stand, before them all.

    What the `if` does when there are no calls is done, too, when there is no message.
    """
    module, slot = anatomy.module, anatomy.facts.slots.of(name)
    uses = [n for n in module.nodes_of(cst.Name) if n is not name and anatomy.facts.slots.of(n) == slot]
    line = line_of(module, assigned)
    block = block_of(module, line) if line is not None else None
    if line is None or block is None or slot is None or not uses:
        return None
    test = next((part for part in block.body if part is not line and module.inside(uses[0], part)), None)
    if not isinstance(test, cst.If) or module.before(test, line) or any(_is_bound(anatomy, use) for use in uses):
        return None
    if not all(module.inside(use, test.test) or module.inside(use, test.body) for use in uses):
        return None
    guards = [guard for guard in anatomy.guards.all if module.inside(guard.node, test)]
    if not any(guard.past or _uses(anatomy, guard.node, slot) for guard in guards):
        return None
    first = next((term for term in _terms(test.test) if _uses(anatomy, term, slot)), None)
    pair = ex.member(first) if first is not None else None
    return first if pair is not None and pair[1] == _CALLS and anatomy.facts.slots.of(pair[0]) == slot else None


def _uses(anatomy: Anatomy, node: cst.CSTNode, slot: Slot) -> bool:
    return any(isinstance(inside, cst.Name) and anatomy.facts.slots.of(inside) == slot for inside in walk(node))


def _terms(test: cst.BaseExpression) -> list[cst.BaseExpression]:
    if isinstance(test, cst.BooleanOperation) and isinstance(test.operator, cst.And):
        return [*_terms(test.left), *_terms(test.right)]
    return [test]


def _is_bound(anatomy: Anatomy, use: cst.Name) -> bool:
    parent = anatomy.module.parent[use]
    return isinstance(parent, cst.Del) or (isinstance(parent, _BINDERS) and parent.target is use)


# -- what a message is --------------------------------------------------------------------------------------------


def _calls_of_each(anatomy: Anatomy, node: cst.Subscript, term: cst.BaseExpression) -> str | None:
    """How the calls of any message `m` of the history are read; None where it is not known to hold dicts only."""
    if isinstance(term, cst.Attribute) or (isinstance(term, cst.Call) and ex.called_name(term) == "getattr"):
        return f'getattr(m, "{_CALLS}", None)'
    return f'm.get("{_CALLS}")' if _holds_dicts(anatomy, node) else None


def _holds_dicts(anatomy: Anatomy, node: cst.Subscript) -> bool:
    """Whether all is seen that comes into the list, and is a dict."""
    facts, module = anatomy.facts, anatomy.module
    slot = facts.slots.of(node.value)
    made = facts.assigned(slot)
    if slot is None or not made or not all(isinstance(value, cst.List) for value in made):
        return False
    elements = [element for value in made if isinstance(value, cst.List) for element in value.elements]
    writes = anatomy.writes.by_slot[slot]
    if not all(isinstance(element, cst.Element) for element in elements):
        return False
    if not all(write.kind in {"append", "cut", "rebind"} for write in writes):
        return False
    values = [*(e.value for e in elements), *(w.value for w in writes if w.kind in GROWING)]
    asks = [loop.asks for loop in anatomy.rounds]
    seen = all(
        any(module.inside(name, call) for call in asks) or _is_seen(anatomy, name)
        for name in module.nodes_of(cst.Name)
        if facts.slots.of(name) == slot
    )
    return seen and all(_is_dict(anatomy, value) for value in values)


def _is_seen(anatomy: Anatomy, name: cst.Name) -> bool:
    """Whether nothing comes into the list by this use of its name that `writes` does not tell."""
    parent = anatomy.module.parent[name]
    if isinstance(parent, (cst.AssignTarget, cst.AnnAssign)):
        return parent.target is name
    if isinstance(parent, cst.Attribute):
        return parent.attr.value in {"append", "pop", "clear"}
    return isinstance(parent, cst.Return) or _only_looks(anatomy, name)


def _is_dict(anatomy: Anatomy, value: cst.BaseExpression | None) -> bool:
    if isinstance(value, cst.Name):
        values = anatomy.facts.values_of(value)
        return len(values) == 1 and not isinstance(values[0], cst.Name) and _is_dict(anatomy, values[0])
    if isinstance(value, cst.Call):
        return ex.called_name(value) in {"model_dump", "to_dict"} or ex.dotted(value.func) == "dict"
    return isinstance(value, cst.Dict)
