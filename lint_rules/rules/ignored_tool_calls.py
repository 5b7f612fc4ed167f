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
calls, its finish reason and the types of its blocks are not, and the whole reply is handed to nobody who might look;
what functions of the project read of it, that are handed it, is seen. A log, a test or a loop of which nothing comes
(`if message.tool_calls: pass`) does not read them, nor does who takes the texts out of the blocks and passes the others
over (`if block.type == "text"`). The tools must be functions of the program: their schemas stand in the file, or
another reply to a request with the same tools is looked through for calls, or this one is, in vain; or another function
of a file that has calls in hand offers them, too. So it is with what nobody knows but that it answers the history that
it is handed: where it has given calls for the same words, it was offered tools; and with the tools that a method gets,
where another method of its class gets some and looks for calls. A request may be spread from a dict, be the body of an
HTTP request, or be made in a thread or once more after an error; tools that it gets only where there are some (`if
tools: request["tools"] = tools`) are those. Tools that run on the provider's servers, requests with `tool_choice`, and
tools that may be None are left alone. Chat completions, the Responses API, LiteLLM, Ollama and LangChain's `bind_tools`
are known.

Where a test of why a reply has ended tells whether there are calls (`stop_reason == "tool_use"`), and its tokens are
limited, a reply that is cut off within a call is followed as well: on its way, no text may be returned or stored as the
answer. Calls that are stored there are AGL601's business, and who asks for such an end (`"max_tokens"`) sees to it. So
is a reply with text and calls, where a test of its text leads it to where that is returned.

## Known problems
A function of the file that makes the request and returns the reply is followed to its callers; one that does more than
that, or stands in another file, is not.

## Fix safety
Shown only: the request says that no tool is to be called (`tool_choice="none"`, in the form of its API). Whether to go
round again instead is a decision. There is no fix for a request that a function makes for several callers, nor for one
of another API, or with a `**`.

## References
- OpenAI API reference, chat completions: `tools`, `tool_choice`
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import cast

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.calls.told import ToldByReply
from lint_rules.anatomy.rounds.offers import Offer, is_answered_elsewhere, offers
from lint_rules.anatomy.rounds.replies import read_of
from lint_rules.anatomy.turns.turns import MOST_REQUESTS
from lint_rules.anatomy.values.kinds import Kind
from lint_rules.repairs.ignored_tool_calls import repair
from lint_rules.rules.draft import Draft, Note
from lint_rules.syntax.module import Scope
from lint_rules.syntax.truth import evaluate, truth
from lint_rules.syntax.ways import Ways

_HELP = (
    'go round again while the reply has calls; where this is to be the last word, send no tools or `tool_choice="none"`'
)

_CUT_SHORT = (
    "a reply whose tokens run out within a call passes this test: its calls are lost, and what it has said until then"
    " passes for the answer"
)
_BOTH = "a reply with text and calls passes this test: its calls are lost, and what it says before them is the answer"
_CUT = "ask for the calls of the reply, not why it has ended, or ask again with more room where its tokens ran out"


def check(anatomy: Anatomy) -> Iterator[Draft]:
    offered = [offer for offer in offers(anatomy) if not _is_handled_inside(anatomy, offer)]
    read = [read_of(anatomy, offer) for offer in offered]
    for offer, what in zip(offered, read, strict=True):
        if what.calls or what.handed_on or what.text is None:
            continue
        looked_through = (other for other, r in zip(offered, read, strict=True) if r.calls)
        handled = next((other for other in looked_through if other.same(offer, anatomy)), None)
        known = offer.functions or handled is not None or what.seen is not None
        if known or is_answered_elsewhere(anatomy, offer):
            draft = _draft(anatomy, offer, what.text, handled)
            seen = [Note(what.seen, "the calls are seen here, and nothing is done")] if what.seen is not None else []
            yield replace(draft, related=(*draft.related, *seen))
    yield from _led_past(anatomy, [offer for offer, what in zip(offered, read, strict=True) if what.calls])


def _led_past(anatomy: Anatomy, offered: list[Offer]) -> Iterator[Draft]:
    """Tests that lead some replies with calls past the code that looks for these."""
    seen: set[cst.CSTNode] = set()
    of_function: defaultdict[Scope, list[Offer]] = defaultdict(list)
    for offer in offered:
        of_function[anatomy.module.scope_of[offer.call].function].append(offer)
    for function, made in of_function.items():
        if len(made) > MOST_REQUESTS:
            continue
        told = ToldByReply(anatomy, function)
        for offer in made:
            for message, cure, judge in ((_CUT_SHORT, _CUT, _cut_short), (_BOTH, _HELP, _both)):
                found = judge(anatomy, told, offer)
                if found is not None and found[0] not in seen:
                    seen.add(found[0])
                    yield Draft(found[0], message, cure, (Note(found[1], "the text is taken here"),))


def _cut_short(anatomy: Anatomy, told: ToldByReply, offer: Offer) -> tuple[cst.BaseExpression, cst.CSTNode] | None:
    """The test of why a reply has ended that leads one to where its text is taken, and that place; None without one.

    Who asks for such an end sees to it.
    """
    flags = told.cut_off
    if not flags or told.asks_for_cut:
        return None

    def says(test: cst.BaseExpression) -> bool | None:
        return truth(test, flags)

    return next(_led_to_text(anatomy, told, offer, says), None)


def _both(anatomy: Anatomy, told: ToldByReply, offer: Offer) -> tuple[cst.BaseExpression, cst.CSTNode] | None:
    """The test of a reply's text that leads one with calls to where the text is returned, and that place."""

    def atom(part: cst.BaseExpression) -> bool | None:
        kinds = anatomy.facts.kinds(part)
        return True if Kind.MODEL_TEXT in kinds and Kind.CALLS not in kinds else told.truth(part)

    def says(test: cst.BaseExpression) -> bool | None:
        value = evaluate(test, atom)
        return value if value is not None and told.truth(test) is None else None

    led = next(_led_to_text(anatomy, told, offer, says, surely=True), None)
    return led if led is not None and isinstance(led[1], cst.Return) else None


def _led_to_text(
    anatomy: Anatomy,
    told: ToldByReply,
    offer: Offer,
    says: Callable[[cst.BaseExpression], bool | None],
    *,
    surely: bool = False,
) -> Iterator[tuple[cst.BaseExpression, cst.CSTNode]]:
    """The test that leads a reply with calls past them, by what `says` knows of it, and where its text is taken then.

    Calls that are stored on the way are AGL601's. `surely`: nothing else is asked on the way.
    """
    function = told.function

    def outcome(node: cst.CSTNode) -> bool | None:
        if not isinstance(node, (cst.If, cst.While)):
            return None
        known = says(node.test)
        return told.outcome(node) if known is None else known

    graph, stored = anatomy.flow(function), anatomy.transcript.stored(function)
    kept = set(anatomy.points(function, [s.node for s in stored if s.calls is not None]))
    over = {p for p in graph.points if p in kept or told.asks(p) or told.settles(p)}
    texts = {s.node for s in stored if s.role == "assistant"}
    given = [n for n in function.nodes_of(cst.Return, cst.Yield) if n.value is not None and told.mentions(n.value)]
    goals = set(anatomy.points(function, [*texts, *given])) - over
    starts = anatomy.points(function, [offer.call])
    way = Ways(anatomy.module, function, graph).path(starts, goals, over, says=outcome) or []
    asked = [p.statement for p in way if isinstance(p.statement, (cst.If, cst.While))]
    if surely and any(outcome(node) is None for node in asked):
        return
    yield from ((node.test, cast(cst.CSTNode, way[-1].statement)) for node in asked if says(node.test) is not None)


def _is_handled_inside(anatomy: Anatomy, offer: Offer) -> bool:
    """Whether the function that makes the request, and is called here, looks for calls itself."""
    return offer.call is not offer.request and read_of(anatomy, replace(offer, call=offer.request, way=())).calls


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
