"""Whether a call keeps what it is handed: afterwards it is there, for whoever comes next.

The body of what the call runs tells, in whatever file it stands. Where no body is at hand, as of a library, or where a
class only declares the method and others fill it in, the name tells, and that of the object.
"""

from __future__ import annotations

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.messages.classes import body
from lint_rules.anatomy.program.handlers import is_logging
from lint_rules.anatomy.turns.lasting import is_new
from lint_rules.anatomy.turns.reply_places import ReplyPlaces, reads, stores_by_name
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.memo import kept, once
from lint_rules.syntax.module import Scope, parameter_names, says_only

_PARTS = (cst.Attribute, cst.Subscript)


@kept
def keeps(anatomy: Anatomy, call: cst.Call) -> bool:
    """Whether a call stores what it gets. May cost the analysis of the file that it leads to."""
    found = body(anatomy, call)
    if found is None or says_only(found[1]):
        return stores_by_name(call) and anatomy.facts.encoder(call) is None and not anatomy.storage.writes_log(call)
    return found[1].name != "__init__" and _puts_away(*found)


@once(circular=False)
def _puts_away(anatomy: Anatomy, function: Scope) -> bool:
    """Whether a function puts what it is handed, or a part of it, where it outlives the function."""
    names = ReplyPlaces(anatomy).derived(function, function.node, known=parameter_names(function), put=True)
    for node in function.nodes:
        if isinstance(node, (cst.Assign, cst.AnnAssign, cst.AugAssign)):
            if node.value is not None and reads(node.value, names):
                if any(
                    isinstance(target, _PARTS) and _outlives(anatomy, function, target) for target in ex.targets(node)
                ):
                    return True
        elif isinstance(node, cst.Call) and not is_logging(node) and any(reads(arg.value, names) for arg in node.args):
            base = ex.receiver(node)
            if (base is None or _outlives(anatomy, function, base)) and keeps(anatomy, node):
                return True
    return False


def _outlives(anatomy: Anatomy, function: Scope, place: cst.BaseExpression) -> bool:
    """Whether what a place belongs to is there before the function is called, or lies outside of the program."""
    while isinstance(place, _PARTS):
        place = place.value
    if not isinstance(place, cst.Name) or anatomy.module.scope_binding(function, place.value) is not function:
        return True
    if place.value in parameter_names(function):
        return True
    made = [found.value for found in anatomy.definitions(place)]
    return not all(value is not None and is_new(anatomy, value) for value in made)
