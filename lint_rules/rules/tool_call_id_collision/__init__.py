"""# tool-call-id-collision (AGL409)

## What it does
Reports tool calls that are told apart by something that two calls can share: an id that is the tool's name or a
position in one message, a result whose name is an id, streamed pieces that are assembled by their position in the
chunk, names that are put together with `+=`, and buffers of which all entries are one dict.

## Why is this bad
A model may ask for the same tool twice in one message, and does ask for it again in later ones. With one id for both,
the results are mixed up: a call gets the result of another one, or none. Streamed pieces say by `index` which call they
belong to; by their position in the chunk, which is nearly always 0, the arguments of parallel calls run into one
another and are no JSON any more.

## Symptoms
- results of parallel tool calls are mixed up
- streamed arguments of two tool calls run into one another
- Anthropic: `` `tool_use` ids must be unique ``
- Anthropic: `` each tool_use must have a single result. Found multiple `tool_result` blocks with id ``
- OpenAI: `Invalid parameter: 'tool_call_id' of 'call_...' not found in 'tool_calls' of previous message.`
- Python: `json.decoder.JSONDecodeError: Extra data`

## Example
```python
def collect(stream):
    calls = {}
    for chunk in stream:
        for position, piece in enumerate(chunk.choices[0].delta.tool_calls or []):
            call = calls.setdefault(position, {"id": piece.id, "name": piece.function.name, "arguments": ""})
            call["arguments"] += piece.function.arguments or ""
    return list(calls.values())
```

## Use instead
```python
def collect(stream):
    calls = {}
    for chunk in stream:
        for piece in chunk.choices[0].delta.tool_calls or []:
            call = calls.setdefault(piece.index, {"id": piece.id, "name": piece.function.name, "arguments": ""})
            call["arguments"] += piece.function.arguments or ""
    return list(calls.values())
```

## How it decides
An id is that of a tool message, or of a dict or object that is a tool call by its other parts, also one that a
constructor with a name of its own makes (`Block.of_call(id=..., name=...)`). It is reported when it is, or falls back
to, the name of the same call, when it is made of nothing but the position in what the calls of one reply are made of,
or of how many of them there are so far, also beside the call's own name, and when it is a text that stands there for
all (where the program itself says which tool it is, as in an example or a script of replies, that is no collision). A
position in a history, in a list that outlives the reply, or of calls that have a message each, comes once; and where no
result says the id, nobody pairs by it. A name is no collision where a reply comes to one call, made in no loop for a
list of one. What stands in for a missing id is not reported where the function always parses the arguments (an API that
sends them as JSON text sends ids, too), nor where the file gives all calls ids. Positions and names of streamed pieces
are reported when they are used as a key and the piece's own `index` is never read; and arguments that are added to one
place for all calls of a stream, which nothing in its loop begins anew. Names put together with `+=` are reported beside
arguments that are put together so, where the id is assigned again: a server that sends it with every piece sends the
name, too. `[{}] * n` is reported where its entries become calls. A result that is written to the last call of a
list, by a function that did not put it there, is written to the wrong one when calls run side by side. An API that
pairs by name (Gemini) finds no call for a result whose name is the id that its message says: it is reported where the
file puts calls into that form by their names, and calls have ids of their own there. Results that a loop over the calls
keeps by the names of their tools, and that are looked up by these behind it, are those of the last call of each tool.

## Known problems
APIs that match results by name (Gemini) need no ids; there, the defect shows where an adapter gives ids to programs
that keep results by id. Servers that use an id again in a later message are not thought of.

## Fix safety
Safe: `[{}] * n` becomes `[{} for _ in range(n)]`. Unsafe: a name that is put together with `+=` is assigned (a server
may send it in parts, though none is known), and stays as it is where a piece has none; streamed pieces are told apart
by their `index` instead of their position, where that is used for nothing else behind the loop. An id has no fix: which
value is unique depends on the provider.

## References
- OpenAI API reference, chat completion chunk object: `delta.tool_calls[].index`
- Anthropic, Tool use: `tool_use` ids must be unique
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.calls import picks
from lint_rules.anatomy.calls.remaining_calls import one_at_a_time
from lint_rules.anatomy.values.identity import Identity
from lint_rules.rules.draft import Draft, Note
from lint_rules.rules.tool_call_id_collision import call_ids, pieces
from lint_rules.rules.tool_call_id_collision.fixes import repair
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.walk import walk

_BY_ID = "give each call an id of its own: the one that the model sent, or a fresh one (`uuid.uuid4().hex`)"
_BY_NAME = "give the result the name of the tool that was called"
_BY_INDEX = "use the piece's own `index`, which says to which call it belongs"
_ASSIGN = "assign the name, and put only the arguments together"
_APART = "make a dict for each entry: `[{} for _ in range(n)]`"
_KEEP = "keep each result by the id of its call"
_FIND = "find the entry by the id of its call"


def check(anatomy: Anatomy) -> Iterator[Draft]:
    yield from _ids(anatomy)
    yield from _positions(anatomy)
    yield from _joined(anatomy)
    yield from _names(anatomy)
    yield from _buffers(anatomy)
    yield from _last_entries(anatomy)
    for key, read in call_ids.results_by_name(anatomy):
        message = (
            f"results are kept by the tool's name, `{ex.source(key, 40)}`: of two calls of one tool, both get the"
            " result of the last"
        )
        yield Draft(key, message, _KEEP, (Note(read, "looked up by the name here"),))


def _ids(anatomy: Anatomy) -> Iterator[Draft]:
    for shared in call_ids.shared_ids(anatomy):
        what = ex.source(shared.value, 40)
        if shared.by == "name":
            message = f"the id of the call is the tool's name, `{what}`: two calls of one tool get each other's results"
        elif shared.by == "constant":
            message = f"each call made here has the id `{what}`: the results of two of them are mixed up, or refused"
        else:
            message = (
                f"the id `{what}` is the call's place in its message: the calls of the next message have the same ids,"
                " and their results are mixed up"
            )
        yield Draft(shared.value, message, _BY_ID, (Note(shared.source, f"the {shared.by}"),))
    for named, call in call_ids.results_by_id(anatomy):
        message = (
            f"the result bears the id of its call, `{ex.source(named, 40)}`, for the name by which this API finds the"
            " call: the model sees no result, and calls again"
        )
        yield Draft(named, message, _BY_NAME, (Note(call, "calls bear the tool's name here"),))


def _positions(anatomy: Anatomy) -> Iterator[Draft]:
    for loop, use, by_name in pieces.keys_of_pieces(anatomy, Identity(anatomy.facts)):
        by = "the tool's name" if by_name else "their place in the chunk"
        message = (
            f"streamed pieces are told apart by {by}, `{use.value}`, not by the call they belong to:"
            " the arguments of parallel calls run into one another"
        )
        note = Note(use, f"`{use.value}` is used as the key here")
        yield Draft(loop, message, _BY_INDEX, (note,), fix=repair(anatomy, loop) if not by_name else None)


def _joined(anatomy: Anatomy) -> Iterator[Draft]:
    identity = Identity(anatomy.facts)
    first_ones = {node for node, _ in picks.first_pieces(anatomy, identity)}  # of which first-tool-only-execution tells
    for node, place in pieces.joined_in_one_place(anatomy, identity):
        if node in first_ones or one_at_a_time(anatomy, anatomy.module.scope_of[node].function):
            continue
        message = (
            f"the pieces of all calls of a reply are put together in `{ex.source(place, 40)}`, whichever call they"
            " belong to: the arguments of parallel calls run into one another"
        )
        yield Draft(node, message, _BY_INDEX)


def _names(anatomy: Anatomy) -> Iterator[Draft]:
    for node, arguments in pieces.names_put_together(anatomy):
        message = (
            f"`{ex.source(node.target, 40)}` is put together with `+=`: where a server sends the name with each piece,"
            " the call is of a tool that does not exist"
        )
        notes = (Note(arguments, "the arguments, which do come in pieces"),)
        yield Draft(node, message, _ASSIGN, notes, "medium", fix=repair(anatomy, node))


def _buffers(anatomy: Anatomy) -> Iterator[Draft]:
    for node, filled in pieces.one_dict_many_times(anatomy):
        fills_up = any(isinstance(n, cst.Call) and ex.called_name(n) == "len" for n in walk(node))
        harm = "where the stream skips an index, calls" if fills_up else "parallel calls"
        message = f"all entries of `{ex.source(node, 40)}` are one dict: {harm} overwrite each other"
        notes = (Note(filled, "an entry is filled here, and so are all others"),)
        yield Draft(node, message, _APART, notes, fix=repair(anatomy, node))


def _last_entries(anatomy: Anatomy) -> Iterator[Draft]:
    for node, stored in call_ids.results_of_the_last(anatomy):
        message = (
            f"a result is written to the last call, `{ex.source(node, 40)}`:"
            " when calls run side by side, it is that of another one"
        )
        yield Draft(node, message, _FIND, (Note(stored, "the result is written here"),))
