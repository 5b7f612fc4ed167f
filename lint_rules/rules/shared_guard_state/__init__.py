"""# shared-guard-state (AGL307)

## What it does
Reports a repeat or failure guard whose state outlives the turn: a counter, a last signature, or a set of calls seen,
kept on the agent or in a global, changed in the round loop, and never begun anew when a turn starts.

## Why is this bad
One turn uses up what the next one needs. A counter that stands at two after one chat ends the next chat at its first
repeat; a call that was made for one user counts as a repeat for another, who asks for the same for the first time.

## Symptoms
- the first chat works, later ones are stopped too early
- a call that was made once is called a repeat

## Example
```python
class Agent:
    def __init__(self, client, tools):
        self.client = client
        self.tools = tools
        self.failures = 0

    def run(self, messages):
        for _ in range(20):
            message = self.client.chat.completions.create(model="gpt-4o", messages=messages).choices[0].message
            messages.append(message)
            for call in message.tool_calls or ():
                result = self.tools.run(call)
                messages.append({"role": "tool", "tool_call_id": call.id, "content": result.text})
                if result.ok:
                    self.failures = 0
                else:
                    self.failures += 1
            if self.failures >= 3:
                raise RuntimeError("too many failures")
            if not message.tool_calls:
                return message.content
        raise RuntimeError("too many rounds")
```

## Use instead
```python
class Agent:
    def __init__(self, client, tools):
        self.client = client
        self.tools = tools

    def run(self, messages):
        failures = 0
        for _ in range(20):
            message = self.client.chat.completions.create(model="gpt-4o", messages=messages).choices[0].message
            messages.append(message)
            for call in message.tool_calls or ():
                result = self.tools.run(call)
                messages.append({"role": "tool", "tool_call_id": call.id, "content": result.text})
                failures = 0 if result.ok else failures + 1
            if failures >= 3:
                raise RuntimeError("too many failures")
            if not message.tool_calls:
                return message.content
        raise RuntimeError("too many rounds")
```

## How it decides
A counter is an attribute or global that rounds raise by one and compare with a limit: to end the rounds by that alone,
in the head of their loop, in it or in a helper, or after they have set it back to zero elsewhere; or one that errors of
tools raise (or lower), of which a test answers instead of a tool. A signature is what a comparison of tool calls keeps
on the object, by assignment, in a set or list, or in a dict that counts or marks them. What the body of a class makes,
or a global, outlives an agent that is made for each turn, too. The state counts as begun anew when anything outside the
rounds and `__init__` assigns it, the object that holds it, or empties it: in the function before its loop, in another
method, or in a public method of an imported base class. What empties the history as well begins another conversation,
and no turn.

Silent: local state; a guard object that is made for the turn; state per session, under a key, or with one in the key of
the call (`counts[chat, call]`); caches of results;
programs that make one agent for one run, here or in the files that run its method; budgets that are meant for the whole
life, which end with an error, or which others read, too; and what is kept since words say so (`if answer == "always"`):
that is leave to run a tool, and no repeat.

## Known problems
Of one file alone (standard input, an editor, flake8) nobody knows whether an agent is made anew for each turn.

## Fix safety
There is no fix: where a turn begins, the program must say.

## References
- Python tutorial, 9.3.5: class and instance variables
"""

from __future__ import annotations

from collections.abc import Iterator

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.values.slots import describe
from lint_rules.rules.draft import Draft, Note, beside
from lint_rules.rules.shared_guard_state.guard_state import GuardState, GuardStates

_HELP = "keep it in a local of the function that runs the turn, or set it back before the first round"


def check(anatomy: Anatomy) -> Iterator[Draft]:
    for found in GuardStates(anatomy).all():
        notes = [Note(found.test, "it decides here"), Note(found.loop.asks, "in the rounds that ask the model here")]
        yield Draft(found.node, _message(found), _HELP, beside(found.node, notes), "medium")


def _message(found: GuardState) -> str:
    name = describe(found.slot)
    if found.how == "counter":
        return f"`{name}` is not set back when a turn starts: what one turn has counted ends the next one too early"
    if found.how == "signature":
        return f"`{name}` still holds the last turn's call when a turn starts: its first call can count as a repeat"
    return f"`{name}` still holds the calls of earlier turns when a turn starts: a first call can count as a repeat"
