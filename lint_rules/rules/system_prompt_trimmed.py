"""# system-prompt-trimmed (AGL610)

## What it does
Reports a history that is cut by position from its front, where the system message lies.

## Why is this bad
When the conversation grows past the limit, the first thing to go is the system message: from then on the model works
without its instructions, its rules and its role, and nobody sees why it behaves differently.

## Symptoms
- in long chats the agent forgets its instructions
- after a while the agent falls out of its role

## Example
```python
class Chat:
    def __init__(self, client, prompt, limit=20):
        self.client, self.limit = client, limit
        self.messages = [{"role": "system", "content": prompt}]

    def ask(self, text):
        self.messages.append({"role": "user", "content": text})
        self.messages = self.messages[-self.limit :]
        reply = self.client.chat.completions.create(model="gpt-5", messages=self.messages)
        self.messages.append({"role": "assistant", "content": reply.choices[0].message.content})
        return reply.choices[0].message.content
```

## Use instead
```python
class Chat:
    def __init__(self, client, prompt, limit=20):
        self.client, self.limit = client, limit
        self.system = {"role": "system", "content": prompt}
        self.messages = []

    def ask(self, text):
        self.messages.append({"role": "user", "content": text})
        self.messages = self.messages[-self.limit :]
        reply = self.client.chat.completions.create(model="gpt-5", messages=[self.system, *self.messages])
        self.messages.append({"role": "assistant", "content": reply.choices[0].message.content})
        return reply.choices[0].message.content
```

## How it decides
This file puts a system message at the front of the list (or appends one to it, in a function that makes the list, or
that it calls itself: what only other files call may tell of anything, at any time), or one that imports it hands over
such a list, or begins its own object with such a message, or the list is what a run gives (`result.all_messages()`) of
an agent of Pydantic AI with a `system_prompt`, which only its first run puts there; and the list is cut by position
with nothing of its front kept: a slice (`h[-n:]`, `h[k:]`), `del h[:n]`, `h.pop(0)` while something is too large, or a
bound (`deque(maxlen=n)`). What is left is stored as the history or sent. Silent where the instructions are put there
behind the cut, or by each run into a list of its own, of which only a rest is stored; where what is left gets
instructions of its own, as does each request of the file (`[prompt, *h]`); where the front is kept or put back (`[h[0],
*h[-n:]]`, `del h[1:n]`, `h.insert(0, ...)`), and where a role is asked for: that of the first message, or one by which
messages are picked, or the system's, not where the next user speaks. Where the list may hold tool results, too, the
same cut is also orphaned-tool-result (AGL602): another harm, with another cure.

## Known problems
System messages that another file puts into the list later than in `__init__` are not seen.

## Fix safety
There is no fix: whether the system message is kept in the list or beside it is a matter of design.

## References
- OpenAI API reference, chat completions: instructions are a message of role `system` or `developer` in `messages`
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.cuts.trimming import Trim
from lint_rules.anatomy.messages.contents import Contents
from lint_rules.anatomy.messages.role_tests import SYSTEM, role_tests, told_classes, told_roles
from lint_rules.anatomy.values.known import sources
from lint_rules.anatomy.values.slots import is_parameter
from lint_rules.rules.draft import Draft, Note, beside, shown
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.walk import walk

_HELP = "keep the system message apart and put it in front of each request, or keep it: `[h[0], *h[1:][-n:]]`"


def check(anatomy: Anatomy) -> Iterator[Draft]:
    trimming = anatomy.trimming
    for trim in trimming.trims:
        if trim.cut.head > 0 or isinstance(trim.node, cst.ListComp):  # what fits is no front
            continue
        system = trimming.contents.system_message(trim.cut.base)
        if system is None or (trim.fate == "returned" and not system.used):
            continue
        if _keeps_front(anatomy, trimming.contents, trim) or _asks_for_system(anatomy, trim):
            continue
        if _comes_again(anatomy, trim, system.node) or _gets_another(anatomy, trimming.contents, trim):
            continue
        name = ex.source(trim.cut.base, 40)
        cut = (
            "drops its oldest messages by itself, and first"
            if trim.cut.shape == "bounded"
            else "is cut from its front,"
        )
        message = (
            f"`{name}` {cut} where the system message is: once it is gone, the model works without its instructions"
        )
        notes = [shown(system)]
        if trim.at is not trim.node:
            notes.append(Note(trim.at, f"what is left is {trim.fate} here"))
        yield Draft(trim.node, message, _HELP, beside(trim.node, notes))


def _asks_for_system(anatomy: Anatomy, trim: Trim) -> bool:
    """Whether who cuts, or runs or is run by that, asks for the system's role, that of the first message, or picks."""
    around = {site.caller for site in anatomy.calls.sites[trim.function]}
    nodes = [node for function in around | anatomy.calls.reachable(trim.function) for node in function.nodes]
    tests = [node for node in nodes if isinstance(node, (cst.Comparison, cst.Call))]
    picks = [clause for node in nodes if isinstance(node, cst.ListComp) for clause in node.for_in.ifs]
    return (
        any(not SYSTEM.isdisjoint(told_roles(test) or told_classes(test) or ()) for test in tests)
        or any(ex.integer(ex.index(subject)) == 0 for subject in role_tests(nodes, system=True))
        or any(told_roles(part) for clause in picks for part in walk(clause) if isinstance(part, cst.Comparison))
    )


def _keeps_front(anatomy: Anatomy, contents: Contents, trim: Trim) -> bool:
    """Whether the function takes the front of the list apart, or puts something there again."""
    here: cst.CSTNode = trim.node
    for outer in anatomy.module.ancestors(trim.node):  # `[system, *h[-n:]]`, `fixed + h[-n:]`
        if isinstance(outer, cst.List) and outer.elements and not anatomy.module.inside(here, outer.elements[0]):
            return True
        if isinstance(outer, cst.BinaryOperation) and here is outer.right:
            return True
        if isinstance(outer, (cst.BaseSmallStatement, cst.BaseCompoundStatement)):
            break
        here = outer
    taking = anatomy.module.loop_around(trim.node) if trim.cut.into is not None else None
    own = trim.node if taking is None else taking
    others = [node for node in trim.function.nodes if not anatomy.module.inside(node, own)]
    if any(_is_front(contents, node) and not _is_read(anatomy, node) for node in others):
        return True
    return any(_is_taken_off(contents, node) for site in anatomy.calls.sites[trim.function]
               for node in site.caller.nodes)  # fmt: skip


def _comes_again(anatomy: Anatomy, trim: Trim, system: cst.CSTNode) -> bool:
    """Whether each run puts the instructions into a list of its own: behind the cut, or always, and stores a rest."""
    slot, function = anatomy.facts.slots.of(trim.cut.base), trim.function
    put = anatomy.points(function, [system]) if slot is not None and slot[:2] == ("var", function) else []
    graph, cut = anatomy.flow(function), anatomy.points(function, [trim.node])
    if not put or slot is None or not graph.reaches(put, cut):
        return bool(put)
    target = anatomy.module.statement(trim.at)
    elsewhere = trim.fate == "stored" and not (
        isinstance(target, cst.Assign) and slot in map(anatomy.facts.slots.of, ex.targets(target))
    )
    own = not is_parameter(slot) and isinstance(trim.node, cst.Subscript)
    return elsewhere and own and not graph.reaches(graph.entry, cut, put)


def _gets_another(anatomy: Anatomy, contents: Contents, trim: Trim) -> bool:
    """Whether what is left gets instructions of its own: `recent = h[-2:]`, `[{"role": "system", ...}] + recent`."""
    bound = anatomy.module.statement(trim.node)
    left = ex.assigned(bound) if trim.cut.into is None else [trim.cut.into]
    names = [*map(anatomy.facts.slots.of, left)]
    sums = trim.function.nodes_of(cst.BinaryOperation) if names and None not in names else []
    of, sides = anatomy.facts.slots.of, [(each.left, each.right) for each in sums]
    sides += [(right, left) for left, right in sides]
    added = [other for one, other in sides if any(of(part) in names for part in (one, *sources(one)))]
    lists = [each for each in added if isinstance(each, cst.List)]
    return any(contents.is_system(part.value) for each in lists for part in each.elements)


def _is_taken_off(contents: Contents, node: cst.CSTNode) -> bool:
    """`h.pop(0)` in the function that asks for the rest to be cut."""
    if not isinstance(node, cst.Call) or ex.called_name(node) != "pop" or len(node.args) != 1:
        return False
    base = ex.receiver(node)
    return ex.integer(node.args[0].value) == 0 and base is not None and contents.history(base) is not None


def _is_read(anatomy: Anatomy, node: cst.CSTNode) -> bool:
    """`h[0]["content"]`, `h[0].role`: only looked at."""
    outer = anatomy.module.parent[node]
    return isinstance(outer, (cst.Subscript, cst.Attribute)) and outer.value is node


def _is_front(contents: Contents, node: cst.CSTNode) -> bool:
    """`h[0]`, `h[:k]`, `h.insert(0, m)`; also of what is left, by its own name."""
    if isinstance(node, cst.Call) and ex.called_name(node) in {"insert", "appendleft"}:
        return ex.called_name(node) == "appendleft" or ex.integer(node.args[0].value) == 0
    if not isinstance(node, cst.Subscript):
        return False
    part = ex.slice_of(node)
    front = ex.integer(ex.index(node)) == 0 or (part is not None and part.lower is None and part.upper is not None)
    return front and contents.history(node.value) is not None
