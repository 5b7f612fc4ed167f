"""# missing-tool-result (AGL601)

## What it does
Reports a path on which a stored tool call gets no tool message: a `continue` before the result is appended, a tool name
that no branch knows, an error that is only logged, a `break` or `return` with calls still open.

## Why is this bad
The APIs refuse a history in which a tool call has no result right behind it. The next request fails with an error 400;
where the history is kept, every request after it fails too, and the chat is lost.

## Example
```python
def run(client, messages, tools, allowed):
    for _ in range(20):
        message = client.chat.completions.create(model="gpt-5", messages=messages, tools=tools).choices[0].message
        messages.append(message)
        if not message.tool_calls:
            return message.content
        for call in message.tool_calls:
            if call.function.name not in allowed:
                print("not allowed:", call.function.name)
                continue
            result = allowed[call.function.name](call.function.arguments)
            messages.append({"role": "tool", "tool_call_id": call.id, "content": result})
    raise RuntimeError("too many rounds")
```

## Use instead
```python
def run(client, messages, tools, allowed):
    for _ in range(20):
        message = client.chat.completions.create(model="gpt-5", messages=messages, tools=tools).choices[0].message
        messages.append(message)
        if not message.tool_calls:
            return message.content
        for call in message.tool_calls:
            if call.function.name in allowed:
                result = allowed[call.function.name](call.function.arguments)
            else:
                result = f"error: the tool {call.function.name} is not allowed"
            messages.append({"role": "tool", "tool_call_id": call.id, "content": result})
    raise RuntimeError("too many rounds")
```

## How it decides
A path question on the control-flow graph. Where a loop over the calls of a reply, or a function that gets one call,
answers on one path, the rule looks for the step after which no answer can follow any more; likewise between the place
where a reply with calls is stored and the next request. Then it asks whether the conversation goes on from there: the
model is asked again, the caller gets the answers, or the history outlives the function. Tests that tell calls from
other parts of a reply are understood. Reported are also a request in the loop behind the first result, a loop over a
part of the stored calls, outputs of an assistants run that are submitted one by one, and results that are never sent
when the rounds run out; and a repair of a LangChain history that answers open `tool_calls`, but no
`invalid_tool_calls`, which are sent as well; and a `RetryPromptPart` of Pydantic AI about a tool that does not name
the call. Silent are calls that are put aside or handed to a function that may answer them, answers made up afterwards
(also in `finally`), histories that are mended or cut back, tools that end the conversation, and errors of parsing
arguments, which AGL501 reports. Known are the results of OpenAI (chat completions, responses, assistants), Anthropic,
Gemini, Bedrock and LangChain, and constructors that say that they hold one.

## Known problems
A function of another file that gets the id of the call may answer it: such paths are silent. Results that are lost in
another file are not seen, nor is an error that leaves the function and is caught by a caller; only where a chat
framework is known to catch it.

## Fix safety
Unsafe: the `continue` of a loop over calls gets a tool message before it, in the form that the loop uses elsewhere.
Where that form is not known, there is no fix.

## References
- OpenAI API reference: an assistant message with `tool_calls` must be followed by tool messages for each `tool_call_id`
- Anthropic API reference, tool use: each `tool_use` block must have a `tool_result` block in the next message
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.calls.answers import Answers
from lint_rules.anatomy.calls.open_calls import asked_too_early, left_out, one_output_each, unsent
from lint_rules.anatomy.calls.open_ends import MENDS, OpenEnds, mended
from lint_rules.anatomy.calls.remaining_calls import one_at_a_time
from lint_rules.anatomy.calls.unanswered import Escape
from lint_rules.anatomy.calls.unlinked_answers import unlinked_answers
from lint_rules.anatomy.calls.unparsed_calls import unparsed_left_open
from lint_rules.anatomy.calls.waiting import (
    Taken,
    calls_as_arguments,
    calls_in_loops,
    stored_calls,
    swallowed,
    unguarded,
)
from lint_rules.anatomy.program import handlers
from lint_rules.anatomy.program.serving import servings
from lint_rules.anatomy.values.kinds import Kind
from lint_rules.repairs.missing_tool_result import repair
from lint_rules.rules.draft import Draft, Note
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.module import Scope
from lint_rules.syntax.walk import walk

_LAST = re.compile(
    r"finish|final|done|complet|terminat|(^|_)end(_|$|ed)|exit|quit|submit|hang_?up|reset|hand_?off|goodbye|respond",
    re.I,
)
"""Words in the test around a way out that say that the conversation is over."""
_ANSWER = "answer each stored call on every path, also with the reason why its tool did not run"


def check(anatomy: Anatomy) -> Iterator[Draft]:
    yield from _unparsed(anatomy)
    yield from _unlinked(anatomy)
    answers = Answers(anatomy.facts, anatomy.calls)
    if not answers.made or mended(anatomy):
        return
    for function in anatomy.module.functions:
        if function.kind not in {"function", "module"} or MENDS.search(function.name):
            continue
        seen: set[cst.CSTNode] = set()
        for draft in _Function(anatomy, answers, function).drafts():
            if draft.node not in seen:
                seen.add(draft.node)
                yield draft


def _unparsed(anatomy: Anatomy) -> Iterator[Draft]:
    """A repair of LangChain histories that answers only calls whose arguments could be parsed."""
    for calls, answer in unparsed_left_open(anatomy):
        message = (
            f"open calls are answered here, but only those in `{ex.source(calls, 40)}`: calls whose arguments are no"
            " JSON are in `invalid_tool_calls`, and are sent without a result"
        )
        note = Note(answer, "the answer that the others get")
        yield Draft(calls, message, "answer the calls in `invalid_tool_calls` as well", (note,))


def _unlinked(anatomy: Anatomy) -> Iterator[Draft]:
    """An answer of Pydantic AI that does not say which call it answers."""
    for part in unlinked_answers(anatomy):
        message = (
            "this answer does not say which call it is for: Pydantic AI sends it as the user's words,"
            " and the call gets no result"
        )
        yield Draft(part, message, "pass `tool_name` and `tool_call_id` of the call")


class _Function:
    """The ways out of one function."""

    def __init__(self, anatomy: Anatomy, answers: Answers, function: Scope) -> None:
        self.anatomy = anatomy
        self.answers = answers
        self.function = function
        self.ends = OpenEnds(anatomy, answers, function)

    def drafts(self) -> Iterator[Draft]:
        for taken in calls_in_loops(self.anatomy, self.answers, self.function, self.ends):
            if self.ends.stores & taken.region.inside:
                continue  # each call is stored by itself, or again and again: AGL605
            yield from self._skipped(taken)
            yield from self._left(taken)
            yield from self._swallowed(taken)
            yield from self._open(taken)
            yield from self._raised(taken)
        for taken in calls_as_arguments(self.anatomy, self.answers, self.function, self.ends):
            for escape in taken.region.escapes():
                if escape.handler is None and not self._returns(escape):
                    message = f"`{_name(taken)}` gets no tool result on this way: the run waits for it, or is refused"
                    yield Draft(escape.node, message, _ANSWER)
        yield from self._dropped()
        for loop, made in unsent(self.anatomy, self.function):
            message = "when the rounds run out, the last results are not sent: the next turn goes on from a reply with"
            cure = "send the results once more behind the loop, without tools, or forget the id of that response"
            yield Draft(loop.iter, f"{message} open calls, and is refused", cure, (Note(made, "the results"),))

    def _skipped(self, taken: Taken) -> Iterator[Draft]:
        for escape in taken.region.escapes():
            how = self._after(taken, escape)
            if how is None or self._is_owned(escape) or self._is_last(escape, taken.loop):
                continue
            message = f"`{_name(taken)}` gets no tool result on this way: {how}"
            yield Draft(escape.node, message, _ANSWER, self._notes(taken), fix=repair(self.anatomy, taken, escape))

    def _after(self, taken: Taken, escape: Escape) -> str | None:
        """How the conversation goes on once the loop is left: at once, or after the calls behind this one."""
        ends, region = self.ends, taken.region
        stored = ends.is_stored_before(taken.headers)
        if escape.exit not in taken.headers:
            return ends.go_on(escape.exit, region.points, stored=stored, flags=escape.flags)
        handed = not ends.histories and self._hands_back(taken)
        for header in taken.headers:
            for target, kind in header.successors:
                if kind == "false":
                    how = ends.go_on(target, region.points, handed=handed, stored=stored, flags=escape.flags)
                    if how is not None:
                        return how
        return None

    def _hands_back(self, taken: Taken) -> bool:
        """Whether the list of answers, or a list made of it, is given to the caller."""
        slots = self.anatomy.facts.slots
        lists = {slot for p in taken.region.answering for slot in taken.region.grown(p)}

        def holds(value: cst.CSTNode) -> bool:
            return any(isinstance(node, cst.Name) and slots.of(node) in lists for node in walk(value))

        for node in self.function.nodes:
            if isinstance(node, cst.Assign) and holds(node.value):
                lists.update(slot for target in node.targets if (slot := slots.of(target.target)) is not None)
        given = (node for node in self.function.nodes if isinstance(node, (cst.Return, cst.Yield)))
        return any(node.value is not None and holds(node.value) for node in given)

    def _left(self, taken: Taken) -> Iterator[Draft]:
        if taken.loop is None or one_at_a_time(self.anatomy, self.function):
            return
        for escape in taken.region.leavings():
            if escape.test is None or self._is_last(escape, taken.loop) or self._picks_one(taken, escape.test):
                continue
            stored = self.ends.is_stored_before(taken.headers)
            how = self.ends.go_on(escape.exit, taken.region.points, stored=stored, flags=escape.flags)
            if how is not None:
                message = f"the calls behind `{_name(taken)}` get no tool result when the loop is left here: {how}"
                yield Draft(escape.node, message, _ANSWER, self._notes(taken))

    def _open(self, taken: Taken) -> Iterator[Draft]:
        """Calls that no path answers in time."""
        name, notes = _name(taken), self._notes(taken)
        if not one_at_a_time(self.anatomy, self.function):
            for request in asked_too_early(self.anatomy, taken, self.ends):
                message = (
                    f"the model is asked while the calls behind `{name}` have no tool result: the request is refused"
                )
                yield Draft(request, message, "answer all calls of the reply, then ask, behind the loop", notes)
            for request in one_output_each(taken):
                message = f"only the output of `{name}` is submitted: the run wants those of all its calls at once"
                yield Draft(request, message, "collect the outputs, and submit them together behind the loop", notes)
        part = left_out(self.anatomy, taken, self.ends)
        if part is not None:
            message = f"the calls that `{ex.source(part, 40)}` leaves out are stored, and get no tool result"
            yield Draft(part, f"{message}: the next request is refused", _ANSWER)

    def _swallowed(self, taken: Taken) -> Iterator[Draft]:
        if not self.ends.stores or not self.ends.is_stored_before(taken.headers):
            return
        for handler, point, failing in swallowed(taken):
            how = self.ends.go_on(point, surely=True)
            if how is not None:
                message = f"an error ends here while the stored `{_name(taken)}` has no tool result: {how}"
                note = Note(failing, "this may fail before the call is answered")
                yield Draft(
                    handler,
                    message,
                    "answer the open calls here, or catch the error inside the loop over calls",
                    (note,),
                )

    def _raised(self, taken: Taken) -> Iterator[Draft]:
        """Errors that the framework takes, in a chat that goes on: bots and servers catch what their handlers raise."""
        served = servings(self.anatomy.calls)
        server = next((served[f] for f in served if self.function in self.anatomy.calls.reachable(f)), None)
        if server is None or not self.ends.stores or not self.ends.is_stored_before(taken.headers):
            return
        how = self.ends.go_on(self.ends.graph.exit, surely=True)
        for failing in unguarded(taken) if how is not None else ():
            message = f"an unknown tool raises here while the stored `{_name(taken)}` has no tool result: {how}"
            note = Note(server.node, f"{server.framework} catches the error, and the chat goes on")
            yield Draft(
                failing, message, "answer the call with the error: the model can then choose another tool", (note,)
            )

    def _dropped(self) -> Iterator[Draft]:
        for asked in stored_calls(self.anatomy, self.answers, self.function, self.ends):
            for escape in asked.region.escapes():
                if escape.test is None or escape.handler is not None or asked.told.mentions(escape.test):
                    continue
                if self._is_last(escape, None):
                    continue
                how = self.ends.go_on(escape.exit, flags=escape.flags)
                if how is not None:
                    message = f"the stored message may carry tool calls, and they get no result on this way: {how}"
                    yield Draft(
                        escape.node, message, _ANSWER, (Note(asked.node, "the message with the calls is stored here"),)
                    )

    # -- what speaks against it -------------------------------------------------------------------------------

    def _returns(self, escape: Escape) -> bool:
        """Whether the caller gets something to answer with."""
        node = escape.jump
        return isinstance(node, cst.Return) and not handlers.is_neutral(node.value)

    def _is_owned(self, escape: Escape) -> bool:
        """Errors of parsing arguments that are dropped: AGL501 reports them."""
        handler = escape.handler
        guard = self.anatomy.module.parent.get(handler) if handler is not None else None
        if not isinstance(guard, cst.Try):
            return False
        facts = self.anatomy.facts
        return any(
            facts.decoder(node) is not None and node.args and facts.is_kind(node.args[0].value, Kind.ARGUMENTS_TEXT)
            for node in walk(guard.body)
            if isinstance(node, cst.Call)
        )

    def _is_last(self, escape: Escape, loop: cst.For | None) -> bool:
        """Whether the tests around a jump say that the conversation is over."""
        if not isinstance(escape.jump, (cst.Return, cst.Break)):
            return False
        tests = [escape.test] if escape.test is not None else []
        for outer in self.anatomy.module.ancestors(escape.jump):
            if outer is loop or isinstance(outer, cst.FunctionDef):
                break
            if isinstance(outer, cst.If):
                tests.append(outer.test)
        return any(_LAST.search(word) for test in tests for word in _words(test))

    def _picks_one(self, taken: Taken, test: cst.BaseExpression) -> bool:
        """`if call.name == "search": answer; break` takes one of several calls: AGL402 reports that."""
        return isinstance(test, cst.Comparison) and taken.hand.is_part(ex.compared(test)[0])

    def _notes(self, taken: Taken) -> tuple[Note, ...]:
        notes = [Note(taken.loop.iter, "the calls of the stored message")] if taken.loop is not None else []
        return tuple(notes)


def _name(taken: Taken) -> str:
    return str(taken.hand.slot[-1])


def _words(test: cst.BaseExpression) -> Iterator[str]:
    for node in walk(test):
        if isinstance(node, cst.Name):
            yield node.value
        elif isinstance(node, cst.Attribute):
            yield node.attr.value
        elif isinstance(node, cst.SimpleString):
            yield ex.text(node) or ""
