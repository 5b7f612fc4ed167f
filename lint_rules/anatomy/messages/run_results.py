"""What the result of a run holds, in SDKs that keep no history: the new messages only, or all that there are.

history = agent.run_sync(text, message_history=history).new_messages()        # all turns before are gone
history.extend(agent.run_sync(text, message_history=history).all_messages())  # all turns before are there twice
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from itertools import chain

import libcst as cst

from lint_rules.anatomy import vocabulary as words
from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.values.slots import Slot
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.record import record
from lint_rules.syntax.walk import walk

_OF_RUNS = words.ALL_MESSAGES - {"get_history"}
"""Of a run of an agent, and not of a chat with a model."""

_TOOLS = ("tools", "toolsets", "mcp_servers", "handoffs")
_ANSWERS = ("output_type", "result_type")
_NO_CALL = frozenset({"str", "NativeOutput", "PromptedOutput", "TextOutput"})
_FIRST_ONLY = "system_prompt"
"""Pydantic AI: what an agent has, what it answers with (by a tool of that name, but for these), and what a run that is
given messages does not put in front of them again, as it does with `instructions`."""


@record
class Agent:
    """The agent of an SDK that runs the rounds by itself: the call that makes it, in the file `there`."""

    there: Anatomy
    made: cst.Call
    holder: Slot

    @property
    def tools(self) -> cst.CSTNode | None:
        """Where it is told to have tools, or to answer by one."""
        given = ex.keywords(self.made)
        listed = (given[key] for key in _TOOLS if key in given and not _is_empty(given[key]))
        answers = (given[key] for key in _ANSWERS if key in given and _is_called(given[key]))
        return next(chain(listed, answers, self._decorated(words.TOOL_DECORATORS)), None)

    @property
    def system(self) -> cst.CSTNode | None:
        """Where it is told what stands at the front of its first run, and of no other."""
        given = ex.keywords(self.made)
        listed = (given[key] for key in (_FIRST_ONLY,) if key in given and not _is_empty(given[key]))
        return next(chain(listed, self._decorated({_FIRST_ONLY})), None)

    def _decorated(self, names: Collection[str]) -> Iterator[cst.CSTNode]:
        """`@agent.tool`."""
        slots = self.there.facts.slots
        for decorator in self.there.module.nodes_of(cst.Decorator):
            func = ex.uncalled(decorator.decorator)
            if isinstance(func, cst.Attribute) and func.attr.value in names and slots.of(func.value) == self.holder:
                yield decorator


def whole_runs(anatomy: Anatomy) -> Iterator[cst.Call]:
    """The calls of whose results all messages are taken."""
    for node in anatomy.module.nodes_of(cst.Attribute):
        if node.attr.value in _OF_RUNS:
            yield from runs(anatomy, node.value)


def agents_of(anatomy: Anatomy, node: cst.Call) -> Iterator[Agent]:
    """The agents of whose run a call gives all messages: `result.all_messages()`."""
    if not isinstance(node.func, cst.Attribute) or node.func.attr.value not in _OF_RUNS:
        return
    for run in runs(anatomy, node.func.value):
        for value in (ex.receiver(run), *ex.positional(run)[:1]):
            for there, holder in _places(anatomy, value) if value is not None else ():
                made = there.facts.assigned(holder)
                yield from (Agent(there, each, holder) for each in made if isinstance(each, cst.Call))


def _places(anatomy: Anatomy, node: cst.BaseExpression) -> Iterator[tuple[Anatomy, Slot]]:
    """Where an object is set, in this file or in another one."""
    found = anatomy.imported_value(ex.dotted(node) or "") if isinstance(node, (cst.Name, cst.Attribute)) else None
    slot = anatomy.facts.slots.of(node)
    if found is not None:
        yield found
    elif slot is not None:
        yield anatomy, slot


def _is_empty(value: cst.BaseExpression) -> bool:
    value = ex.inner(value)
    return ex.dotted(value) == "None" or (isinstance(value, (cst.List, cst.Tuple)) and not value.elements)


def _is_called(value: cst.BaseExpression) -> bool:
    """Whether an answer of a type is asked for by a tool: not plain text, and not by another way that is named."""
    name = ex.called_name(value) if isinstance(value, cst.Call) else ex.last_name(value)
    return not _is_empty(value) and name not in _NO_CALL


def runs(anatomy: Anatomy, result: cst.BaseExpression) -> Iterator[cst.Call]:
    """The calls that a result comes from, also those that a task runs: `task.result()`."""
    slots = anatomy.facts.slots
    slot = slots.of(result)
    for call in _calls((result, *anatomy.facts.assigned(slot))):
        yield call
        base = ex.receiver(call) if ex.called_name(call) == "result" and not call.args else None
        task = slots.of(base)
        for started in _calls(anatomy.facts.assigned(task)):
            yield from _calls(ex.positional(started)[:1])


def _calls(values: Iterable[cst.BaseExpression]) -> Iterator[cst.Call]:
    yield from (value for value in map(ex.inner, values) if isinstance(value, cst.Call))


def is_given(anatomy: Anatomy, call: cst.Call, slot: Slot) -> bool:
    return any(
        isinstance(node, (cst.Name, cst.Attribute)) and anatomy.facts.slots.of(node) == slot
        for arg in call.args
        for node in walk(arg.value)
    )
