"""# ignored-tool-calls (AGL410)

## What it does
Reports a request that offers tools, where only the text of the reply is read.

## Why is this bad
A model that is offered tools may use them, each time: to look up a second thing, or to try again after an error. Code
that reads the text alone loses the call. The text of such a reply is usually empty, so the user gets no answer at all.
Handlers of one round are made so: they look for calls in the first reply, and not in the second.

## Symptoms
- the answer is empty after a tool was used
- the model says what it will do, and nothing happens

## Example
```python
def handle(client, messages, tools, execute):
    message = client.chat.completions.create(model="gpt-5", messages=messages, tools=tools).choices[0].message
    messages.append(message)
    for call in message.tool_calls or []:
        messages.append({"role": "tool", "tool_call_id": call.id, "content": execute(call)})
    final = client.chat.completions.create(model="gpt-5", messages=messages, tools=tools)
    return final.choices[0].message.content
```

## Use instead
```python
def handle(client, messages, tools, execute):
    for _ in range(10):
        message = client.chat.completions.create(model="gpt-5", messages=messages, tools=tools).choices[0].message
        messages.append(message)
        if not message.tool_calls:
            return message.content
        for call in message.tool_calls:
            messages.append({"role": "tool", "tool_call_id": call.id, "content": execute(call)})
    raise RuntimeError("too many rounds")
```

## How it decides
The value of the request is followed through the names of its function. The rule speaks when its text is read, its
calls, its finish reason and the types of its blocks are not, and the whole reply is handed to nobody who might look (a
history of which nobody takes calls is nobody, and so is a message with them that is only put down); what functions of
the project read of it, that are handed it, is seen. A log, a test or a loop of which nothing comes (`if
message.tool_calls: pass`) does not read them, nor does a test of the type of a block that no call passes (`if
block.type == "text"`). A reply that is given back unread counts as read for its text where the function gives back
another one so before it asks for this one, and looks for calls in that. The tools must be functions of the program:
their schemas stand in the file, or another reply to a request with the same tools is looked through for calls, or this
one is, in vain; or another function of a file that has calls in hand offers them, too. So it is with what nobody knows
but that it answers the history that it is handed: where it has given calls, it, or another one in the same words, was
offered tools; and with the tools that a method gets, where another method of its class gets some and looks for calls.
Tools that come with a chat, a bound model or a `config` are shown by calls in the reply to another request with it; a
client that makes several requests has none. A request may be spread from a dict, be the body of an HTTP request, or be
made in a thread or once more after an error; tools that it gets only where there are some (`if tools: request["tools"]
= tools`) are those. Tools that run on the provider's servers, requests with a `tool_choice` on all ways, tools that may
be None, and tests of what the offer hangs on (`tools if book else None`, `if calls and book`) are left alone. Of a
wrapper in another file the parameter is known that it offers as tools. Chat completions, the Responses API, Anthropic,
Bedrock, Gemini, LiteLLM, Ollama and LangChain's `bind_tools` are known.

Where a test of why a reply has ended tells whether there are calls (`stop_reason == "tool_use"`), and its tokens are
limited, a reply that is cut off within a call is followed as well: on its way, no text may be returned or stored as
the answer. Calls that are stored there are AGL601's business, and who asks for such an end (`"max_tokens"`) sees to
it. So is a reply with text and calls, where a test of its text, or whether its first block is one or is a call, leads
it to where that is the answer, and one that passes a test of its calls and of something else (`if calls and not
late`).

## Known problems
A function of the file that makes the request and gives back the reply, or parts of it, also in a tuple, is followed to
its callers; one that does more with it only where one of them looks for calls, one of another file not. Where all of
them read the text alone, the request in it is reported.

## Fix safety
Shown only: the request says that no tool is to be called (`tool_choice="none"`, in the form of its API). Whether to go
round again instead is a decision. There is no fix for a request that a function makes for several callers, nor for one
of another API, or with a `**`.

## References
- OpenAI API reference, chat completions: `tools`, `tool_choice`
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.rounds.offers import Offer, is_answered_elsewhere
from lint_rules.anatomy.rounds.replies import Read, replies
from lint_rules.rules.draft import Draft, Note
from lint_rules.rules.ignored_tool_calls.fixes import repair
from lint_rules.rules.ignored_tool_calls.led_past import By, led_past

_HELP = (
    'go round again while the reply has calls; where this is to be the last word, send no tools or `tool_choice="none"`'
)

_LED = {
    By.END: (
        "a reply whose tokens run out within a call passes this test: its calls are lost, and what it has said until"
        " then passes for the answer",
        "ask for the calls of the reply, not why it has ended, or ask again with more room where its tokens ran out",
    ),
    By.TEXT: (
        "a reply with text and calls passes this test: its calls are lost, and what it says before them is the answer",
        _HELP,
    ),
    By.STATE: (
        "a reply with calls passes this test, as it asks for something else, too: its calls are lost, and its text,"
        " which is mostly empty, is the answer",
        _HELP,
    ),
}


def check(anatomy: Anatomy) -> Iterator[Draft]:
    read = list(replies(anatomy))
    found: dict[cst.Call, list[Draft | None]] = {}
    for offer, what in read:
        given = _is_given_as_answer(anatomy, offer, what, read)
        if not what.returned or what.gives_text or given:
            found.setdefault(offer.request, []).append(_ignored(anatomy, offer, what, read, given=given))
    for request, drafts in found.items():
        told = [draft for draft in drafts if draft is not None]
        if len(told) == len(drafts) and told[0].node is not request:
            told = [replace(told[0], node=request, related=(Note(told[0].node, "asked here"), *told[0].related))]
        yield from told
    yield from _led_past(anatomy, [offer for offer, what in read if what.calls])


def _ignored(
    anatomy: Anatomy, offer: Offer, what: Read, read: list[tuple[Offer, Read]], *, given: bool
) -> Draft | None:
    """What is said of a reply of which the text alone is read, or which is `given` back as an answer."""
    text = what.text if not what.handed_on else None
    if offer.maybe or what.calls or (text is None and not given):
        return None
    function = anatomy.module.scope_of[offer.call].function
    looked_through = [other for other, r in read if r.calls and other.same(offer, anatomy)]
    beside = [other for other in looked_through if anatomy.module.scope_of[other.call].function is function]
    handled = next(iter([*beside, *looked_through]), None)
    known = offer.functions or handled is not None or what.seen is not None
    if not known and not is_answered_elsewhere(anatomy, offer):
        return None
    draft = _draft(anatomy, offer, text or offer.call, handled)
    seen = [Note(what.seen, "the calls are seen here, and nothing is done")] if what.seen is not None else []
    return replace(draft, related=(*draft.related, *seen))


def _is_given_as_answer(anatomy: Anatomy, offer: Offer, what: Read, read: list[tuple[Offer, Read]]) -> bool:
    """Whether callers get the reply unread, as they get one that is given back before, if it has no calls."""
    function, before = anatomy.module.scope_of[offer.call].function, anatomy.module.before
    given = [node for node in function.nodes_of(cst.Return) if before(node, offer.call)]
    return not what.calls and any(
        r.calls
        and not r.returned.isdisjoint(what.returned)
        and any(before(other.call, node) for node in given)
        and anatomy.module.scope_of[other.call].function is function
        and other.same(offer, anatomy)
        for other, r in read
    )


def _led_past(anatomy: Anatomy, offered: list[Offer]) -> Iterator[Draft]:
    """Tests that lead some replies with calls past the code that looks for these."""
    for led in led_past(anatomy, offered):
        message, cure = _LED[led.by]
        yield Draft(led.test, message, cure, (Note(led.text, "the text is taken here"),))


def _comes_next(anatomy: Anatomy, offer: Offer, node: cst.CSTNode) -> bool:
    """Whether a message is stored behind a request, without another one between."""
    function = anatomy.module.scope_of[offer.call].function
    others = [call for call in function.nodes_of(cst.Call) if call is not offer.call and anatomy.calls.asks(call)]
    return anatomy.leads(function, [offer.call], [node], set(anatomy.points(function, others)))


def _draft(anatomy: Anatomy, offer: Offer, text: cst.BaseExpression, handled: Offer | None) -> Draft:
    message = (
        f"the model is offered {offer.what}, but only the text of its reply is read: when it asks for a tool again,"
        " the call is lost and the answer is empty"
    )
    function = anatomy.module.scope_of[offer.call].function
    notes = [Note(text, "the text is read here")]
    kept = [stored.node for stored in anatomy.transcript.stored(function) if stored.role == "assistant"]
    notes += [Note(node, "and stored as the whole reply") for node in kept if _comes_next(anatomy, offer, node)][:1]
    if handled is not None:
        notes.append(Note(handled.call, "the calls in the reply to this request are not ignored"))
    return Draft(offer.call, message, _HELP, tuple(notes), fix=repair(anatomy, offer))
