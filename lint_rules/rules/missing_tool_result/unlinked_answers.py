"""Pydantic AI's `RetryPromptPart` about a tool call, made without saying which one: it becomes a user's words."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.mentions import names_in
from lint_rules.syntax.module import parameters

_LINKS = frozenset({"tool_name", "tool_call_id"})
_NAME = "tool_name"


def unlinked_answers(anatomy: Anatomy) -> Iterator[cst.Call]:
    """Each such part whose text is made of the name of the tool, in a function that got the name."""
    for node in anatomy.module.nodes_of(cst.Call):
        if ex.called_name(node) != "RetryPromptPart" or any(arg.star for arg in node.args):
            continue
        if _LINKS.isdisjoint(arg.keyword.value for arg in node.args if arg.keyword is not None):
            own = {param.name.value for param in parameters(anatomy.module.scope_of[node].function)}
            names = names_in(node)
            if _NAME in own & names:
                yield node
