"""Thinking that came with the calls of a reply, and is left behind: the API wants both, signed.

That a reply has thinking shows who reads it there, or a request that switches it on.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.messages.classes import body
from lint_rules.anatomy.messages.transcript import Stored
from lint_rules.anatomy.rounds.agent_runs import runs_agent
from lint_rules.anatomy.rounds.offers import given_to
from lint_rules.anatomy.rounds.replies import replies
from lint_rules.anatomy.values.kinds import Kind
from lint_rules.anatomy.vocabulary import CALL_WRAPPERS
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.module import Scope
from lint_rules.syntax.walk import walk

_THOUGHT = frozenset(
    {"reasoning_content", "reasoning_details", "reasoning", "thinking", "thinking_blocks", "thought_signature"}
)
"""Where a reply has its thinking. Source: the APIs of DeepSeek, Moonshot, OpenRouter, vLLM, Ollama, Gemini."""
_SWITCHES = ("thinking", "enable_thinking", "think", "thinking_config", "reasoning")
"""What a request switches it on with, also in the body beside the parameters that the SDK knows."""
_OFF = frozenset({"disabled", "none"})
_SIGNED = frozenset({"signature", "thinking_blocks", "reasoning_content", "redacted_thinking", "reasoning_details"})
"""What thinking is sent back by."""


def lost_thinking(anatomy: Anatomy) -> Iterator[tuple[cst.BaseExpression, cst.CSTNode]]:
    """Where thinking is lost that is switched on, and where it is: requests with tools, of whose replies nobody gets
    the whole, and what picks all but the thinking of the content that is kept.
    """
    told: set[cst.CSTNode] = set()
    for offer, read in replies(anatomy) if "thinking" in anatomy.module.text else ():
        switch = next((node for node in given_to(anatomy, offer.request, "thinking") if _is_on(node)), None)
        if switch is None or offer.request in told or runs_agent(anatomy, offer.request):
            continue
        told.add(offer.request)
        by = {anatomy.module.scope_of[offer.request].function, *read.by}
        if read.calls and not (read.handed_on or read.stored or read.returned or any(map(_keeps_it, by))):
            yield offer.request, switch
        for function in by:
            yield from ((picked, switch) for picked in function.nodes_of(cst.ListComp) if _leaves_it(anatomy, picked))


def _leaves_it(anatomy: Anatomy, picked: cst.ListComp) -> bool:
    """`content = [b for b in content if b.type != "thinking"]`: whether blocks are kept as they are, but for those."""
    over, outer = picked.for_in, anatomy.module.parent[picked]
    place = ex.targets(outer)[0] if isinstance(outer, (cst.Assign, cst.AnnAssign)) else None
    is_kept = isinstance(outer, cst.DictElement) and ex.text(outer.key) == "content"
    if not is_kept and (place is None or (ex.member(place) or (None, ""))[1] != "content"):
        return False
    return ex.source(picked.elt) == ex.source(over.target) and any(map(_excludes_it, over.ifs))


def _excludes_it(clause: cst.CompIf) -> bool:
    """Whether a test of the type of a block lets calls pass, and no thinking."""
    if not isinstance(clause.test, cst.Comparison):
        return False
    left, operator, right = ex.compared(clause.test)
    asked = ex.member(left)
    if asked is None or asked[1] != "type":
        return False
    parts = right.elements if isinstance(right, (cst.Tuple, cst.List, cst.Set)) else [cst.Element(right)]
    said = {ex.text(part.value) for part in parts}
    if isinstance(operator, (cst.NotEqual, cst.NotIn)):
        return "thinking" in said
    return isinstance(operator, cst.In) and "tool_use" in said and "thinking" not in said


def _keeps_it(function: Scope) -> bool:
    """Whether a function reads, or writes, what thinking is sent back by."""
    pairs = (ex.member(node) or ex.asked(node) for node in function.nodes)
    texts = (ex.text(node) for node in function.nodes_of(cst.SimpleString))
    return any(pair is not None and pair[1] in _SIGNED for pair in pairs) or not _SIGNED.isdisjoint(texts)


def left_thinking(anatomy: Anatomy, told: Collection[Scope]) -> Iterator[tuple[cst.BaseExpression, cst.CSTNode]]:
    """The messages with calls that are stored without thinking, each with what shows that there is some.

    Of functions that are `told` of, something else is said.
    """
    for function in anatomy.module.functions:
        if function.kind not in {"function", "module"} or function in told:
            continue
        made = [node for s in anatomy.transcript.stored(function) if (node := _made_anew(anatomy, s)) is not None]
        shows = _shown(anatomy, function) if made else None
        places = {function, *(anatomy.module.scope_of[node].function for node in made)}
        if shows is not None and not any(_is_kept(anatomy, place) for place in places):
            yield made[-1], shows  # what was put together before waits in a list


def _made_anew(anatomy: Anatomy, stored: Stored) -> cst.BaseExpression | None:
    """What makes a message with calls of a reply, part by part; None where it is the reply's own, or may have more."""
    message = stored.message
    if message is None or message.role != "assistant" or message.calls is None or message.more:
        return None
    if not any(isinstance(part, (cst.Name, cst.Attribute)) for part in walk(message.calls)):
        return None  # an example
    for value in (message.node, *anatomy.facts.values_of(message.node)):
        made = ex.inner(value)
        items = ex.made_of(made) if isinstance(made, (cst.Dict, cst.Call)) else {}
        whole = [items[key] for key in ("parts", "content") if key in items and items[key] is message.calls]
        if items and not (whole and not _makes_call(whole[0])):
            return value
    return None


def _makes_call(content: cst.BaseExpression) -> bool:
    """Whether a part of a content is a call that is made here: else the parts stand there as they came."""
    return any(
        CALL_WRAPPERS & ex.made_of(part).keys() for part in walk(content) if isinstance(part, (cst.Dict, cst.Call))
    )


def _shown(anatomy: Anatomy, function: Scope) -> cst.CSTNode | None:
    """What shows that a reply of the function has thinking: it is read there, or was asked for."""
    for node in function.nodes_of(cst.Attribute, cst.Subscript, cst.Call):
        pair = ex.member(node)
        if pair is not None and pair[1] in _THOUGHT and Kind.REPLY in anatomy.facts.kinds(pair[0]):
            return node
    for line in function.nodes_of(cst.AugAssign):
        name = ex.dotted(line.target) or ""
        if "thinking" in name or "reasoning" in name:
            if not isinstance(line.value, cst.BaseNumber) and anatomy.module.loop_around(line) is not None:
                return line
    for request in anatomy.calls.llm_calls[function]:
        if _gives_thinking(anatomy, request):
            return request
        given = [value for key in _SWITCHES for value in _given(anatomy, request, key)]
        switch = next((value for value in given if _is_on(value)), None)
        if switch is not None:
            return switch
    return None


def _gives_thinking(anatomy: Anatomy, request: cst.Call) -> bool:
    """Whether the function of the project that a request runs gives back thinking, under a name of it."""
    there, run = body(anatomy, request) or (anatomy, None)
    given = run.returned if run is not None else []
    made = (ex.inner(part) for value in given for part in (value, *there.facts.values_of(value)))
    return any(_THOUGHT & ex.made_of(part).keys() for part in made if isinstance(part, (cst.Dict, cst.Call)))


def _is_kept(anatomy: Anatomy, function: Scope) -> bool:
    """Whether a function puts thinking under a name of it anywhere but into a request."""
    requests = set(anatomy.calls.llm_calls[function])
    for node in function.nodes_of(cst.Dict, cst.Call):
        asks = node in requests or any(outer in requests for outer in anatomy.module.ancestors(node))
        if not asks and _THOUGHT & ex.made_of(node).keys():
            return True
    targets = (target for node in function.nodes_of(cst.Assign, cst.AugAssign) for target in ex.targets(node))
    pairs = (ex.member(target) for target in targets)
    return any(pair is not None and pair[1] in _THOUGHT for pair in pairs)


# -- whether it is switched on ----------------------------------------------------------------------------------


def _given(anatomy: Anatomy, request: cst.Call, key: str) -> Iterator[cst.BaseExpression]:
    yield from given_to(anatomy, request, key)
    for more in given_to(anatomy, request, "extra_body"):
        yield from (value for name, value in ex.dict_items(more).items() if name == key)


def _is_on(value: cst.BaseExpression) -> bool:
    """`True`, `{"type": "enabled"}`, `ThinkingConfig(thinking_budget=900)`; not what only the run knows."""
    parts = ex.made_of(value) if isinstance(value, cst.Call) else ex.dict_items(value)
    if not parts:
        return ex.dotted(value) == "True"
    off = any(ex.text(part) in _OFF or ex.integer(part) == 0 for part in parts.values())
    return not off and ("enabled" not in parts or ex.dotted(parts["enabled"]) == "True")
