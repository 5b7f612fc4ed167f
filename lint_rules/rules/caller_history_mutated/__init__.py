"""# caller-history-mutated (AGL202)

## What it does
Reports functions that prepare a request or convert messages, and for that edit the messages of their caller: they write
into an element, remove messages, or add an instruction, while neither name nor docstring says so. Also properties,
`__str__` and their like that show a message, and edit it for that.

## Why is this bad
The caller's history keeps the edit. The next request holds the instruction twice, after a retry three times; an image
or a field that was only left out of one request is gone for good; another agent, the user interface or the store sees
text that nobody wrote.

## Symptoms
- an instruction stands in the history twice, after a retry three times
- the stored chat has text that nobody wrote
- images are gone from the history after one request

## Example
```python
def ask_for_json(client, messages):
    messages[-1]["content"] += "\\nAnswer with JSON only."
    reply = client.chat.completions.create(model="gpt-5", messages=messages)
    return reply.choices[0].message.content
```

## Use instead
```python
import copy


def ask_for_json(client, messages):
    request = copy.deepcopy(messages)
    request[-1]["content"] += "\\nAnswer with JSON only."
    reply = client.chat.completions.create(model="gpt-5", messages=request)
    return reply.choices[0].message.content
```

## How it decides
The parameter is known as a history or message by its type or its use (sent to a model, read as a message). Its value is
followed through the function: names bound to it or to its elements, loops, slices, one message that is picked out
(`next(...)`, `max(...)`, a function of the file that gives one back); a copy, or a new binding, ends it. Reported is a
store into content, role, calls or parts of a message; messages that are removed or put in before the rest; and a fixed
instruction that is appended where the function asks the model once. Messages that are removed or put in count where the
function asks, streams, or gives a request with the very list in it. Functions that return nothing and ask nobody are
there to edit. Silent is: a list that is emptied, which nobody does but for who holds it, or cut back to the length that
was taken of it before; a name like `add_...`, `trim_...`, `set_...`, `apply_...`; a docstring that says "in place",
"modifies", "appends to"; a function that returns or yields the very list or message it got (a message only where no
caller is seen to pass one that others hold); a message that every caller passes along with a reply, or with a piece of
its stream: it is put together from them; a private function or method without a caller in sight; callers that all pass
something made for the call, and do not use it again, or put the result in its place, also in files that import this
one. An agent loop that appends replies and results to the list it got is silent, too, and may take a question back:
that is how conversations are kept; and so is a record that is known as a message by its calls alone, and gets more of
these.

The objects of a class are messages when a method without arguments makes one of them. Of such a class, members that are
only read (`@property`, `__str__`, `__repr__`, `__rich__`) are reported when they store under a key of an element that
a loop takes out of the object; attributes of elements are not, as these are often kept for later.

## Known problems
Of callers in other files only lists of messages are known, and whether these are gone when the call has ended.

## Fix safety
Unsafe: the function begins with a copy, as deep as it edits. A caller may count on the edit. There is no fix for a
function that returns nothing, since the edit is what it does; none for a method that hands the messages on and whose
caller is not seen: who runs such steps may copy once for all; and none where a message is edited after its request was
put together: a copy would only hide that the edit came too late.

## References
- OpenAI and Anthropic API references: the conversation is kept by the program and sent whole with each request
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.cuts.cuts import is_length
from lint_rules.anatomy.messages.given import Given
from lint_rules.anatomy.values.kinds import Kind
from lint_rules.anatomy.values.sharing import SharedStore
from lint_rules.rules.caller_history_mutated.edited import (
    edited,
    hands_back,
    is_only_filled,
    is_put_together,
    owned_by_callers,
)
from lint_rules.rules.caller_history_mutated.fixes import repair
from lint_rules.rules.caller_history_mutated.shown import ShownEdit, shown_edits
from lint_rules.rules.draft import Draft, Note
from lint_rules.syntax import expressions as ex

_HELP = "work on a copy: `copy.deepcopy(messages)` at the entry, or build the changed message anew"
_SENT = frozenset(
    {"content", "role", "tool_calls", "function_call", "tool_call_id", "parts", "images", "cache_control", "name"}
)
_ORDERS = frozenset({"reverse", "sort"})
_CUTS = frozenset({"pop", "remove", "insert", "popleft", *_ORDERS})
"""Not `clear`: who empties a list that others hold does it for them, for itself a new one does."""
_ADDS = frozenset({"append", "extend"})
_EDITS = frozenset({"pop", "update", "setdefault", "append", "extend", "insert", "remove", "clear"})


def check(anatomy: Anatomy) -> Iterator[Draft]:
    reported: set[cst.Param] = set()  # one list is one defect, however it is edited
    for given in edited(anatomy):
        stores = [store for store in given.stores if _matters(anatomy, given, store)]
        if stores and given.param not in reported and _is_secret(anatomy, given):
            reported.add(given.param)
            yield _draft(anatomy, given, stores)
    told: set[cst.CSTNode] = set()
    for edit in shown_edits(anatomy):
        if edit.function.node not in told:
            told.add(edit.function.node)
            yield _shown(edit)


def _shown(edit: ShownEdit) -> Draft:
    kept = ex.source(edit.kept, 40)
    message = (
        f"`{edit.function.name}` is only read, and edits an element of `{kept}`: what it shortens to show it is"
        " shortened in the conversation, too"
    )
    notes = (Note(edit.evidence.root.node, "objects of this class are messages: one is made of them here"),)
    return Draft(edit.node, message, "build what is shown anew: `{**element, key: value}`", notes)


def _is_secret(anatomy: Anatomy, given: Given) -> bool:
    """Whether neither the function nor its callers tell that the caller's messages are edited."""
    function = given.function
    if not _is_for_something_else(anatomy, given):
        return False
    if is_put_together(anatomy, given) or is_only_filled(anatomy, given):
        return False
    owned = owned_by_callers(anatomy, given)
    if hands_back(anatomy, given) and not (owned and given.kind is Kind.MESSAGE):
        return False
    hidden = function.name.startswith("_") and not function.name.endswith("__")
    return owned if owned is not None else not (hidden or anatomy.calls.references[function])


def _is_for_something_else(anatomy: Anatomy, given: Given) -> bool:
    """Whether the function asks a model or returns something: it is not there to edit."""
    if anatomy.calls.reaches_llm(given.function):
        return True
    return any(isinstance(n, cst.Return) and n.value is not None and ex.dotted(n.value) not in ex.CONSTANTS
               for n in given.function.nodes)  # fmt: skip


def _matters(anatomy: Anatomy, given: Given, store: SharedStore) -> bool:
    """Whether a store changes what the caller's next request would say."""
    if given.level == "message":
        return _changes_message(given, store) and not _is_record_of_calls(given, store)
    node = store.node
    if anatomy.module.scope_of[node].function is not given.function:
        return False  # a callback that puts a summary in the place of what it sums up
    if isinstance(node, cst.Call):
        if ex.called_name(node) in _CUTS:
            kept = ex.called_name(node) != "insert" and _keeps_talk(anatomy, given, node)
            goes_on = ex.called_name(node) in _ORDERS or _goes_on(anatomy, given)
            return ex.key(node) is None and goes_on and not kept
        return ex.called_name(node) in _ADDS and _adds_instruction(anatomy, given, node)
    return isinstance(node, cst.Del) and not _undoes(anatomy, node) and _goes_on(anatomy, given)


def _keeps_talk(anatomy: Anatomy, given: Given, cut: cst.Call) -> bool:
    """Whether the function puts what the model or a tool says into the list itself, by whatever name it cuts it.

    Its callers have it back with that.
    """
    slots, base = anatomy.facts.slots, ex.receiver(cut)
    names = {slots.parameter(given.function, given.param.name.value), slots.of(base)}
    stored = (one for one in anatomy.transcript.stored(given.function) if one.slot in names and one.kind == "append")
    return any(one.role == "assistant" or one.answers for one in stored)


def _is_record_of_calls(given: Given, store: SharedStore) -> bool:
    """`run.tool_calls.append(it)`, of what only its calls tell is a message: a record that the program keeps."""
    into = ex.member(store.target)
    return given.evidence.root.reason.startswith("its `tool_calls`") and into is not None and into[1] == "tool_calls"


def _undoes(anatomy: Anatomy, node: cst.Del) -> bool:
    """`del messages[start:]`, where that was their number before: only what the function has added goes."""
    part = ex.slice_of(node.target)
    if not isinstance(node.target, cst.Subscript) or part is None or part.lower is None or part.upper is not None:
        return False
    marked = anatomy.facts.values_of(part.lower)
    return bool(marked) and all(is_length(value, node.target.value) for value in marked)


def _goes_on(anatomy: Anatomy, given: Given) -> bool:
    """Whether the function asks a model, streams what one says, or gives a request: it takes nothing out for others."""
    if anatomy.calls.reaches_llm(given.function) or given.function.is_generator:
        return True
    slots, name = anatomy.facts.slots, given.param.name
    held = (part for value in given.function.returned for part in ex.dict_items(value).values())
    return any(slots.of(part) == slots.of(name) for part in held)


def _changes_message(given: Given, store: SharedStore) -> bool:
    """A store into what is sent of a message, however deep in it."""
    keys: list[str] = []
    node = store.node
    if isinstance(node, cst.Call):
        key = ex.key(node)
        if ex.called_name(node) not in _EDITS:
            return False
        keys.append(key or "")
    targets: list[cst.CSTNode] = []
    if isinstance(node, cst.Assign):
        targets = [target.target for target in node.targets]
    elif isinstance(node, (cst.AugAssign, cst.AnnAssign, cst.Del)):
        targets = [node.target]
    here: cst.CSTNode | None = store.target
    for target in targets:
        pair = ex.member(target)
        keys.append(pair[1] if pair is not None else "")
    while here is not None:
        pair = ex.member(here)
        if pair is None:
            here = here.value if isinstance(here, cst.Subscript) else None
        else:
            if isinstance(pair[0], cst.Name) and pair[0].value == given.param.name.value and given.kind is Kind.HISTORY:
                return False  # `state["asked"]`: no element of a list
            keys.append(pair[1])
            here = pair[0]
    return any(key in _SENT for key in keys)


def _adds_instruction(anatomy: Anatomy, given: Given, call: cst.Call) -> bool:
    """A message with a fixed text, in a function that asks the model once and keeps no answers in the list."""
    if given.function not in anatomy.calls.llm_calls:
        return False
    kept = anatomy.transcript.stored(given.function)
    if any(stored.role in {None, "assistant", "tool"} for stored in kept if stored.kind != "rebind"):
        return False
    value = ex.positional(call)[0] if ex.positional(call) else None
    items = ex.dict_items(value) if value is not None else {}
    if "content" not in items or ex.text(items["content"]) is None:
        return False
    return all(loop.function is not given.function for loop in anatomy.rounds)


def _draft(anatomy: Anatomy, given: Given, stores: list[SharedStore]) -> Draft:
    name = given.param.name.value
    what = "a message" if given.level == "message" else "the list"
    message = (
        f"`{given.function.name}` edits {what} that its caller passed as `{name}`, and nothing says so:"
        " the caller's history keeps the edit, and so does every later request"
    )
    notes = [Note(given.param, f"`{name}` is the caller's {given.kind.value}: {given.evidence.clause}")]
    notes += [Note(store.node, "edited here, too") for store in stores[1:3]]
    return Draft(stores[0].node, message, _HELP, tuple(notes), fix=repair(anatomy, given))
