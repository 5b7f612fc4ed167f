"""AGL403: keys of the text are sorted; two texts that are compared with each other give way to their values."""

from __future__ import annotations

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.guards.guards import Guard
from lint_rules.anatomy.guards.signatures import Made
from lint_rules.anatomy.values.kinds import Kind
from lint_rules.finding import Applicability
from lint_rules.repairs.edits import Edits, Fix, of_the_file
from lint_rules.repairs.imports import Import, reference
from lint_rules.syntax import expressions as ex

_NO_SPACE = cst.AssignEqual(cst.SimpleWhitespace(""), cst.SimpleWhitespace(""))
_TEXT_MAKERS = frozenset({"str", "repr"})


@of_the_file
def repair(anatomy: Anatomy, guard: Guard, texts: list[Made]) -> Fix | None:
    """The fix of one guard: all its texts are put right together, or none."""
    both = _both_dumped(anatomy, guard)
    if both is not None:
        return both
    makers = list(dict.fromkeys(made.maker for made in texts))
    replaced: dict[cst.CSTNode, cst.CSTNode] = {}
    imports: set[Import] = set()
    for maker in makers:
        new = _sorted(anatomy, maker)
        if maker is None or new is None:
            return None
        replaced[maker] = new[0]
        imports |= new[1]
    safe: Applicability = "safe" if all(_is_safe(anatomy, guard, maker) for maker in makers) else "unsafe"
    return Fix("sort the keys", safe, lambda: Edits(replaced=replaced, imports=frozenset(imports)))


def _both_dumped(anatomy: Anatomy, guard: Guard) -> Fix | None:
    """`json.dumps(a) == json.dumps(b)` becomes `a == b`."""
    node = guard.node
    if not isinstance(node, cst.Comparison) or len(node.comparisons) > 1 or guard.how != "equal":
        return None
    target = node.comparisons[0]
    values = [_dumped(anatomy, side) for side in (node.left, target.comparator)]
    left, right = values
    if left is None or right is None:
        return None
    new = node.with_changes(left=left, comparisons=[target.with_changes(comparator=right)])
    return Fix("compare the values", "unsafe", lambda: Edits(replaced={node: new}))


def _dumped(anatomy: Anatomy, node: cst.BaseExpression) -> cst.BaseExpression | None:
    """`x` of `json.dumps(x)`, where nothing but a plain value stands there."""
    if not isinstance(node, cst.Call) or anatomy.facts.encoder(node) != "json.dumps" or len(node.args) != 1:
        return None
    value = node.args[0].value
    plain = isinstance(value, (cst.Name, cst.Attribute, cst.Subscript, cst.Call))
    return value if plain and not node.args[0].star else None


def _sorted(anatomy: Anatomy, maker: cst.BaseExpression | None) -> tuple[cst.Call, frozenset[Import]] | None:
    """The text with sorted keys, and the imports it needs.

    Of `json.dumps(x, ...)`, and of `str(x)` where x is nothing but the arguments.
    """
    if not isinstance(maker, cst.Call) or any(arg.star for arg in maker.args) or not maker.args:
        return None
    option = cst.Arg(cst.Name("True"), cst.Name("sort_keys"), _NO_SPACE)
    if anatomy.facts.encoder(maker) == "json.dumps":
        kept = [arg for arg in maker.args if arg.keyword is None or arg.keyword.value != "sort_keys"]
        if len(kept) != len(maker.args):
            return maker.with_changes(args=[arg if arg in kept else _on(arg) for arg in maker.args]), frozenset()
        return maker.with_changes(args=[*maker.args, option]), frozenset()
    if ex.dotted(maker.func) in _TEXT_MAKERS and len(maker.args) == 1:
        dumps = reference(anatomy.module, maker, "json", "dumps")
        if dumps is None or not anatomy.facts.is_kind(maker.args[0].value, Kind.ARGUMENTS):
            return None
        fallback = cst.Arg(cst.Name("str"), cst.Name("default"), _NO_SPACE)
        return cst.Call(dumps.node, [cst.Arg(maker.args[0].value), option, fallback]), dumps.needs
    return None


def _on(option: cst.Arg) -> cst.Arg:
    return option.with_changes(value=cst.Name("True"))


def _is_safe(anatomy: Anatomy, guard: Guard, maker: cst.BaseExpression | None) -> bool:
    """`json.dumps` of what was parsed from JSON (all keys are strings), in a key that nothing else uses."""
    if not isinstance(maker, cst.Call) or anatomy.facts.encoder(maker) != "json.dumps" or len(maker.args) != 1:
        return False
    slot = anatomy.facts.slots.of(maker.args[0].value)
    values = anatomy.facts.assigned(slot) if slot is not None and slot[0] == "var" else []
    if not values or not all(anatomy.facts.decoder(ex.inner(value)) is not None for value in values):
        return False
    return anatomy.module.inside(maker, guard.node)
