"""# signature-without-values (AGL404)

## What it does
Reports a repeat guard whose key is made of the tool's name, or of that and the names of its arguments, while the
values of the arguments are left out.

## Why is this bad
`read(page=13)` and `read(page=88)` are two calls, and look like one. The guard takes steady work with one tool for
going round in circles: it ends the run, or keeps back a result that the model needs.

## Symptoms
- reading the next page ends the run as a repeat
- the run is stopped as a repeat, although the arguments differ

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
        signature = [(call.name, sorted(call.input)) for call in calls]
        alike = alike + 1 if signature == last else 1
        last = signature
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
        signature = [(call.name, call.input) for call in calls]
        alike = alike + 1 if signature == last else 1
        last = signature
        results = [{"type": "tool_result", "tool_use_id": call.id, "content": execute(call)} for call in calls]
        messages.append({"role": "user", "content": results})
        if alike == 4:
            raise RuntimeError("the model repeats itself")
    raise RuntimeError("no answer within 20 rounds")
```

## How it decides
The key must come from tool calls, and be compared with what an earlier round left behind. Names of arguments in a key
(`sorted(args)`, `args.keys()`, a comprehension over the keys, or that takes no more than the types of the values), also
in an own object, are reported in every comparison, set, dict or count. Names of tools alone are reported only where two
rounds are compared for equality, and the outcome does something, where names are counted among the last ones, or where
a call is refused with words since one of its name has been run; a count per tool, a set of tools that were used, and
headings by tool are silent. Where the arguments are compared elsewhere in the same function, or something is put into
the entry of a call that is made in another file, the rule is silent.

## Known problems
A run that must not use one tool twice in a row on purpose looks the same; write a comment and `# noqa: AGL404`.

## Fix safety
Unsafe: where the names are taken in one place, they give way to `json.dumps(args, sort_keys=True, default=str)`: what
`default` makes of values that JSON does not know may differ for equal ones. Keys of tool names alone have no fix.

## References
- Anthropic API reference: a `tool_use` block has a `name` and an `input`; both together say what is asked for
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.guards import outcomes
from lint_rules.anatomy.guards.call_parts import ARGUMENTS, Part
from lint_rules.anatomy.guards.guards import Guard
from lint_rules.anatomy.guards.signatures import Made
from lint_rules.rules.draft import Draft, Note
from lint_rules.rules.signature_without_values.fixes import repair
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.conditions import passed
from lint_rules.syntax.walk import walk

_HELP = "put the values in: `(call.name, args)` with parsed arguments, or their text with sorted keys"
_OTHER = frozenset(Part) - {Part.NAME, Part.FIELDS}


def check(anatomy: Anatomy) -> Iterator[Draft]:
    told: set[cst.CSTNode] = set()
    guards = anatomy.guards.all
    complete = {guard.function for guard in guards if guard.parts & (ARGUMENTS | {Part.WHOLE})}
    for guard in guards:
        if not guard.carried or guard.parts & _OTHER or guard.function in complete:
            continue
        is_known = not (guard.key.opaque or guard.kept.opaque)
        fields = [*guard.key.of(Part.FIELDS), *guard.kept.of(Part.FIELDS)]
        fields = [made for made in fields if is_known or _is_all_of_a_call(anatomy, made)]
        if fields:
            nodes = {made.node for made in fields}
            if told.isdisjoint(nodes):
                yield _of_fields(anatomy, guard, fields)
            told |= nodes
        elif (
            is_known
            and (guard.how == "equal" or _keeps_the_last(anatomy, guard) or _refuses(anatomy, guard))
            and not _beside_another(anatomy, guard)
            and outcomes.does_something(anatomy, guard)
            and guard.function.node not in told
        ):
            told.add(guard.function.node)
            yield _of_names(guard)


def _is_all_of_a_call(anatomy: Anatomy, made: Made) -> bool:
    """Whether the names of arguments stand in an entry for one call, of which all is known: others may hold more."""
    signatures = anatomy.guards.signatures
    entries = {value for values in signatures.puts.values() for value in values}
    entry = next((outer for outer in anatomy.module.ancestors(made.node) if outer in entries), None)
    told = signatures.of(entry) if isinstance(entry, cst.BaseExpression) else None
    return told is not None and not told.opaque and Part.NAME in told.parts


def _keeps_the_last(anatomy: Anatomy, guard: Guard) -> bool:
    """Whether names are counted among the last ones, `recent.count(name)`: those of a whole run may be a budget."""
    if guard.how != "counted":
        return False
    of, module = anatomy.facts.slots.of, anatomy.module
    made = [guard.node, *(value for slot in guard.slots for value in anatomy.facts.assigned(slot))]
    parts = [part for value in made for part in walk(value)]
    cut = any(ex.slice_of(p) or (isinstance(p, cst.Call) and ex.argument(p, "maxlen")) for p in parts)
    dropped = (c for c in module.nodes_of(cst.Call) if ex.called_name(c) in {"pop", "popleft"} and len(c.args) < 2)
    return cut or any(of(ex.receiver(call)) in guard.slots for call in dropped)


def _refuses(anatomy: Anatomy, guard: Guard) -> bool:
    """Whether a call is answered with words, and not run, as one of its name has been: each that is run is noted.

    A set of tools that some condition puts there, as who has failed or was allowed, says more than that.
    """
    module, puts = anatomy.module, anatomy.guards.signatures.puts
    found = outcomes.branches(anatomy, guard) if guard.how == "among" else []
    tests = {branch.test for branch in found}
    noted = [put for slot in guard.slots for put in puts.get(slot, ())]
    for put in noted:
        around = next((o for o in module.ancestors(put) if isinstance(o, (cst.For, cst.FunctionDef))), None)
        if module.in_handler(put) or any(test not in tests for test, _ in passed(module, put, around)):
            return False
    return bool(noted) and any(_says(anatomy, branch) for branch in found)


def _says(anatomy: Anatomy, branch: outcomes.Branch) -> bool:
    """Whether a branch gives back or stores words, other than for people and but for keys."""
    texts = (
        (n for n in walk(branch.body) if isinstance(n, (cst.SimpleString, cst.FormattedString))) if branch.body else ()
    )
    parent = anatomy.module.parent
    return any(not isinstance(parent[text], cst.Index) and not outcomes.is_shown(anatomy, text) for text in texts)


def _beside_another(anatomy: Anatomy, guard: Guard) -> bool:
    """`name == last_name and result == last_result`: more than the name is compared."""
    names = {other.node for other in anatomy.guards.all if other.parts == {Part.NAME}}
    above = anatomy.module.parent.get(guard.node)
    while isinstance(above, cst.BooleanOperation):
        for inside in walk(above):
            if isinstance(inside, cst.Comparison) and inside is not guard.node:
                is_equal = isinstance(inside.comparisons[0].operator, (cst.Equal, cst.NotEqual))
                if is_equal and inside not in names and ex.integer(inside.comparisons[0].comparator) is None:
                    return True
        above = anatomy.module.parent.get(above)
    return False


def _of_fields(anatomy: Anatomy, guard: Guard, fields: list[Made]) -> Draft:
    made = fields[0]
    message = (
        f"`{ex.source(made.node, 40)}` leaves the values of the arguments out: calls of one tool with other values"
        " pass for the same"
    )
    inside = anatomy.module.inside(made.node, guard.node)
    notes = () if inside else (Note(guard.node, "it is compared here"),)
    return Draft(made.node, message, _HELP, notes, fix=repair(anatomy, fields))


def _of_names(guard: Guard) -> Draft:
    message = (
        f"`{ex.source(guard.node, 50)}` compares names of tools only: calls of one tool with other arguments pass for"
        " a repeat"
    )
    name = guard.key.of(Part.NAME)[0]
    return Draft(guard.node, message, _HELP, (Note(name.node, "only the name is taken of the call"),))
