"""Whether those who start tasks and threads wait for their ends, so that no two of them run at once."""

from __future__ import annotations

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.program.concurrency import Start
from lint_rules.anatomy.values.slots import Slot
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.walk import walk

_JOINS = frozenset({"join", "result", "wait", "wait_for", "shield", "gather", "as_completed", "run_until_complete"})
_LOOPS = (cst.For, cst.While)


def is_joined(anatomy: Anatomy, start: Start) -> bool:
    """Whether the function that starts a task or thread waits for its end, before it may start the next."""
    module, node = anatomy.module, start.node
    if start.kind == "handler" or (isinstance(node, cst.Call) and ex.called_name(node) == "gather"):
        return False
    function = module.scope_of[node].function
    names: list[str] = []
    for outer in module.ancestors(node):
        if isinstance(outer, cst.Await):
            return True
        if isinstance(outer, cst.Call) and ex.called_name(outer) in {"run_until_complete", "result"}:
            return True
        if isinstance(outer, (cst.Assign, cst.AnnAssign)):
            targets = ex.targets(outer)
            names = [name for target in targets for name in ex.target_names(target)]
        if isinstance(outer, (cst.BaseSmallStatement, cst.BaseCompoundStatement)):
            break
    loop = next((o for o in module.ancestors(node) if isinstance(o, _LOOPS) and module.inside(o, function.node)), None)
    return any(_awaits(n, name) for name in names for n in function.nodes if loop is None or module.inside(n, loop))


def follows_its_last(anatomy: Anatomy, start: Start) -> bool:
    """Whether the thread or task that ran before is waited for on every way to the next: `self.end(); self.t = ...`."""
    module = anatomy.module
    function = module.scope_of[start.node].function
    bound = module.parent.get(start.node)
    if not isinstance(bound, cst.Assign) or function.kind == "class":
        return False
    slot = anatomy.facts.slots.of(bound.targets[0].target)
    if slot is None or slot[0] != "attr":
        return False
    flow = anatomy.flow(function)
    goals = flow.enclosing(start.node, module.parent)
    return any(
        _waits_for(anatomy, call, slot)
        and any(flow.dominates(a, b) for a in flow.enclosing(call, module.parent) for b in goals)
        for call in function.nodes_of(cst.Call)
        if module.before(call, start.node)
    )


def _waits_for(anatomy: Anatomy, call: cst.Call, slot: Slot) -> bool:
    """Whether a call, or the function of this file that it runs, joins what a slot holds."""
    callee = anatomy.facts.slots.callee(call)
    for inside in [call, *(callee.nodes_of(cst.Call) if callee is not None else ())]:
        base = ex.receiver(inside)
        if base is not None and ex.called_name(inside) == "join" and anatomy.facts.slots.of(base) == slot:
            return True
    return False


def _awaits(node: cst.CSTNode, name: str) -> bool:
    """`await t`, `await wait_for(t, 5)`, `t.join()`, `t.result()`."""
    if isinstance(node, cst.Await):
        return any(isinstance(n, cst.Name) and n.value == name for n in walk(node.expression))
    if isinstance(node, cst.Call) and ex.called_name(node) in _JOINS:
        base = ex.receiver(node)
        given = [base, *(arg.value for arg in node.args)]
        return any(isinstance(n, cst.Name) and n.value == name for n in given)
    return False
