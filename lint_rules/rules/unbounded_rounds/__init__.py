"""# unbounded-rounds (AGL302)

## What it does
Reports a loop of rounds (ask the model, run its tools, ask again) that nothing ends but the model's own reply: there
is no limit on rounds, time, tokens or cost, or the limit is none.

## Why is this bad
A model that is stuck asks for the same tool for ever, or answers a failing tool with one more try. Each round sends
the whole history again, and is paid for. The user gets no answer; the run ends when the context window, the quota or
the money is used up.

## Symptoms
- my agent never stops
- a tool that fails is called over and over
- one run used up the quota, or the whole context window

## Example
```python
def run(client, messages, tools, execute):
    while True:
        message = client.chat.completions.create(model="gpt-5", messages=messages, tools=tools).choices[0].message
        messages.append(message)
        if not message.tool_calls:
            return message.content
        messages.extend(execute(call) for call in message.tool_calls)
```

## Use instead
```python
def run(client, messages, tools, execute):
    for _ in range(20):
        message = client.chat.completions.create(model="gpt-5", messages=messages, tools=tools).choices[0].message
        messages.append(message)
        if not message.tool_calls:
            return message.content
        messages.extend(execute(call) for call in message.tool_calls)
    raise RuntimeError("no answer after 20 rounds")
```

## How it decides
The branches that lead out of the loop are found on its control-flow graph. What they test is followed backwards:
through flags and other variables that the loop sets, through functions of the same file, and through objects that the
loop makes to read the reply. The loop is reported when all that is found there is the model's reply. A limit is a test
that leaves the loop, of something that moves with the rounds and lives on from one to the next: a counter, the clock,
the length of what the loop fills, tokens used; a guard against repeats; a timeout around the loop or around a call of
its function; tools that are no longer offered after some rounds (none at all: where one of several is left out, the
others go on); an exception that a called function raises on such a test. What such a thing is called does not matter,
and no name makes a limit: `max_workers > 1` is none, nor is a counter of attempts that each round sets back, nor the
length of the history where it is only shortened. A bound of `inf`, `sys.maxsize` or `10**15`, also as a parameter's
default, or as what is handed on to such a loop or to that of a library, is no limit; a test after which the loop goes
on is none either, nor what the loop overwrites before anybody reads it. What code that cannot be read here decides in
each round, or counts in an object that it gets, may be a limit, and so may what is told a counter there. A limit past
which the loop comes from one request to the next is none: where the reply decides whether anybody is waited for
(`listening = not calls`), the loop is reported if rounds with calls meet no other limit. A loop over a stream that
ends, and does not break off, may end the rounds by its `else`. What is asked on the way out (a title) is no round.

Rounds are also those of a `while` that asks until what the model says is right, where nothing else that the loop moves
decides about its end (`while mark < enough: mark = judge(draft)`), taken apart by functions alone: what an object does
with it (`board.play(move)`) has an end of its own. A `while` that asks is reported, too, when nothing ends it: it has
no way out, or tests only local names that no round binds, and that it hands to nobody who edits them
(`while len(parts) > 1` over parts that stay). None that waits for somebody, pauses (`sleep`), or yields.

A function that ends by calling itself, also through one helper, is a loop. One that goes on after such a call is
reported at the call, where the model's reply decides about it, in whichever function of the file that stands; a number
or a switch that is handed on changed and asked for (not a switch with which the next round comes all the same), a size,
or a person's word in each round make it silent. Loops are silent that wait for a person, a queue or a socket on every
way round (a question before some of the tools is on some ways only), and so are limits that come from the settings,
even where these allow for none (AGL905 reports that). Replies are known in the forms of OpenAI (chat completions,
responses), Anthropic, Google, Bedrock, Mistral, Ollama, LiteLLM and LangChain, and of wrappers of these, also in other
files of the project; and so is what comes back for a history that is posted, or handed to somebody, where it is read as
a reply and stored in that history, what comes back for a posted body and is read so, what a stream gives whose pieces
are added up to a reply, and what an object gives that was made with a system prompt and a model's parameters
(`judge.run(text)`). A number that is read of a reply is the model's word, too: `mark >= enough` is no limit.

## Known problems
A loop whose end hangs on something else that moves (a plan, the state of another
object) is not reported. Of a limit that a function of another file keeps by raising, only the name is seen.

## Fix safety
Shown only: how many rounds are enough, and what to tell the user then, is known to the author only. The diff limits
them by a constant, and raises an error when they are used up. There is none where the loop has an `else`, is no `while`
(a function that calls itself), or has a limit that is none.

## References
- Anthropic, Building effective agents: stopping conditions, such as a maximum number of iterations
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.rounds.limits import Cause, Limits
from lint_rules.anatomy.rounds.rounds import RoundLoop
from lint_rules.rules.draft import Draft, Note
from lint_rules.rules.unbounded_rounds.fixes import repair
from lint_rules.rules.unbounded_rounds.handed import huge_limits
from lint_rules.rules.unbounded_rounds.recursions import Recursion, endless_recursions
from lint_rules.rules.unbounded_rounds.stuck import stuck_loops
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.mentions import names_in

_HELP = "count the rounds (`for _ in range(MAX_ROUNDS)`), and tell the caller when none is left"


def check(anatomy: Anatomy) -> Iterator[Draft]:
    found = [draft for loop in anatomy.rounds if (draft := _judge(anatomy, loop)) is not None]
    yield from found
    for loop in anatomy.loops_of_turns if not found else ():
        draft = _judge(anatomy, loop)
        if draft is not None:
            yield draft
    told = {draft.node for draft in found}
    yield from (_stuck(loop) for loop in stuck_loops(anatomy) if loop.node not in told)
    yield from (_called_again(recursion) for recursion in endless_recursions(anatomy))
    for number in huge_limits(anatomy):
        message = (
            f"`{ex.source(number, 20)}` is handed on as the limit of the rounds, and is none: a model that keeps asking"
            " for tools is called, and paid for, without end"
        )
        yield Draft(number, message, "hand on a number that ends the rounds in time")


def _called_again(found: Recursion) -> Draft:
    name = found.entry.name
    message = (
        f"`{name}` is run again for each reply that asks for more, and nothing but the model's own reply ends that:"
        " it is called, and paid for, without end"
    )
    notes = [Note(found.asks, "the model is asked here, in each round")]
    notes += [Note(site.node, f"it comes here by `{site.callee.name}`") for site in found.way[:-1]]
    return Draft(found.call, message, f"hand `{name}` the number of rounds that are left, and stop at 0", tuple(notes))


def _stuck(loop: RoundLoop) -> Draft:
    test = loop.node.test if isinstance(loop.node, cst.While) else loop.node.iter
    tested = f"nothing in this loop changes `{ex.source(test, 50)}`, and " if names_in(test) - {"True"} else ""
    message = f"{tested}nothing ends this loop: the model is called, and paid for, without end"
    return Draft(loop.node, message, _HELP, (Note(loop.asks, "the model is asked here, in each round"),))


def _judge(anatomy: Anatomy, loop: RoundLoop) -> Draft | None:
    limits = Limits(anatomy, loop.node, loop.function)
    said = next((decision for decision in limits.decisions if decision.cause is Cause.REPLY), None) or limits.rest
    if said is None or limits.limit is not None or limits.waits is not None:
        return None
    return _draft(anatomy, loop, limits, Note(said.node, "the model's reply alone decides here"))


def _draft(anatomy: Anatomy, loop: RoundLoop, limits: Limits, said: Note) -> Draft:
    notes = [Note(loop.asks, "the model is asked here, in each round")]
    if limits.endless:
        endless = limits.endless[0]
        message = (
            f"`{ex.source(endless.test, 50)}` is no limit, as `{ex.source(endless.bound, 20)}` is never reached:"
            " a model that keeps asking for tools is called, and paid for, without end"
        )
        return Draft(loop.node, message, "give the limit a number by default", (Note(endless.test, "here"), *notes))
    message = (
        "nothing but the model's own reply ends this loop: a model that keeps asking for more is called, and paid for,"
        " without end"
    )
    if said.node is not loop.node:
        notes.append(said)
    if limits.idle is not None:
        notes.append(Note(limits.idle, "this is tested, but the loop goes on"))
    return Draft(loop.node, message, _HELP, tuple(notes), fix=repair(anatomy, loop.node))
