"""# silent-round-exhaustion (AGL303)

## What it does
Reports a return, a `yield` or a call that hands out an answer when the model has given one, and the same, empty or as
rounds have left it that asked for more, when the rounds are used up; and rounds that yield, print or send their
answers, and end without a word.

## Why is this bad
The caller gets `""` (or the empty text beside the last tool call) and takes it for the model's answer: the user sees
a blank message or a stock phrase, the history gets an empty reply, and no log says that the limit was reached.

## Symptoms
- the answer is empty after many tool calls
- the agent says it is done, and it is not
- nothing says that the limit of rounds was reached

## Example
```python
def run(client, messages, tools, execute):
    final = ""
    for _ in range(20):
        message = client.chat.completions.create(model="gpt-5", messages=messages, tools=tools).choices[0].message
        messages.append(message)
        if not message.tool_calls:
            final = message.content
            break
        messages.extend(execute(call) for call in message.tool_calls)
    return final
```

## Use instead
```python
def run(client, messages, tools, execute):
    final = ""
    for _ in range(20):
        message = client.chat.completions.create(model="gpt-5", messages=messages, tools=tools).choices[0].message
        messages.append(message)
        if not message.tool_calls:
            final = message.content
            break
        messages.extend(execute(call) for call in message.tool_calls)
    else:
        raise RuntimeError("no answer within 20 rounds")
    return final
```

## How it decides
The loop of rounds ends in two ways: by the model's reply, and by its number of rounds (the end of a `range`, a test of
a counter). Both ways lead to one return, one `yield`, or one call that stores, sends or shows something; or to two
returns or `yield`s that hand out what the model says in the same form, with the same constants. What is handed out
there is taken apart, through tuples, dicts, calls and the names that it gets behind the loop, into the values it is
made of. On the way of the used-up rounds one of them

- still has the empty value (`""`, `[]`, `{}`) that it got before the loop, or words that stand for an empty answer, too
  (`text = reply.text or text`), or one word (`"Done."`), and do not say why there is none; or is an object with such a
  part (`result = {"text": ""}`), where no other part is set where the loop is left; or is what the loop itself waits
  for (`while found is None and`), with something empty in its place (`found or {}`), or is an empty text of its own
  (`return ""`, or words that the file has for an empty answer, too), where no caller of the file asks whether there is
  one;
- is None, where a caller of the file takes a part of what it is given, calls a method of it, or goes through it, and
  does not ask first whether there is any;
- is the text of the last reply, which asked for tools, or that whole reply, where no caller looks for calls in it, in
  this file or in those that import it, or what rounds that went on have put there of the model's words beside their
  calls. Another text for want of one (`said or "Done."`) does not tell: there may be one, and no answer;
- is the last message of the history (`history[-1]`): the result of a tool, or what the model is told to do next.

Silent is: a call, a warning or a text where only rounds come to that are used up (what an answer passes as well tells
nothing, whatever its words); anything on that way which raises, asks the model once more (not only for want of what
rounds have left), sets the value, or asks whether there is one, or what ended the loop; beside the value a flag or a
word that is set where the model has answered, what is `None` until then, or the calls of the last reply, or why that
ended; a first value that callers can tell from an answer (`None`, a sentence); a loop that makes one text better in
each round; a last round whose request lets the model call no tools (`"none" if number == n - 1 else "auto"`). Where a
function gives nothing back (but for errors, in their handlers), and yields something in the loop or gives the model's
text to somebody there (not to a history), it must say something behind the loop: where no answer comes, under a test of
what the rounds have touched, or in a `yield` of something that differs. A log that only developers read says nothing,
of the last round in the loop or behind it, nor does what a generator returns where the files that import it only go
through it, nor what is yielded word for word where the model has answered.

## Known problems
A caller that tests for the empty value is not looked at: it can't tell a used-up loop from an empty answer either.

## Fix safety
Unsafe: the loop gets an `else` that raises `RuntimeError`. The callers must be ready for it, and what is done between
the loop and the return is left out then. No fix where the loop is left through a flag, or has an `else` already.

## References
- Python language reference, the `for` statement: `else` runs when the items are exhausted, not after `break`
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.obligations.silent_ends import silences
from lint_rules.rules.draft import Draft, Note
from lint_rules.rules.silent_round_exhaustion.fixes import repair
from lint_rules.syntax import expressions as ex

_DONE = {cst.Return: ("returned", "return"), cst.Yield: ("yielded", "yield")}
_HELP = "give the loop an `else:` that raises, or that asks the model for an answer without tools"


def check(anatomy: Anatomy) -> Iterator[Draft]:
    for found in silences(anatomy):
        notes = [Note(found.way.node, "the rounds end here, without a word")]
        if found.read is not None:
            given = f"`{found.loop.function.name}` gives None"
            message = f"when the rounds are used up, {given}, and who calls it takes that for an answer, unasked"
            notes += [Note(found.node, "it is called here"), Note(found.read, "what it gives is looked into here")]
            yield Draft(found.way.node, message, _HELP, tuple(notes), fix=repair(anatomy, found.loop.node, found.way))
            continue
        if found.left is None:
            follows = "no word follows: the user waits for an answer, and is told nothing"
            if found.shows:
                follows = "what is shown is the same as behind an answer: nobody learns that there is none"
            message = f"when the rounds are used up, {follows}"
            notes = [Note(found.node, "what the model says goes out here")]
            yield Draft(found.way.node, message, _HELP, tuple(notes), fix=repair(anatomy, found.loop.node, found.way))
            continue
        name = ex.source(found.left.part, 40)
        done, by = _DONE.get(type(found.node), ("handed on", "line"))
        how = f"by the same {by} as the model's answer" if found.twin is None else "in the same form as an answer"
        state = "without an answer in it" if found.left.empty else "as the last rounds have left it"
        message = f"when the rounds are used up, `{name}` is {done} {state}, {how}: the caller can't tell"
        notes += [Note(found.twin, "an answer is handed out here")] if found.twin is not None else []
        yield Draft(found.node, message, _HELP, tuple(notes), fix=repair(anatomy, found.loop.node, found.way))
