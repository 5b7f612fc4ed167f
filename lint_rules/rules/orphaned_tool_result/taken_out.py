"""Results that are taken out of a history for what they are, while the messages with their calls stay."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.messages.contents import TOOL_FIELDS, Proof
from lint_rules.anatomy.messages.role_tests import given_a_call, parts_results
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.conditions import passed
from lint_rules.syntax.module import Scope
from lint_rules.syntax.truth import evaluate


def taken_out(anatomy: Anatomy) -> Iterator[tuple[cst.CSTNode, cst.BaseExpression, Proof]]:
    """Where they go, the history, and why it holds any; not where the same function looks at the calls, too."""
    for node, base in (*_filtered(anatomy), *_removed(anatomy)):
        function = anatomy.module.scope_of[node].function
        holds = anatomy.contents.tool_results(base) if anatomy.contents.history(base) is not None else None
        slots = set(anatomy.contents.flowing_into(base))
        if holds is None or not holds.seen or _looks_at_calls(function) or anatomy.mending.reaches(slots, calls=True):
            continue
        place = anatomy.trimming.fates.of(node, function) if isinstance(node, cst.ListComp) else ("stored", node)
        if place is not None and (place[0] != "returned" or holds.used):
            yield node, base, holds


def _filtered(anatomy: Anatomy) -> Iterator[tuple[cst.ListComp, cst.BaseExpression]]:
    """`[m for m in h if m["role"] != "tool"]`."""
    for node in anatomy.module.nodes_of(cst.ListComp):
        tests = [clause.test for clause in node.for_in.ifs]
        whole = isinstance(node.elt, cst.Name) and ex.dotted(node.for_in.target) == node.elt.value
        if whole and any(parts_results(test, False) for test in tests):
            if all(evaluate(test, given_a_call) is True for test in tests):
                yield node, node.for_in.iter


def _removed(anatomy: Anatomy) -> Iterator[tuple[cst.Call, cst.BaseExpression]]:
    """`if m["role"] == "tool": h.remove(m)`, and `h.pop(i)` of positions that were picked so."""
    for call in anatomy.module.nodes_of(cst.Call):
        base = ex.receiver(call) if ex.called_name(call) in {"pop", "remove"} and len(call.args) == 1 else None
        which = call.args[0].value if base is not None else None
        if base is None or not isinstance(which, cst.Name):
            continue
        made = anatomy.trimming.made_of(which, anatomy.module.scope_of[call].function)
        picked = [clause for each in made if isinstance(each, cst.ListComp) for clause in each.for_in.ifs]
        tests = [*((clause, True) for clause in picked), *passed(anatomy.module, call)]
        if any(parts_results(outer.test, holds) for outer, holds in tests):
            yield call, base


def _looks_at_calls(function: Scope) -> bool:
    return any((pair := ex.member(node) or ex.asked(node)) and pair[1] in TOOL_FIELDS for node in function.nodes)
