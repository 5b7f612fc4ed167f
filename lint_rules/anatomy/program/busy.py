"""What keeps two runs of the same code apart, beside locks: busy flags, running tasks that are awaited or cancelled."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.program.concurrency import Start
from lint_rules.anatomy.values.slots import Slot
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.module import Scope
from lint_rules.syntax.walk import walk

_CLAIMS = frozenset(
    {"add", "set", "append", "acquire", "put", "put_nowait", "setdefault", "update", "discard", "clear"}
)
_JOINS = frozenset({"join", "result", "wait", "wait_for", "shield", "gather", "as_completed", "run_until_complete"})
_LOOPS = (cst.For, cst.While)


def is_flagged(anatomy: Anatomy, node: cst.CSTNode, function: Scope) -> bool:
    """Whether `node` only runs when a flag was free, which is taken there: `if self.busy: return; self.busy = True`.

    The flag may be a set of keys, a task or thread that is looked at (`task.done()`), or an event. Between test and
    claim nothing may be awaited, lest another run passes the test meanwhile.
    """
    if function.kind == "class":  # a body that runs once, when the file is imported
        return False
    for test in function.nodes_of(cst.If, cst.While):
        flags = _flags(anatomy, test)
        claims = [c for flag in flags for c in _claims(anatomy, function, flag) if not anatomy.module.before(c, test)]
        if not claims or not _comes_first(anatomy, function, test, node):
            continue
        if not (_turns_away(test) or anatomy.module.inside(node, test)):
            continue
        if any(not _waits_between(anatomy, function, test, claim) for claim in claims):
            return True
    return False


def _comes_first(anatomy: Anatomy, function: Scope, test: cst.CSTNode, node: cst.CSTNode) -> bool:
    """Whether there is no way to a node of a function but through a test."""
    flow = anatomy.flow(function)
    goals = flow.enclosing(node, anatomy.module.parent)
    return bool(goals) and any(all(flow.dominates(point, goal) for goal in goals) for point in flow.at(test))


def _turns_away(test: cst.If | cst.While) -> bool:
    """Whether the body of the test leaves, or ends what runs: cancels, awaits or joins it."""
    for node in walk(test.body):
        if isinstance(node, (cst.Return, cst.Raise, cst.Continue, cst.Break, cst.Await)):
            return True
        if isinstance(node, cst.Call) and ex.called_name(node) in {"cancel", "join", "stop", "set", "wait"}:
            return True
    return False


def _flags(anatomy: Anatomy, test: cst.If | cst.While) -> Iterator[Slot]:
    """What a test looks at, and what is looked at of that: `self.task` of `self.task.done()`."""
    for node in walk(test.test):
        if isinstance(node, (cst.Name, cst.Attribute, cst.Subscript)):
            slot = anatomy.facts.slots.of(node)
            if slot is not None:
                yield slot
                while slot[0] in {"item", "member"}:
                    slot = slot[1]
                    yield slot


def _claims(anatomy: Anatomy, function: Scope, flag: Slot) -> Iterator[cst.CSTNode]:
    """Where a function takes a flag: binds it, or puts something in."""
    slots = anatomy.facts.slots
    if flag[0] == "var" and flag[1] is function and not function.foreign.get(flag[2]):
        return  # a local name tells nobody else
    stores: list[cst.Assign | cst.AnnAssign | cst.AugAssign] = [
        *function.nodes_of(cst.Assign, cst.AnnAssign),
        *function.nodes_of(cst.AugAssign),
    ]
    for node in stores:
        for target in ex.targets(node):
            held = target.value if type(target) is cst.Subscript else target
            if flag in (slots.of(target), slots.of(held)):
                yield node
    for call in function.nodes_of(cst.Call):
        base = ex.receiver(call) if ex.called_name(call) in _CLAIMS else None
        if base is not None and slots.of(base) == flag:
            yield call


def _waits_between(anatomy: Anatomy, function: Scope, test: cst.CSTNode, claim: cst.CSTNode) -> bool:
    """Whether something is awaited on a way from the test to the claim, but to end the run that is under way."""
    module = anatomy.module
    flow = anatomy.flow(function)
    starts, goals = flow.at(test), flow.enclosing(claim, module.parent)
    for node in function.nodes_of(cst.Await):
        if module.inside(node, claim) or module.inside(node, test):
            continue
        at = flow.enclosing(node, module.parent)
        if any(flow.reaches(s, p, goals) for s in starts for p in at) and any(
            flow.reaches(p, g, starts) for p in at for g in goals
        ):
            return True
    return False


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
