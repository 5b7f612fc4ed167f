"""Lists of a state that functions get and answer with a part of: whoever runs them adds what they give to the list.

`def model(state): return {"messages": [llm.invoke(state["messages"])]}`: replies get there, and if tools are offered,
the results of their calls as well, as a reply with calls that nobody answers can not be sent again. Source: LangGraph
documentation, Reducers.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.rounds.offers import may_call_tools
from lint_rules.anatomy.values.kinds import Kind
from lint_rules.anatomy.values.slots import Slot
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.module import Scope
from lint_rules.syntax.walk import walk


def replies_given_back(anatomy: Anatomy, lists: Collection[Slot]) -> Iterator[cst.Return]:
    """Where a function gives back, under the name of a list that it gets, a reply that may have calls."""
    for function in anatomy.module.functions:
        given = [(line, ex.dict_items(line.value)) for line in function.nodes_of(cst.Return) if line.value is not None]
        named = _names(anatomy, lists, function) if any(items for _, items in given) else set[str]()
        for line, items in given:
            if any(_is_reply_alone(anatomy, items[name]) for name in named & items.keys()):
                yield line


def _names(anatomy: Anatomy, lists: Collection[Slot], function: Scope) -> set[str]:
    """The names under which a function takes some lists out of what it gets."""
    taken = (node for node in function.nodes if isinstance(node, (cst.Subscript, cst.Attribute, cst.Call)))
    of = {slot: pair[1] for node in taken if (slot := anatomy.facts.slots.of(node)) and (pair := ex.member(node))}
    return {name for slot, name in of.items() if slot in lists}


def _is_reply_alone(anatomy: Anatomy, value: cst.BaseExpression) -> bool:
    """`[reply]`, of a model that is offered tools: what is added, and not the list as it will be."""
    elements = value.elements if isinstance(value, cst.List) else ()
    if len(elements) != 1 or isinstance(elements[0], cst.StarredElement):
        return False
    reply = elements[0].value
    made = (reply, *anatomy.facts.values_of(reply))
    calls = (part for each in made for part in walk(each) if isinstance(part, cst.Call))
    asked = (call for call in calls if call in anatomy.facts.calls)
    return anatomy.facts.is_kind(reply, Kind.REPLY) and any(may_call_tools(anatomy, call) for call in asked)
