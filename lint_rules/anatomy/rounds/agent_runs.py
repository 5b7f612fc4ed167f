"""Runs of an agent of a library, which asks the model, runs the tools, and asks again, all by itself.

`graph.invoke({"messages": history})`, `await agent.run(text, message_history=history)`, also of an agent that a
function, or another file, has made.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import libcst as cst

from lint_rules.anatomy import vocabulary as words
from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.messages.classes import body
from lint_rules.anatomy.messages.run_results import Agent
from lint_rules.anatomy.rounds.executions import executions
from lint_rules.anatomy.values.slots import Slot
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.memo import kept, once
from lint_rules.syntax.walk import walk


@kept
def runs_agent(anatomy: Anatomy, call: cst.Call) -> bool:
    """Whether a call runs such an agent, with tools as far as the project tells."""
    return _runs(anatomy, call, tools=True)


@kept
def runs_any_agent(anatomy: Anatomy, call: cst.Call) -> bool:
    """Whether a call runs such an agent, with or without tools; or a graph of which a step asks a model."""
    return _runs(anatomy, call, tools=False)


def _runs(anatomy: Anatomy, call: cst.Call, *, tools: bool) -> bool:
    name, base = ex.called_name(call), ex.receiver(call)
    if name in words.TOOL_RUNNERS:
        return True
    if name not in words.AGENT_RUNS or base is None:
        return False
    by_class = _is_made_by(anatomy, base, words.AGENT_RUNNERS)
    agent = next(iter(ex.positional(call)), ex.keywords(call).get("starting_agent")) if by_class else base
    return agent is not None and _is_agent(anatomy, (agent, None, tools))


@once(circular=False)
def _is_agent(anatomy: Anatomy, asked: tuple[cst.BaseExpression, Slot | None, bool]) -> bool:
    """Whether a value, which may be bound to a place, is made by what makes an agent in its library; one with tools."""
    node, holder, tools = ex.inner(asked[0]), asked[1], asked[2]
    if isinstance(node, cst.Call):
        found, base = body(anatomy, node), ex.receiver(node)
        if found is not None:
            given = (line.value for line in found[1].nodes_of(cst.Return))
            return any(value is not None and _is_agent(found[0], (value, None, tools)) for value in given)
        if _is_made_by(anatomy, node.func, words.AGENTS):
            return _has_tools(anatomy, node, holder) if tools else _may_ask(anatomy, node, holder)
        return base is not None and _is_agent(anatomy, (base, None, tools))
    bound = [(there, (*value, tools)) for there, value in _bound(anatomy, node)]
    if any(isinstance(each, cst.Call) and _is_made_by(there, each.func, words.AGENTS) for there, (each, *_) in bound):
        return any(_is_agent(there, value) for there, value in bound)  # a type says nothing of tools
    slot = anatomy.facts.slots.of(node)
    said = anatomy.elements.annotation_of(slot) if slot is not None else None
    named = (part for part in (walk(said) if said is not None else ()) if isinstance(part, (cst.Name, cst.Attribute)))
    return any(_is_agent(there, value) for there, value in bound) or any(
        _is_made_by(anatomy, name, words.AGENTS) for name in named
    )


def _bound(anatomy: Anatomy, node: cst.BaseExpression) -> Iterator[tuple[Anatomy, tuple[cst.BaseExpression, Slot]]]:
    """What a place is bound to, in this file or in the one that it is imported from, and the place there."""
    elsewhere, slot = anatomy.imported_value(ex.dotted(node) or ""), anatomy.facts.slots.of(node)
    there, place = elsewhere if elsewhere is not None else (anatomy, slot)
    for value in there.facts.assigned(place):
        yield from ((there, (part, place)) for part in ex.alternatives(value))  # type: ignore[misc]


def _is_made_by(anatomy: Anatomy, func: cst.BaseExpression, makers: Mapping[str, tuple[str, ...]]) -> bool:
    """Whether something is one of these, of its library and not of the project."""
    name = ex.dotted(func) or ""
    full = anatomy.module.imports.resolve(name)
    own = any(anatomy.defined_elsewhere(name, how) is not None for how in ("class", "def"))
    return not own and any(full.startswith(packages) for packages in (makers.get(part, ()) for part in full.split(".")))


def _may_ask(anatomy: Anatomy, made: cst.Call, holder: Slot | None) -> bool:
    """Whether an agent asks a model when it runs: one that is put together of steps, if it was given one that does."""
    if not _is_made_by(anatomy, made.func, words.GRAPHS):
        return True
    if holder is None:
        return False
    handed = (call for call in anatomy.module.nodes_of(cst.Call) if anatomy.facts.slots.of(ex.receiver(call)) == holder)
    steps = (anatomy.facts.slots.function(arg.value) for call in handed for arg in call.args)
    return any(step is not None and anatomy.turns.is_asker(step) for step in steps)


def _has_tools(anatomy: Anatomy, made: cst.Call, holder: Slot | None) -> bool:
    """Whether an agent is given tools: as an argument, by a decorator, or as a step of a graph that runs them."""
    if not _is_made_by(anatomy, made.func, words.GRAPHS):
        given = Agent(anatomy, made, holder or ("call", made)).tools
        return given is not None or len(ex.positional(made)) > 1
    steps = {ex.called_name(call) for call in anatomy.module.nodes_of(cst.Call)}
    run = (executions(anatomy.facts, anatomy.transcript, function) for function in anatomy.module.functions)
    return not steps.isdisjoint(words.TOOL_STEPS) or any(True for calls in run for _ in calls)
