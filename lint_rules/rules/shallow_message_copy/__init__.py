"""# shallow-message-copy (AGL201)

## What it does
Reports a store into a nested part of a shallow copy of a message or history.

## Why is this bad
`dict(m)`, `m.copy()`, `{**m}`, `list(h)` and `h[:]` copy one level. The list of tool calls, the content blocks and
(for a copied history) the messages themselves stay the original's. A change made "only for this request" then
changes the stored conversation: cut arguments are no longer JSON, removed images are gone for good.

## Symptoms
- old messages change by themselves
- images or long results are gone from the stored chat, although only the request was to be made shorter
- the stored arguments of a tool call are cut

## Example
```python
def shorten(message):
    slim = dict(message)
    for call in slim.get("tool_calls", ()):
        call["function"]["arguments"] = "{}"
    return slim
```

## Use instead
```python
def shorten(message):
    slim = copy.deepcopy(message)
    for call in slim.get("tool_calls", ()):
        call["function"]["arguments"] = "{}"
    return slim
```

## How it decides
A copy of something known to be a message, a history or tool calls (also a parameter that is called messages, annotated
as a list of dicts, and whose elements have a `content`) is followed through the function's control flow, through loop
variables, keys, unpacking and helpers of the same file; one that `__init__` makes of what a caller still holds, also
where another method alone goes on with it. So is a copy of a dict that holds a history under a key. A store counts when
it reaches deeper than the copy is new, and somebody else (a caller, an object, later code, the list it was put into,
what a function keeps that gives it) still holds the original. A list of messages that is picked out to be edited, and
then only counted, is no copy. Replacing a top-level key of a copied message is harmless and silent, and so is a nested
part that was replaced by a new object first, and an attribute of a message object that no request is made of
(`message.step = 3`). Silent, too, is a copy that takes the original's place (`self.history = kept`), also where all
callers put it there, or have made what they hand over for the call.

Arguments of a tool call that are edited for its run count, too, where the message that was stored with the call holds
the same dict: the reply itself, or a message that is put together from its calls. As JSON text or a copy they do not.

## Known problems
What functions of other files do with a copy is not seen.

## Fix safety
Unsafe: the copy is made deep where it is made (`copy.deepcopy`, `model_copy(deep=True)`), which takes longer, and other
code may count on the parts being shared. Copies that do more than copy are left alone, and so are those that another
function edits than the one that makes them or asks for them.

## References
- Python library reference, `copy`: shallow and deep copy operations
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.messages.given import docstring
from lint_rules.anatomy.values.kinds import Kind
from lint_rules.anatomy.values.sharing import SharedStore
from lint_rules.anatomy.vocabulary import MESSAGE_PARTS
from lint_rules.rules.draft import Draft, Note
from lint_rules.rules.shallow_message_copy.edited_calls import EditedCall, edited_calls
from lint_rules.rules.shallow_message_copy.fixes import repair
from lint_rules.syntax import expressions as ex

_HELP = "copy as deep as you change: `copy.deepcopy(...)`, `model_copy(deep=True)`, or rebuild the nested part first"


_SENT = MESSAGE_PARTS | {
    "role", "name", "text", "images", "image", "audio", "files", "attachments", "blocks", "function", "input", "output",
    "arguments", "thinking", "thinking_blocks", "reasoning", "refusal", "cache_control", "tool_name", "tool_input",
    "tool_results", "additional_kwargs", "prefix", "id", "type", "data",
}  # fmt: skip
"""Attributes of message objects that requests are made of."""
_IN_PLACE = re.compile(r"\bin[- ]place\b", re.IGNORECASE)


def check(anatomy: Anatomy) -> Iterator[Draft]:
    stores: dict[cst.CSTNode, list[SharedStore]] = {}  # one copy is one defect, however often it is stored into
    claimed: set[cst.CSTNode] = set()
    for store in anatomy.shared_stores.all():
        if store.node not in claimed and not _is_announced(anatomy, store) and not _is_bookkeeping(anatomy, store):
            claimed.add(store.node)
            stores.setdefault(store.copy.node, []).append(store)
    for found in stores.values():
        found.sort(key=lambda store: anatomy.module.order[store.node])
        yield _draft(anatomy, found[0], found[1:4])
    for edited in edited_calls(anatomy):
        if edited.node not in claimed:
            yield _edited(edited)


def _edited(edited: EditedCall) -> Draft:
    message = (
        f"`{ex.source(edited.target, 40)}` stands in the message that was stored with the call, too: the history holds"
        " arguments that the model never wrote"
    )
    notes = (Note(edited.stored, "stored here, with the same arguments"),)
    return Draft(edited.node, message, "run the tool with a copy: `{**arguments, key: value}`", notes)


def _is_announced(anatomy: Anatomy, store: SharedStore) -> bool:
    """A helper that says it edits in place, and gets a copy of the list only: its caller wants the edit to be seen."""
    function = anatomy.module.scope_of[store.node].function
    return function is not store.copy.function and _IN_PLACE.search(docstring(function)) is not None


def _is_bookkeeping(anatomy: Anatomy, store: SharedStore) -> bool:
    """`message.step = 3`: a note of the program's own on a message object, which no request holds."""
    if not isinstance(store.node, (cst.Assign, cst.AnnAssign, cst.AugAssign)):
        return False
    attributes = [target for target in ex.targets(store.node) if isinstance(target, cst.Attribute)]
    return Kind.MESSAGE in anatomy.facts.kinds(store.target) and bool(attributes) and not any(
        target.attr.value in _SENT for target in attributes
    )  # fmt: skip


def _draft(anatomy: Anatomy, store: SharedStore, more: list[SharedStore]) -> Draft:
    original = ex.source(store.copy.source, 40)
    message = (
        f"`{ex.source(store.target, 40)}` is shared with `{original}`, of which only a shallow copy was made:"
        " the original changes too"
    )
    root = store.copy.evidence.root
    notes = [Note(store.copy.node, f"this copies `{original}` one level deep")]
    if root.node is not store.copy.node:
        notes.append(Note(root.node, f"an agent's messages: {root.clause}"))
    notes += [Note(other.node, "this, too, changes the original") for other in more]
    return Draft(store.node, message, _HELP, tuple(notes), fix=repair(anatomy, store))
