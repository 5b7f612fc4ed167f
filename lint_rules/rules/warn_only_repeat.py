"""# warn-only-repeat (AGL304)

## What it does
Reports a repeat guard whose answer reaches a log only.

## Why is this bad
The program knows that the model goes round in circles, and lets it: each further round costs a request and runs the
tools again. The model is not told, so that it has no reason to do anything else, and the log is read when the bill is.

## Symptoms
- the log warns of repeated tool calls, and the agent goes on
- my agent repeats the same call

## Example
```python
def run(client, messages, tools, execute, log):
    last = None
    for _ in range(20):
        reply = client.messages.create(model="claude-sonnet-4-5", max_tokens=1024, messages=messages, tools=tools)
        calls = [block for block in reply.content if block.type == "tool_use"]
        messages.append({"role": "assistant", "content": reply.content})
        if not calls:
            return reply.content
        wanted = [(call.name, call.input) for call in calls]
        if wanted == last:
            log.warning("the model repeats itself")
        last = wanted
        results = [{"type": "tool_result", "tool_use_id": call.id, "content": execute(call)} for call in calls]
        messages.append({"role": "user", "content": results})
    raise RuntimeError("no answer within 20 rounds")
```

## Use instead
```python
def run(client, messages, tools, execute, log):
    last, alike = None, 0
    for _ in range(20):
        reply = client.messages.create(model="claude-sonnet-4-5", max_tokens=1024, messages=messages, tools=tools)
        calls = [block for block in reply.content if block.type == "tool_use"]
        messages.append({"role": "assistant", "content": reply.content})
        if not calls:
            return reply.content
        wanted = [(call.name, call.input) for call in calls]
        alike = alike + 1 if wanted == last else 1
        last = wanted
        results = [{"type": "tool_result", "tool_use_id": call.id, "content": execute(call)} for call in calls]
        if alike > 1:
            log.warning("the model repeats itself")
            results.append({"type": "text", "text": "You have asked for this before. Use the results, or stop."})
        messages.append({"role": "user", "content": results})
        if alike == 4:
            raise RuntimeError("the model repeats itself")
    raise RuntimeError("no answer within 20 rounds")
```

## How it decides
A comparison of what the model asks for with what it asked for before decides an `if`, directly, through a variable or
through a helper of the file. Its branch for a repeat holds nothing but logging, printing and metrics, also by a
function of the file that does nothing else, and counts that are only logged, or tested for it; the other branch does
nothing but remember the call. It is reported at the comparison, or, where that stands in a helper, at the test that
asks for it. Where another guard over the same calls does something, the log is a first step, and the rule is silent.
Signals that are sent elsewhere (events) are taken for an action.

## Known problems
A guard that hands its answer to another file is taken for one that does something.

## Fix safety
There is no fix: whether to tell the model or to stop is for a person to say.

## References
- Anthropic, building effective agents: stopping conditions keep control of an agent
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.guards import outcomes
from lint_rules.anatomy.guards.guards import Guard
from lint_rules.anatomy.guards.outcomes import Branch
from lint_rules.anatomy.values.slots import Slot
from lint_rules.rules.draft import Draft, Note
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.memo import once
from lint_rules.syntax.walk import walk, walk_scope

_HELP = "tell the model that it has asked for this before, or stop after a few repeats"
_NONE: tuple[cst.CSTNode, ...] = ()
_STATEMENTS = (cst.BaseSmallStatement, cst.BaseCompoundStatement)
_BINDS = (cst.Assign, cst.AugAssign, cst.AnnAssign)
_REMEMBERS = frozenset({"add", "append", "appendleft", "update", "setdefault", "clear"})


def check(anatomy: Anatomy) -> Iterator[Draft]:
    told: set[cst.CSTNode] = set()
    guards = [guard for guard in anatomy.guards.all if guard.carried]
    for guard in guards:
        if not outcomes.works_in_rounds(anatomy, guard.function):
            continue
        found = outcomes.branches(anatomy, guard)
        if not found and guard.how == "equal" and _is_for_logs(anatomy, guard.node):
            yield _draft(guard, guard.node, None, [])
        silent = [branch for branch in found if _is_silent(anatomy, branch, guard)]
        if not found or len(silent) != len(found) or silent[0].test in told:
            continue
        if any(_acts(anatomy, other, guard) for other in guards if other is not guard):
            continue
        told.update(branch.test for branch in found)
        shown, lines = _shown(anatomy, silent[0].body), [silent[0].function.node, guard.node, silent[0].test]
        sites = anatomy.calls.sites[guard.function]
        dropped = [Note(site.node, "the answer is dropped") for site in sites if anatomy.module.is_statement(site.node)]
        is_here = lines == sorted(lines, key=anatomy.line)  # not in a helper
        yield _draft(guard, guard.node if is_here else silent[0].test.test, shown, dropped)


def _draft(guard: Guard, node: cst.BaseExpression, shown: cst.Call | None, dropped: list[Note]) -> Draft:
    notes = (*((Note(shown, "all that happens"),) if shown is not None else ()), *dropped)
    message = (
        f"`{ex.source(guard.node, 50)}` finds that the model repeats itself, and only a log learns of it: the model"
        " goes on in circles"
    )
    return Draft(node, message, _HELP, notes)


def _acts(anatomy: Anatomy, other: Guard, guard: Guard) -> bool:
    """Whether another guard of the same run does something about repeats."""
    same = other.function is guard.function or not other.slots.isdisjoint(guard.slots)
    found = outcomes.branches(anatomy, other) if same else []
    return same and (not found or not all(_is_silent(anatomy, branch, other) for branch in found))


def _is_silent(anatomy: Anatomy, branch: Branch, guard: Guard) -> bool:
    """Whether the branch for a repeat only shows something, and the other one only remembers the call.

    Where both show something in the same way, the comparison decides how calls are shown, and finds no repeats.
    """
    shown = _shown(anatomy, branch.body)
    if branch.body is None or shown is None or not _only_remembers(anatomy, branch.body, guard):
        return False
    test = branch.test
    orelse = test.orelse.body if isinstance(test.orelse, cst.Else) else test.orelse
    other = orelse if branch.body is test.body else test.body
    also = _shown(anatomy, other) if isinstance(other, cst.BaseSuite) else None
    if also is not None and also is not shown and ex.dotted(also.func) == ex.dotted(shown.func):
        return False
    return other is None or _only_remembers(anatomy, other, guard)


def _shown(anatomy: Anatomy, body: cst.BaseSuite | None) -> cst.Call | None:
    """The log call of a branch, or of where what it counts is tested."""
    nodes = [*walk_scope(body)] if body is not None else []
    calls = (node for node in nodes if isinstance(node, cst.Call))
    found = next((call for call in calls if outcomes.shows(anatomy, call)), None)
    counted = (node.target for node in nodes if isinstance(node, cst.AugAssign))
    tests = (test for target in counted for test in _tests_of(anatomy, anatomy.facts.slots.of(target)))
    return found or next((log for test in tests if (log := _shown(anatomy, test.body)) is not None), None)


def _tests_of(anatomy: Anatomy, slot: Slot | None) -> Iterator[cst.If]:
    """The `if` statements that ask for a count."""
    for name in anatomy.module.nodes_of(cst.Name, cst.Attribute) if slot is not None else ():
        if anatomy.facts.slots.of(name) == slot:
            tests = (_decided(anatomy, use) for use in _uses(anatomy, name))
            yield from (test for test in tests if test is not None)


@once(circular=_NONE)
def _uses(anatomy: Anatomy, value: cst.CSTNode) -> tuple[cst.CSTNode, ...]:
    """Where a value is used: itself, or what a function returns where it is called, by the name that it gets there."""
    bound = anatomy.module.statement(value)
    if isinstance(bound, cst.Return) and bound.value is value:
        sites = anatomy.calls.sites[anatomy.module.scope_of[value].function]
        return tuple(use for site in sites for use in _uses(anatomy, site.node))
    if isinstance(bound, cst.Assign) and ex.inner(bound.value) is value:
        slot = anatomy.facts.slots.of_name(target := ex.targets(bound)[0])
        return tuple(name for name in anatomy.facts.names.get(slot or (), ()) if name is not target)
    return (value,)


def _decided(anatomy: Anatomy, name: cst.CSTNode) -> cst.If | None:
    """The `if` in whose test a name stands."""
    statement = next(outer for outer in anatomy.module.ancestors(name) if isinstance(outer, _STATEMENTS))
    return statement if isinstance(statement, cst.If) and anatomy.module.inside(name, statement.test) else None


def _only_remembers(anatomy: Anatomy, body: cst.CSTNode, guard: Guard) -> bool:
    """Whether statements show something, remember the call, or count what nobody asks for but to show it."""
    of = anatomy.facts.slots.of

    def keeps(call: cst.Call) -> bool:
        remembers = ex.called_name(call) in _REMEMBERS and of(ex.receiver(call)) in guard.slots
        return remembers or outcomes.shows(anatomy, call) or outcomes.is_shown(anatomy, call)

    return outcomes.only_does(body, keeps, lambda place: _harmless(anatomy, of(_root(place)), guard))


def _root(target: cst.BaseExpression) -> cst.BaseExpression:
    return target.value if isinstance(target, cst.Subscript) else target


def _harmless(anatomy: Anatomy, slot: Slot | None, guard: Guard) -> bool:
    """Whether a variable is the guard's memory and given to nobody, or read by logs only, and by tests for these."""
    if slot is None:
        return False
    module = anatomy.module
    if slot in guard.slots:
        return not any(
            anatomy.facts.slots.of(name) == slot
            for given in module.nodes_of(cst.Return)
            for name in walk(given)
            if isinstance(name, cst.Name)
        )
    for name in module.nodes_of(cst.Name, cst.Attribute):
        if isinstance(name, (cst.Name, cst.Attribute)) and anatomy.facts.slots.of(name) == slot:
            bound = next((outer for outer in module.ancestors(name) if isinstance(outer, _STATEMENTS)), None)
            if isinstance(bound, _BINDS) and slot in (
                anatomy.facts.slots.of(_root(place))
                for target in ex.targets(bound)
                for place in ex.bound_places(target)
            ):
                continue
            if not _is_for_logs(anatomy, name):
                return False
    return True


def _is_for_logs(anatomy: Anatomy, value: cst.CSTNode) -> bool:
    """Whether a value is only shown, and tested for that, also by who is given it."""
    for use in (uses := _uses(anatomy, value)):
        test = _decided(anatomy, use)
        if test is not None and (test.orelse is not None or not outcomes.only_shows(anatomy, test.body)):
            return False
        if test is None and not outcomes.is_shown(anatomy, use):
            return False
    return bool(uses)
