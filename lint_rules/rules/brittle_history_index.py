"""# brittle-history-index (AGL405)

## What it does
Reports messages that are picked from a history by a fixed distance where a role is meant: the calls of `history[-2]`,
the neighbour of the message that a walk has found, `history[-1]` that is compared with assistant messages, and a place
that is kept while the history is cut.

## Why is this bad
A round adds one assistant message and as many tool messages as there were calls. With two calls, `history[-2]` is a
tool message: a repeat guard that looks there finds no calls and never speaks; a repair changes the wrong message.

## Example
```python
def run(client, history, tools, execute, repeats):
    for _ in range(20):
        message = client.chat.completions.create(model="gpt-5", messages=history, tools=tools).choices[0].message
        if not message.tool_calls:
            return message.content
        before = history[-2]
        if before.tool_calls and repeats(before.tool_calls, message.tool_calls):
            raise RuntimeError("the model repeats itself")
        history.append(message)
        for call in message.tool_calls:
            history.append({"role": "tool", "tool_call_id": call.id, "content": execute(call)})
    raise RuntimeError("no answer within 20 rounds")
```

## Use instead
```python
def run(client, history, tools, execute, repeats):
    before = None
    for _ in range(20):
        message = client.chat.completions.create(model="gpt-5", messages=history, tools=tools).choices[0].message
        if not message.tool_calls:
            return message.content
        if before is not None and repeats(before.tool_calls, message.tool_calls):
            raise RuntimeError("the model repeats itself")
        before = message
        history.append(message)
        for call in message.tool_calls:
            history.append({"role": "tool", "tool_call_id": call.id, "content": execute(call)})
    raise RuntimeError("no answer within 20 rounds")
```

## How it decides
The list must be a known message history. Reported are: `history[-k]` and `history[len(history) - k]` from 2 on, whose
tool calls are read; `history[i - 1]` or `history[i + 1]` that is returned, or whose calls are read, where the role of
`history[i]` has been tested; `history[-1]` whose text is compared with that of messages of one role, in a program with
tool messages; and `history[i]` in a callback, where `i` was the length of a list that is cut meanwhile. A message
whose own role is tested is right whatever its place; so are `[-1]` after the append, `[0]`, and a place right after
the appends that it counts.

## Known problems
A layout that the program guarantees elsewhere (one call in each round) is not known to the rule.

## Fix safety
Unsafe: `before = history[-2]` becomes `next((m for m in reversed(history) if m.get("tool_calls")), None)`, and the
`if` that asks whether `before` has calls asks whether it is there. Only for a repeat guard in a loop of rounds, after
the request and before its reply is stored, where all uses of the name stand in that `if`; a list of dicts must be seen
to hold nothing else. The search goes back past the user's message, so a call of an earlier turn counts as a repeat.
Else there is no fix: which message is meant, and what to do when there is none, is for a person to say.

## References
- OpenAI API reference, chat completions: an assistant message is followed by one tool message for each of its calls
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.values.kinds import Kind
from lint_rules.repairs.brittle_history_index import repair
from lint_rules.repairs.edits import Fix
from lint_rules.rules.draft import Draft, Note
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.module import Scope, parameters
from lint_rules.syntax.walk import walk

_HELP = "look for the message by what it is: `next((m for m in reversed(history) if m.tool_calls), None)`"
_CUTS = frozenset({"cut", "replace"})


def check(anatomy: Anatomy) -> Iterator[Draft]:
    for node in anatomy.module.nodes_of(cst.Subscript):
        at = ex.index(node)
        if at is None or not anatomy.is_history(node.value):
            continue
        function = anatomy.module.scope_of[node].function
        distance = _from_the_end(anatomy, node, at)
        if distance is not None and distance >= 2:
            yield from _distant(anatomy, node, function)
        elif distance == 1:
            yield from _newest(anatomy, node, function)
        elif isinstance(at, cst.BinaryOperation):
            yield from _neighbour(anatomy, node, at, function)
        elif isinstance(at, cst.Name):
            yield from _kept_place(anatomy, node, at, function)


def _from_the_end(anatomy: Anatomy, node: cst.Subscript, at: cst.BaseExpression) -> int | None:
    """2 for `h[-2]` and `h[len(h) - 2]`."""
    number = ex.integer(at)
    if number is not None:
        return -number if number < 0 else None
    if isinstance(at, cst.BinaryOperation) and isinstance(at.operator, cst.Subtract):
        size = at.left
        if isinstance(size, cst.Call) and ex.dotted(size.func) == "len" and len(size.args) == 1:
            if anatomy.facts.slots.of(size.args[0].value) == anatomy.facts.slots.of(node.value):
                return ex.integer(at.right)
    return None


def _draft(anatomy: Anatomy, node: cst.Subscript, message: str, *notes: Note, fix: Fix | None = None) -> Draft:
    evidence = anatomy.facts.kinds(node.value)[Kind.HISTORY]
    known = Note(evidence.root.node, f"`{ex.source(node.value, 30)}` is the message history: {evidence.clause}")
    unique = {note.node: note for note in (*notes, known) if note.node is not node}
    return Draft(node, message, _HELP, tuple(unique.values()), fix=fix)


# -- history[-2] ------------------------------------------------------------------------------------------------


def _distant(anatomy: Anatomy, node: cst.Subscript, function: Scope) -> Iterator[Draft]:
    uses = _uses(anatomy, node, function)
    read = next((use for use in uses if _reads_calls(anatomy, use)), None)
    if read is None or _role_tested(anatomy, uses) or _just_appended(anatomy, node):
        return
    message = (
        f"`{ex.source(node, 40)}` is a tool message when a round had another number of calls: the calls looked for"
        " are not there"
    )
    yield _draft(anatomy, node, message, Note(read, "its tool calls are read here"), fix=repair(anatomy, node))


def _uses(anatomy: Anatomy, node: cst.BaseExpression, function: Scope) -> list[cst.BaseExpression]:
    """The element itself, the same element written again, and the name it is bound to."""
    module, slots = anatomy.module, anatomy.facts.slots
    parent = module.parent.get(node)
    written = ex.source(node)
    list_ = ex.dotted(node.value) if type(node) is cst.Subscript else None
    found = [n for n in function.nodes_of(cst.Subscript) if ex.dotted(n.value) == list_ and ex.source(n) == written]
    if isinstance(parent, (cst.Assign, cst.AnnAssign, cst.NamedExpr)):
        target = parent.targets[0].target if isinstance(parent, cst.Assign) else parent.target
        slot = slots.of(target)
        return [*found, *(n for n in function.nodes_of(cst.Name) if slots.of(n) == slot)]
    return [*found]


def _member_of(anatomy: Anatomy, use: cst.BaseExpression) -> tuple[cst.CSTNode, str] | None:
    """`x.role`, `x["role"]`, `x.get("role")`, `getattr(x, "role", None)` around a use of x, with the name."""
    for outer in anatomy.module.ancestors(use):
        pair = ex.member(outer)
        if pair is not None:
            return (outer, pair[1]) if pair[0] is use else None
        if not isinstance(outer, (cst.Arg, cst.Attribute)):
            return None
    return None


def _reads_calls(anatomy: Anatomy, use: cst.BaseExpression) -> bool:
    found = _member_of(anatomy, use)
    return found is not None and found[1] in anatomy.facts.call_attributes


def _role_tested(anatomy: Anatomy, uses: list[cst.BaseExpression]) -> bool:
    """Whether the program looks at the element's own role (or type, or class)."""
    for use in uses:
        found = _member_of(anatomy, use)
        if found is not None and found[1] in {"role", "type"}:
            return True
        call = next((n for n in anatomy.module.ancestors(use) if not isinstance(n, cst.Arg)), None)
        if isinstance(call, cst.Call) and ex.dotted(call.func) == "isinstance":
            return True
    return False


def _just_appended(anatomy: Anatomy, node: cst.Subscript) -> bool:
    """Whether the block has appended to the list right before: the distance counts these appends."""
    module, slot = anatomy.module, anatomy.facts.slots.of(node.value)
    statement = module.parent.get(module.statement(node))
    block = module.parent.get(statement) if statement is not None else None
    if not isinstance(block, cst.IndentedBlock) or statement not in block.body:
        return False
    before = block.body[: list(block.body).index(statement)]  # type: ignore[arg-type]
    return any(
        write.slot == slot
        and any(module.inside(write.node, line) for line in before if isinstance(line, cst.SimpleStatementLine))
        for write in anatomy.writes.all
    )


# -- history[-1] among messages of one role ----------------------------------------------------------------------


def _newest(anatomy: Anatomy, node: cst.Subscript, function: Scope) -> Iterator[Draft]:
    """`last = h[-1]`, whose text is compared with that of messages whose role is tested, while its own is not."""
    uses = _uses(anatomy, node, function)
    slot = anatomy.facts.slots.of(node.value)
    if not isinstance(anatomy.module.parent.get(node), cst.Assign) or _role_tested(anatomy, uses):
        return
    if not _has_tool_messages(anatomy) or any(w.slot == slot and w.function is function for w in anatomy.writes.all):
        return
    for use in uses:
        test = _compared_with_role(anatomy, use)
        if test is not None:
            message = (
                f"`{ex.source(node, 40)}` is compared with messages of one role, and is a tool message after a round"
                " with tools: nothing is ever found equal"
            )
            yield _draft(anatomy, node, message, Note(test, "compared here with messages of one role"))
            return


def _compared_with_role(anatomy: Anatomy, use: cst.BaseExpression) -> cst.CSTNode | None:
    """The `and` in which a member of the use is compared with that of another message, beside a test of its role."""
    found = _member_of(anatomy, use)
    if found is None or found[1] not in {"content", "text"}:
        return None
    comparison = next((n for n in anatomy.module.ancestors(found[0]) if not isinstance(n, cst.ComparisonTarget)), None)
    if not isinstance(comparison, cst.Comparison):
        return None
    above = anatomy.module.parent.get(comparison)
    if not isinstance(above, cst.BooleanOperation) or not isinstance(above.operator, cst.And):
        return None
    for part in walk(above):
        if isinstance(part, cst.Comparison) and (pair := ex.member(part.left)) is not None and pair[1] == "role":
            return above
    return None


def _has_tool_messages(anatomy: Anatomy) -> bool:
    return any(ex.text(node) == "tool" for node in anatomy.module.nodes_of(cst.SimpleString))


# -- history[i - 1] ----------------------------------------------------------------------------------------------


def _neighbour(anatomy: Anatomy, node: cst.Subscript, at: cst.BinaryOperation, function: Scope) -> Iterator[Draft]:
    """A walk that tests element i and takes element i±k."""
    if (
        not isinstance(at.left, cst.Name)
        or not ex.integer(at.right)
        or not isinstance(at.operator, (cst.Add, cst.Subtract))
    ):
        return
    uses = _uses(anatomy, node, function)
    returned = isinstance(anatomy.module.parent.get(node), cst.Return)
    if not (returned or any(_reads_calls(anatomy, use) for use in uses)) or _role_tested(anatomy, uses):
        return
    tested = _tested_at(anatomy, node, at.left, function)
    if tested is None:
        return
    taken = "returned" if returned else "used"
    message = (
        f"`{ex.source(tested, 40)}` is tested, its neighbour `{ex.source(node, 40)}` is {taken}: what stands there"
        " depends on the number of calls in the round"
    )
    yield _draft(anatomy, node, message, Note(tested, "the element whose role is tested"))


def _tested_at(anatomy: Anatomy, node: cst.Subscript, name: cst.Name, function: Scope) -> cst.CSTNode | None:
    """`h[i]` whose role is tested in an `if` around the use of its neighbour."""
    slot = anatomy.facts.slots.of(node.value)
    for outer in anatomy.module.ancestors(node):
        if isinstance(outer, cst.If):
            for inside in walk(outer.test):
                at = ex.index(inside)
                if isinstance(inside, cst.Subscript) and isinstance(at, cst.Name) and at.value == name.value:
                    member = _member_of(anatomy, inside)
                    if member is not None and member[1] == "role" and anatomy.facts.slots.of(inside.value) == slot:
                        return inside
        if outer is function.node:
            return None
    return None


# -- history[i] of a list that is cut ----------------------------------------------------------------------------


def _kept_place(anatomy: Anatomy, node: cst.Subscript, at: cst.Name, function: Scope) -> Iterator[Draft]:
    """A callback's `h[i]`, where i was `len(h) - 1` when it was made, and h is cut by others."""
    outer = function.parent.function if function.parent is not None else None
    if outer is None or outer.kind != "function" or function.owner is outer:
        return
    measured = _measured(anatomy, at, function, outer)
    slot = anatomy.facts.slots.of(node.value)
    if measured is None or anatomy.facts.slots.of(measured) != slot:
        return
    cut = next((w for w in anatomy.writes.by_slot[slot or ()] if w.kind in _CUTS and w.function is outer), None)
    if cut is None:
        return
    message = (
        f"`{ex.source(at, 30)}` is the place of a message at the time the callback was made: once the history is cut,"
        f" `{ex.source(node, 40)}` is another message"
    )
    yield _draft(anatomy, node, message, Note(cut.node, "the history is cut here"))


def _measured(anatomy: Anatomy, at: cst.Name, function: Scope, outer: Scope) -> cst.BaseExpression | None:
    """`h` where the name holds `len(h) - 1` of the function around, as a default or by closure."""
    value: cst.BaseExpression | None = at
    for param in parameters(function):
        if param.name.value == at.value:
            value = param.default
    if isinstance(value, cst.Name):
        assigned = anatomy.facts.assigned(("var", outer, value.value))
        value = assigned[0] if len(assigned) == 1 else None
    if not isinstance(value, cst.BinaryOperation) or ex.integer(value.right) != 1:
        return None
    size = value.left
    if isinstance(size, cst.Call) and ex.dotted(size.func) == "len" and len(size.args) == 1:
        return size.args[0].value
    return None
