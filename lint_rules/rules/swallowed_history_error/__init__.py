"""# swallowed-history-error (AGL607)

## What it does
Reports an error of loading or storing a history that is caught, and of which nobody learns: the handler passes, or
shows it where nobody looks (debug, info, warning, print). Also a handler that puts an empty history in the place of
one that could not be read, when that is written over the store later.

## Why is this bad
The conversation in memory and the stored one drift apart, and no one notices before the next start: turns are gone, or
a tool result stands there without its call and the API refuses the history. In the second form one failed read
destroys what all turns before have stored.

## Symptoms
- after a restart the chat is empty
- after a restart turns are missing, and no log says why

## Example
```python
import json


def remember(path, message):
    try:
        with open(path) as file:
            messages = json.load(file)
    except Exception:
        messages = []
    messages.append({"role": "assistant", "content": message})
    with open(path, "w") as file:
        json.dump(messages, file)
```

## Use instead
```python
import json


def remember(path, message):
    try:
        with open(path) as file:
            messages = json.load(file)
    except FileNotFoundError:
        messages = []
    messages.append({"role": "assistant", "content": message})
    with open(path, "w") as file:
        json.dump(messages, file)
```

## How it decides
The `try` holds a call that loads or stores a known history, a message, or something that holds them: by `json.dump` and
its like into a file, a method of a store (an object is one whose methods give a history, or messages of the class that
it gets, also where its class stands in another file, unless it only changes a list in memory), or a function of the
file that does so. What a function or method of the project saves of what it gets, or of its object, is read in its
body, whatever it is called; so is a function that gets a question and its answer, if another one gives them again. One
of which nobody takes out what it puts away keeps no conversation, nor does a framework's object that holds things for
each user in memory; the state of a thread that LangGraph keeps is one (`get_state`, `update_state`). The handler takes
every error, or one of files, databases and decoders. Errors that are logged with `error`, `exception` or `critical`,
shown on a console, also by a function of the project, or printed where the same function waits for what is typed,
raised, returned, counted or answered by other work are no finding; nor is a file that is not there yet. Nor is a `try`
around a whole turn, one that reads what a request gives, piece by piece, or gets the answer from whoever gives it and
stores it there, nor a copy of what the same function stores as a whole. What is a history is known from the file
itself, from a function of another file that gives one, from the class of an object that is made of what was loaded, or
from files that import it: they ask a model with what a function gives back, or hand one to it, or the answer of a model
beside the question, and the function puts that behind what it has loaded. Or from the place where it lies: what is read
where the file writes what holds a history. A message is also what a store is told in its parts (`add("assistant",
text)`). A loop over many stores that reads parts of each which are no history, titles say, loads none; nor does what
says that it gives a text, puts what it has read into one message under a role of its own, or reads what the file itself
has filled with constants. An empty history that is written over the stored one is reported, whatever the log says, and
also where the handler only goes on to an empty list before or behind it: it is written by the same function, or by any
of the file that writes the file, key or row from which it is loaded. Or where the history is put into an object that
was made just before, also by the method that made it, and is empty then. In a tuple it is one in the place where
histories are given. Empty is also a fresh document with an empty list in it, a copy of a constant or the result of a
function that gives one, and an object made from nothing but its key, empty lists, constants and the time; None counts
where who gets it begins anew. All rows of a key that are taken out and put in again are written over, too; a column of
a row is not, by another one. A handler that moves or copies the file first is none. A file that is named after the
time, or by chance, is a record, where no file is read by a name that is given or found; and a text that goes on as it
is where it cannot be decoded was not known to be a history.

## Known problems
What a store does whose class is not at hand is known by its name only. A store that is a mere copy for people (an
export, a transcript), always under one name, looks the same as the one that is loaded again.

## Fix safety
Unsafe: where the handler does nothing but log or pass, it logs the error with its traceback and raises it again. Where
an empty history takes the place there is no fix.

## References
- Python standard library, logging: `Logger.exception` logs the error with its traceback
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.program import handlers
from lint_rules.rules.draft import Draft, Note
from lint_rules.rules.swallowed_history_error.fixes import repair
from lint_rules.rules.swallowed_history_error.hidden_failures import HiddenFailure, hidden_failures
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.walk import nodes_below


def check(anatomy: Anatomy) -> Iterator[Draft]:
    for found in hidden_failures(anatomy):
        handler, transfer = found.handler, found.transfer
        note = Note(transfer.node, f"{'loads' if transfer.way == 'load' else 'stores'} `{transfer.held}`")
        if found.over is not None:
            yield _written_over(handler, note, found.over)
        elif found.replaced:
            cure = "log the error with its traceback, and raise it or tell the user"
            yield Draft(handler, _message(found), cure, (note,))
        else:
            cure = "log the error with its traceback (`log.exception`), and raise it or tell the user"
            yield Draft(handler, _message(found), cure, (note,), fix=repair(anatomy, handler))


def _written_over(handler: cst.ExceptHandler, note: Note, over: cst.CSTNode) -> Draft:
    message = (
        "any failed read passes for an empty history here, and that is written over the stored one:"
        " all turns so far are destroyed"
    )
    cure = "catch FileNotFoundError alone for the first start, and let other errors stop the write"
    return Draft(handler, message, cure, (note, Note(over, "the store is written again here")))


def _message(found: HiddenFailure) -> str:
    logged = _logged(found.handler)
    if found.transfer.way == "store":
        ends = "ends here unseen" if logged is None else f"ends in `{logged}`"
        held = found.transfer.held
        return f"an error of storing `{held}` {ends}: the conversation goes on, and is gone at the next start"
    who = "nobody learns of it" if logged is None else f"only `{logged}` learns of it"
    return f"when the history cannot be loaded, {who}: the turn goes on as if nothing were stored"


def _logged(handler: cst.ExceptHandler) -> str | None:
    """The call that notes the error, below the level of an error: `logger.warning`, `print`. None if there is none."""
    calls = (node for node in nodes_below(handler.body, cst.Call) if handlers.is_logging(node))
    return next((ex.dotted(call.func) or ex.called_name(call) for call in calls), None)
