"""AGL404: the names of the arguments in a key give way to the arguments, as text with sorted keys."""

from __future__ import annotations

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.guards.signatures import Made
from lint_rules.repairs.edits import Edits, Fix, of_the_file
from lint_rules.repairs.imports import reference
from lint_rules.syntax import expressions as ex

_NO_SPACE = cst.AssignEqual(cst.SimpleWhitespace(""), cst.SimpleWhitespace(""))
_LISTS = frozenset({"list", "tuple", "sorted", "set", "frozenset"})


@of_the_file
def repair(anatomy: Anatomy, fields: list[Made]) -> Fix | None:
    """`sorted(args)` becomes `json.dumps(args, sort_keys=True, default=str)`, also within `tuple(...)` and a `join`."""
    if len({made.node for made in fields}) != 1:
        return None
    whole = _whole(anatomy, fields[0].node)
    arguments = _arguments(fields[0].node)
    dumps = reference(anatomy.module, whole, "json", "dumps")
    if arguments is None or dumps is None:
        return None
    options = [
        cst.Arg(cst.Name("True"), cst.Name("sort_keys"), _NO_SPACE),
        cst.Arg(cst.Name("str"), cst.Name("default"), _NO_SPACE),
    ]
    new = cst.Call(dumps.node, [cst.Arg(arguments), *options])
    return Fix("put the values in", "unsafe", lambda: Edits(replaced={whole: new}, imports=dumps.needs))


def _arguments(node: cst.BaseExpression) -> cst.BaseExpression | None:
    """`args` of `sorted(args)`, `args.keys()`, `list(args.keys())`."""
    while isinstance(node, cst.Call):
        base = ex.receiver(node)
        if base is not None and ex.called_name(node) != "join":
            return base if ex.called_name(node) == "keys" and not node.args else None
        if len(node.args) != 1 or node.args[0].star or node.args[0].keyword is not None:
            return None
        node = node.args[0].value
    return node if isinstance(node, (cst.Name, cst.Attribute, cst.Subscript)) else None


def _whole(anatomy: Anatomy, node: cst.BaseExpression) -> cst.BaseExpression:
    """The widest expression that holds nothing but the names: `tuple(sorted(args))`, `",".join(args.keys())`."""
    parent = anatomy.module.parent
    while True:
        arg = parent.get(node)
        call = parent.get(arg) if arg is not None else None
        if not isinstance(arg, cst.Arg) or not isinstance(call, cst.Call) or len(call.args) != 1:
            return node
        base = ex.receiver(call)
        joins = base is not None and ex.called_name(call) == "join" and ex.text(base) is not None
        if not joins and not (base is None and ex.called_name(call) in _LISTS):
            return node
        node = call
