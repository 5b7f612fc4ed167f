"""# first-tool-only-comparison (AGL401)

## What it does
Reports a repeat decision that looks at the first tool call of each round only.

## Why is this bad
A model may ask for several tools in one round. A guard that compares `tool_calls[0]` takes two rounds for the same
when only their first call is: real work is cut off, and a round that repeats everything but its first call goes on.
A `zip` of both lists without a length test has the same hole: it stops at the shorter list.

## Symptoms
- the run is stopped as a repeat, although it did something new
- a repeat is not noticed when the model asks for several tools at once

## Example
```python
def run(client, messages, tools, execute):
    last, alike = None, 0
    for _ in range(20):
        reply = client.messages.create(model="claude-sonnet-4-5", max_tokens=1024, messages=messages, tools=tools)
        calls = [block for block in reply.content if block.type == "tool_use"]
        messages.append({"role": "assistant", "content": reply.content})
        if not calls:
            return reply.content
        first = (calls[0].name, calls[0].input)
        alike = alike + 1 if first == last else 1
        last = first
        results = [{"type": "tool_result", "tool_use_id": call.id, "content": execute(call)} for call in calls]
        messages.append({"role": "user", "content": results})
        if alike == 4:
            raise RuntimeError("the model repeats itself")
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
        wanted = [(call.name, call.input) for call in calls]
        alike = alike + 1 if wanted == last else 1
        last = wanted
        results = [{"type": "tool_result", "tool_use_id": call.id, "content": execute(call)} for call in calls]
        messages.append({"role": "user", "content": results})
        if alike == 4:
            raise RuntimeError("the model repeats itself")
    raise RuntimeError("no answer within 20 rounds")
```

## How it decides
Both sides of a comparison must come from element 0 of a list of tool calls, or of own records with one for each call:
of two lists, or of one list and of a value that an earlier round left behind; `calls[:1]` and unpacking take it, too.
Values that are counted (`len(set(recent)) == 1`, `counts[key] > 3`) are
compared with each other. Variables, parameters, containers, helper functions, own objects, tuples and f-strings are
followed. A prefix is compared by `zip` or `map` in `all` or `any`, or by a loop that ends with the first unlike pair.
Where the number of calls is known to be one, or one side names all calls, the rule is silent; where the lists hold what
came of the calls; and where nothing of the reply is used but its first call, as of one that only says who speaks next.

## Known problems
Signatures that are built in another file are not seen.

## Fix safety
Unsafe: where both lists stand in the comparison itself, all their calls are compared, by name and arguments; a `zip` is
joined by a comparison of the lengths. Signatures that are built elsewhere have no fix.

## References
- OpenAI API reference, chat completions: `tool_calls` is a list, `parallel_tool_calls` is on by default
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.calls.remaining_calls import one_call_known
from lint_rules.anatomy.guards.guards import Guard
from lint_rules.anatomy.guards.outcomes import only_shows
from lint_rules.anatomy.program.handlers import shown_only
from lint_rules.anatomy.values.slots import is_parameter
from lint_rules.rules.draft import Draft, Note
from lint_rules.rules.first_tool_only_comparison.fixes import repair, repair_zip
from lint_rules.rules.first_tool_only_comparison.origins import Firsts, Origin
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.module import Scope
from lint_rules.syntax.walk import walk

_HELP = "compare the whole lists: `[(c.name, c.arguments) for c in calls]`, with arguments parsed, for both rounds"


def check(anatomy: Anatomy) -> Iterator[Draft]:
    module = anatomy.module
    decided: set[cst.CSTNode] = set()  # one decision often compares names and arguments apart: one finding
    firsts = Firsts(anatomy)
    for guard in anatomy.guards.all:
        statement = module.statement(guard.node)
        for draft in _compared(anatomy, firsts, guard) if statement not in decided else ():
            decided.add(statement)
            yield draft
    for call in module.nodes_of(cst.Call):
        if type(call.func) is cst.Name and call.func.value in {"all", "any"}:
            yield from _zipped(anatomy, firsts, call)
    for loop in module.nodes_of(cst.For):
        if isinstance(loop.iter, cst.Call) and all(_leaves_if_other(line) for line in loop.body.body):
            yield from _zipped(anatomy, firsts, loop)


def _compared(anatomy: Anatomy, firsts: Firsts, guard: Guard) -> Iterator[Draft]:
    node, function, stored = guard.node, guard.function, guard.how != "equal"
    left = Origin(firsts).of(guard.key_node, stored=guard.key_node is guard.kept_node)
    if not left.firsts or left.whole:
        return
    right = Origin(firsts).of(guard.kept_node, stored=stored)
    if right.whole or not right.firsts:
        return
    if left.places == right.places and not guard.carried:
        return
    lists = [first.value for first in left.firsts + right.firsts if isinstance(first, cst.Subscript)]
    if all(_is_all_that_counts(anatomy, firsts, first) for first in left.firsts):
        return
    if one_call_known(anatomy, function, lists) or _decides_nothing(anatomy, node, function):
        return
    first, second = left.firsts[0], right.firsts[0]
    message = (
        f"the repeat is decided by `{ex.source(first, 40)}` alone: further calls of the round are never compared,"
        " so different rounds look the same"
    )
    notes = [Note(first, "only the first call is taken here")]
    if second is not first:
        notes.append(Note(second, "and here"))
    fix = repair(anatomy, node) if isinstance(node, cst.Comparison) else None
    yield Draft(node, message, _HELP, tuple(notes), fix=fix)


def _is_all_that_counts(anatomy: Anatomy, firsts: Firsts, first: cst.BaseExpression) -> bool:
    """Whether nothing of a reply is used but its first call: who asks for one thing has no round of calls.

    Nobody stores the reply, gives it back or goes through its calls: `return ask(...).tool_calls[0].function.name`.
    """
    module, slots = anatomy.module, anatomy.facts.slots
    queue = [_root(first)]
    for root in queue:
        slot = slots.of(root)
        if isinstance(root, cst.Call) and anatomy.turns.reaches_model(root):
            continue
        if not isinstance(root, cst.Name) or slot is None or slot[:2] != ("var", module.scope_of[root].function):
            return False
        made = anatomy.facts.assigned(slot)
        if is_parameter(slot) or not made:
            return False
        for use in anatomy.facts.names.get(slot, ()):
            outers = [use, *module.ancestors(use)]
            if isinstance(outers[1], cst.AssignTarget) or any(
                firsts.has(each) for each in outers if isinstance(each, cst.BaseExpression)
            ):
                continue
            statement = module.statement(use)
            if isinstance(statement, cst.Assign) and _root(statement.value) is use:
                queue += [target for target in ex.targets(statement) if target not in queue]
            elif not (isinstance(statement, cst.If) or shown_only(module, use)):
                return False
        queue += [root for value in made if (root := _root(value)) not in queue]
    return True


def _root(node: cst.BaseExpression) -> cst.BaseExpression:
    """`reply` of `reply.choices[0].message`, and what is awaited."""
    node = ex.inner(node)
    while isinstance(node, (cst.Attribute, cst.Subscript, cst.Await)):
        node = ex.inner(node.expression if isinstance(node, cst.Await) else node.value)
    return node


def _decides_nothing(anatomy: Anatomy, node: cst.BaseExpression, function: Scope) -> bool:
    """Tests and assertions, an `if` that only shows something, and agents that keep the first call only."""
    statement = anatomy.module.statement(node)
    if isinstance(statement, cst.Assert):
        return True
    if isinstance(statement, cst.If) and statement.orelse is None and only_shows(anatomy, statement.body):
        return True
    return any(
        isinstance(items.get("tool_calls"), cst.List) and len(items["tool_calls"].elements) == 1  # type: ignore[attr-defined]
        for items in (ex.dict_items(n) for n in function.nodes if isinstance(n, cst.Dict))
    )


def _leaves_if_other(line: cst.CSTNode) -> bool:
    """`if a != b: return False`: with the first pair that is unlike, a loop ends."""
    test = line.test if isinstance(line, cst.If) else None
    parts = walk(test) if test is not None else ()
    unlike = any(isinstance(part, cst.ComparisonTarget) and isinstance(part.operator, cst.NotEqual) for part in parts)
    return unlike and any(isinstance(part, (cst.Return, cst.Break)) for part in walk(line))


def _zipped(anatomy: Anatomy, firsts: Firsts, node: cst.Call | cst.For) -> Iterator[Draft]:
    """`all(a == b for a, b in zip(calls, last))`, `all(map(eq, calls, last))`: the longer one's rest is not seen."""
    function = anatomy.module.scope_of[node].function
    for inside in walk(node):
        if not isinstance(inside, cst.Call) or ex.dotted(inside.func) not in {"zip", "map"}:
            continue
        if ex.argument(inside, "strict") is not None:
            continue
        together = ex.dotted(inside.func) or ""
        lists = ex.positional(inside)[together == "map" :]
        if len(lists) < 2 or not all(firsts.is_list(value) for value in lists):
            continue
        if _lengths_compared(function, lists):
            continue
        if any(_made_of_each(anatomy, made, of) for made in lists for of in lists if made is not of):
            continue
        message = (
            f"`{together}` of `{ex.source(lists[0], 30)}` and `{ex.source(lists[1], 30)}` stops at the shorter list:"
            " a round that begins like the other passes for the same"
        )
        cure = "compare the lengths too, or pass `strict=True` after testing them"
        yield Draft(inside, message, cure, fix=repair_zip(anatomy, node) if isinstance(node, cst.Call) else None)


def _made_of_each(anatomy: Anatomy, made: cst.BaseExpression, of: cst.BaseExpression) -> bool:
    """Whether a list has an element for each element of another (`[fit(x) for x in xs]`): both are of one length."""
    values = anatomy.facts.values_of(made) or [made]
    return all(
        isinstance(value, cst.ListComp)
        and not value.for_in.ifs
        and value.for_in.inner_for_in is None
        and ex.source(value.for_in.iter, 400) == ex.source(of, 400)
        for value in values
    )


def _lengths_compared(function: Scope, lists: list[cst.BaseExpression]) -> bool:
    names = {ex.source(value) for value in lists}
    for node in function.nodes:
        if isinstance(node, cst.Comparison):
            sides = [node.left, *(t.comparator for t in node.comparisons)]
            measured = {ex.source(s.args[0].value) for s in sides if isinstance(s, cst.Call) and _is_len(s)}
            if measured & names:
                return True
    return False


def _is_len(node: cst.CSTNode) -> bool:
    return isinstance(node, cst.Call) and ex.dotted(node.func) == "len" and len(node.args) == 1
