"""# swallowed-llm-error (AGL309)

## What it does
Reports a failed request that looks like an answer of the model:

- a handler around the request ends the loop of rounds silently: it breaks, returns nothing, or puts a neutral value
  (`None`, `""`) in the place of the reply, which the loop takes for the end of the work;
- a handler makes a text of the error (`f"Error: {e}"`, "Sorry, something went wrong"), and this text is stored as what
  the model has said: by the same return, stream or variable as the answer, in this function, its callers, or other
  files;
- a handler leaves nothing in place of the answer (`""`, `None`, the end of the function), and an empty message is
  stored as what the model has said;
- a handler around the stream of a reply, whose pieces are handed on, says nothing: it ends as if all had been said.

## Why is this bad
A wrong key, a full quota, a request that the API refuses: all of them look like a model that has finished. The user
reads an empty or half answer, the caller goes on with it, and no log says that there was an error. A text that is
stored is worse: it is sent to the model in all later turns as its own words, and it imitates them. "Error: 401" in the
history is an example of how to answer. An empty message is refused by most APIs: all later turns fail.

## Symptoms
- the answer is empty, and there is no error in the log
- a wrong API key, or a full quota, looks like an agent with nothing to say
- the model says that it cannot be reached, or answers with "Error: ...", though the service works again
- "Sorry, something went wrong" stands in the database as a message of the assistant
- Anthropic: `messages: text content blocks must be non-empty`
- OpenAI: `Invalid value for 'content': expected a string, got null`

## Example
```python
def run(client, messages, tools, execute):
    answer = ""
    for _ in range(20):
        try:
            reply = client.chat.completions.create(model="gpt-5", messages=messages, tools=tools)
        except Exception:
            break
        message = reply.choices[0].message
        messages.append(message)
        answer = message.content or answer
        if not message.tool_calls:
            break
        messages.extend(execute(call) for call in message.tool_calls)
    else:
        raise RuntimeError("too many rounds")
    return answer
```

## Use instead
```python
def run(client, messages, tools, execute):
    for _ in range(20):
        reply = client.chat.completions.create(model="gpt-5", messages=messages, tools=tools)
        message = reply.choices[0].message
        messages.append(message)
        if not message.tool_calls:
            return message.content
        messages.extend(execute(call) for call in message.tool_calls)
    raise RuntimeError("too many rounds")
```

## How it decides
The request stands in the `try`, in a loop of rounds with tool calls or in a function that one calls, also from another
file; the handler takes every error, or one of a client library, and neither logs, raises, counts nor calls anything. It
must end the loop: by a `break` or `return` of its own, or because the value that it leaves, also one that was put there
before the `try` (`calls = []`), or what is picked of it, is tested (a key of an empty dict is none) and the loop then
ends, as silently, or by a flag that it asks for. A value that it returns tells nothing if the same one is returned
where the model's reply ends the loop. Attempts that are made again and other models that are asked instead are no
finding.

A text of an error is what stands where a request has failed, in a handler of all errors or of those of a library, or
behind a test of the response's status: words, or the error itself as text. It is followed to where it is stored as the
assistant's message: put into a history that is sent, or handed to a store (of which the code is read) with the role, or
by the call by which answers are stored, whatever marks them there. What is stored must be sent again: the request is
made with that history, or with what the same table, key or object gives; or another request of the file is, with what
it takes from that table, key or file; a list that was loaded is stored when it is saved, alone or in a document. Silent
where the two are told apart on the way: a flag beside the text, a test of the text for its own words, or for its kind
(`isinstance(reply, str)`), an exception; where the text has what another model was asked for in its place; where
another part of what was given is stored (`reply["content"]`, where the text is `reply["error"]`); and where it is only
shown. Where there is no text at all (`""`, `None`), it is followed as long as nothing is done with it, and any test of
it is enough.

A stream that breaks off is reported where the request offers tools, its pieces are yielded, or put into a queue or a
channel, and the handler does nothing, or logs at a level that is off by default. Silent where the end is told as well,
within the `try` behind the loop: it is missed then.

## Known problems
A loop that another file runs is not seen. What the caller of the loop makes of an empty answer is not looked at. A text
that another file stores is reported there, where it is stored, and not where it is made. One that is stored as a
summary is not seen, nor one in a list that is put into the prompt as text.

## Fix safety
There is no fix: whether to raise, to try again or to tell the user is for the program to say.

## References
- OpenAI and Anthropic Python libraries: errors are raised as `APIError` and its subclasses
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.finding import Related
from lint_rules.rules.draft import Draft, Note, beside
from lint_rules.rules.swallowed_llm_error.error_texts import ErrorText
from lint_rules.rules.swallowed_llm_error.kept_texts import KeptText, KeptTexts
from lint_rules.rules.swallowed_llm_error.quiet_ends import quiet_ends
from lint_rules.rules.swallowed_llm_error.torn_streams import torn_streams
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.module import Scope

_HELP = "raise the error, or log it and tell the user that the answer is incomplete"
_HELP_STREAM = "raise the error to who reads the pieces, or hand it on as one of them"
_HELP_TEXT = "raise the error, or give back something that is tested before the answer is stored"


def check(anatomy: Anatomy) -> Iterator[Draft]:
    for found in quiet_ends(anatomy):
        message = (
            f"an error of `{ex.source(found.request.func, 40)}` ends the loop here as if the model had finished:"
            " nobody learns of it, and what there is so far passes for the answer"
        )
        end = found.end if isinstance(found.end, Related) else Note(found.end, "here the loop ends")
        notes = beside(found.handler, [Note(found.request, "the request that fails"), end])
        yield Draft(found.handler, message, _HELP, notes)
    for torn in torn_streams(anatomy):
        message = (
            f"a stream of `{ex.source(torn.request.func, 40)}` that breaks off ends here like a whole one: who reads"
            " its pieces takes half an answer, or half the calls, for all of it"
        )
        notes = beside(torn.handler, [Note(torn.request, "the stream"), Note(torn.handed, "a piece is handed on here")])
        yield Draft(torn.handler, message, _HELP_STREAM, notes, "medium")
    seen: set[tuple[cst.CSTNode, Scope | None]] = set()
    for kept in KeptTexts(anatomy).found():
        keeper = anatomy.module.scope_of[kept.store].function
        told = {(text.node, keeper if text.anatomy is not anatomy else None): text for text in kept.texts}
        texts = [text for key, text in told.items() if key not in seen]
        seen.update(told)
        if texts:
            yield _as_answer(anatomy, kept, texts)


def _as_answer(anatomy: Anatomy, kept: KeptText, texts: list[ErrorText]) -> Draft:
    """At the text, where it stands in this file, else where what a function of another one gives is stored."""
    here = [text for text in texts if text.anatomy is anatomy]
    first = here[0] if here else texts[0]
    request = ex.source(first.request.func, 40)
    others = [Note(text.node, "this text of an error") for text in here]
    if here and first.is_nothing:
        message = (
            f"when `{request}` fails, nothing is left here in place of the answer, and that is stored as what the model"
            " has said: the API refuses an empty message, and so the next turn, or the model finds that it was silent"
        )
        others = []
    elif here:
        message = (
            f"the text of an error of `{request}` passes for the model's answer: it is stored as what the model has"
            " said, and sent to it in all later turns"
        )
    if here:
        notes = [*others, Note(kept.store, "stored here"), Note(first.request, "the request that fails")]
        return Draft(first.node, message, _HELP_TEXT, beside(first.node, notes))
    said = "nothing, after" if first.is_nothing else "the text of"
    message = (
        f"what is stored here as the model's answer may be {said} an error of `{request}`, which"
        f" `{first.function.name}` gives back like an answer: it is sent to the model in all later turns"
    )
    given = [Note(kept.given, "given here")] if kept.given is not None else []
    elsewhere = [Note(text.node, "this text of an error", text.anatomy.module) for text in texts]
    return Draft(kept.store, message, _HELP_TEXT, beside(kept.store, [*given, *elsewhere]))
