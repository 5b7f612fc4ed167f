"""# single-repeat-stop (AGL305)

## What it does
Reports a round loop that is left as soon as one round asks for the same as the round before, or as any earlier one.

## Why is this bad
Asking again is often right: the tool failed, a job was not done yet, a page had not loaded. One repeat ends the run,
and the user gets an error, or no answer, where the second try would have worked.

## Symptoms
- the agent gives up when it tries a tool a second time
- waiting for a job, by asking for its state, ends the run

## Example
```python
def run(client, messages, tools, execute):
    last = None
    for _ in range(20):
        reply = client.messages.create(model="claude-sonnet-4-5", max_tokens=1024, messages=messages, tools=tools)
        calls = [block for block in reply.content if block.type == "tool_use"]
        messages.append({"role": "assistant", "content": reply.content})
        if not calls:
            return reply.content
        results = [{"type": "tool_result", "tool_use_id": call.id, "content": execute(call)} for call in calls]
        messages.append({"role": "user", "content": results})
        wanted = [(call.name, call.input) for call in calls]
        if wanted == last:
            raise RuntimeError("the model repeats itself")
        last = wanted
    raise RuntimeError("no answer within 20 rounds")
```

## Use instead
```python
def run(client, messages, tools, execute):
    last, alike = None, 0
    for _ in range(20):
        reply = client.messages.create(model="claude-sonnet-4-5", max_tokens=1024, messages=messages, tools=tools)
        calls = [block for block in reply.content if block.type == "tool_use"]
        messages.append({"role": "assistant", "content": reply.content})
        if not calls:
            return reply.content
        results = [{"type": "tool_result", "tool_use_id": call.id, "content": execute(call)} for call in calls]
        messages.append({"role": "user", "content": results})
        wanted = [(call.name, call.input) for call in calls]
        alike = alike + 1 if wanted == last else 1
        last = wanted
        if alike == 4:
            raise RuntimeError("the model repeats itself")
    raise RuntimeError("no answer within 20 rounds")
```

## How it decides
The key of one round, made of tool calls, is compared for equality with one that is carried on from the round before or
read from the history, or looked for among those of all rounds before, or the last two are one (`len(set(keys[-2:]))`);
the branch for a repeat ends with `break`, `return` or `raise`, and that leaves the loop of rounds. Helpers of the same
file that return the comparison, also by `return True` and `return False`, or that raise, are followed, and counts of
repeats of which the first is enough (`repeats >= 1`). A count that asks for more, a window of several rounds, and a
repeat that is answered (`continue`, another result, a note to the model) are silent.

## Known problems
A tool that must never be called twice may be a reason to stop; say so with `# noqa: AGL305`.

## Fix safety
There is no fix: how many repeats are too many is for a person to say.

## References
- OpenAI, function calling guide: a tool's result may be an error, which the model answers by trying again
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.guards import outcomes
from lint_rules.anatomy.guards.guards import Guard
from lint_rules.anatomy.guards.outcomes import Branch
from lint_rules.anatomy.values.constants import constant
from lint_rules.rules.draft import Draft, Note
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.module import Scope
from lint_rules.syntax.walk import walk, walk_scope

_HELP = "count the repeats, and stop at the third or fourth in a row; or answer the repeat with a note to the model"
_ORDER = (cst.GreaterThan, cst.GreaterThanEqual, cst.LessThan, cst.LessThanEqual)


def check(anatomy: Anatomy) -> Iterator[Draft]:
    told: set[cst.CSTNode] = set()
    for guard in anatomy.guards.all:
        of_one = guard.how == "among" or outcomes.one_round(anatomy, guard)
        if guard.how == "counted" or not guard.carried or not of_one:
            continue
        found = outcomes.branches(anatomy, guard)
        for branch in [*found, *(counted for each in found for counted in _counted(anatomy, each))]:
            stop = _stop(anatomy, branch)
            if stop is not None and stop not in told and branch.sure and not _counts(anatomy, guard, branch):
                told.add(stop)
                yield _draft(anatomy, guard, stop)


def _draft(anatomy: Anatomy, guard: Guard, stop: cst.CSTNode) -> Draft:
    how = {cst.Break: "`break`", cst.Return: "`return`", cst.Raise: "`raise`"}[type(stop)]
    which, before = ("an earlier call", "those") if guard.how == "among" else ("the last calls", "the one")
    message = f"one repeat of {which} ends the run by {how}: a retry after a failed tool is cut off"
    return Draft(stop, message, _HELP, (Note(guard.node, f"the round is compared with {before} before"),))


def _stop(anatomy: Anatomy, branch: Branch) -> cst.CSTNode | None:
    """The statement by which a branch leaves the loop of rounds."""
    body = branch.body
    if not isinstance(body, cst.IndentedBlock) or not body.body:
        return None
    line = body.body[-1]
    last = line.body[-1] if isinstance(line, cst.SimpleStatementLine) else None
    if not isinstance(last, (cst.Break, cst.Return, cst.Raise)):
        return None
    if isinstance(last, cst.Raise) and all(loop.function is not branch.function for loop in anatomy.rounds):
        sites = anatomy.calls.sites[branch.function]  # what a helper raises leaves the loop that runs it
        return last if sites and all(_leaves(anatomy, site.node, site.caller, last) for site in sites) else None
    return last if _leaves(anatomy, last, branch.function, last) else None


def _leaves(anatomy: Anatomy, node: cst.CSTNode, function: Scope, by: cst.CSTNode) -> bool:
    """Whether a jump leaves the loop of rounds around a node."""
    loops = {loop.node for loop in anatomy.rounds if loop.function is function}
    for outer in anatomy.module.ancestors(node):
        if outer in loops:
            return True
        if isinstance(outer, (cst.For, cst.While)) and isinstance(by, cst.Break):
            return False
        if isinstance(outer, cst.Try) and isinstance(by, cst.Raise) and anatomy.module.inside(node, outer.body):
            return False
        if outer is function.node:
            return False
    return False


def _counted(anatomy: Anatomy, branch: Branch) -> Iterator[Branch]:
    """Where a count of repeats that a branch raises leads to, if the first one is enough."""
    slots = anatomy.facts.slots
    raised = (node for node in walk_scope(branch.body) if isinstance(node, cst.AugAssign)) if branch.body else ()
    counts = {slots.of(node.target) for node in raised}
    for test in branch.function.nodes_of(cst.If) if counts else ():
        asked = ex.inner(test.test)
        if isinstance(asked, cst.Comparison) and slots.of(ex.compared(asked)[0]) in counts - {None}:
            if outcomes.first_passes(anatomy, asked):
                yield Branch(test, branch.function, test.body, branch.sure)


def _counts(anatomy: Anatomy, guard: Guard, branch: Branch) -> bool:
    """Whether a number of repeats is asked for, too: `and repeats >= 3`, in the `if` or beside the comparison.

    That there are enough rounds to look at, `len(trail) >= 2`, is none.
    """
    around = itertools.takewhile(lambda n: isinstance(n, cst.BooleanOperation), anatomy.module.ancestors(guard.node))
    return any(
        isinstance(node, cst.Comparison)
        and isinstance(node.comparisons[0].operator, _ORDER)
        and not outcomes.first_passes(anatomy, node)
        and constant(anatomy, node.comparisons[0].comparator) not in {0, 1}
        and not (isinstance(node.left, cst.Call) and anatomy.facts.slots.names_any(node.left, guard.slots))
        for test in (branch.test.test, *around)
        for node in walk(test)
    )
