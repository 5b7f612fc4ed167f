"""Reading single expressions: names, literals, arguments. Pure functions of the tree."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst


def inner(node: cst.BaseExpression) -> cst.BaseExpression:
    """The expression whose value `node` has: through `await`, walrus and `yield from`-free wrappers."""
    while True:
        if isinstance(node, cst.Await):
            node = node.expression
        elif isinstance(node, cst.NamedExpr):
            node = node.value
        else:
            return node


def text(node: cst.BaseExpression) -> str | None:
    """The value of a string literal without substitutions (`"a" "b"` too), else None."""
    if isinstance(node, (cst.SimpleString, cst.ConcatenatedString)):
        value = node.evaluated_value
        return value if isinstance(value, str) else None
    return None


def integer(node: cst.BaseExpression | None) -> int | None:
    """The value of an integer literal, signed or not, else None."""
    if isinstance(node, cst.UnaryOperation) and isinstance(node.operator, cst.Minus):
        value = integer(node.expression)
        return None if value is None else -value
    return node.evaluated_value if isinstance(node, cst.Integer) else None


def dotted(node: cst.CSTNode) -> str | None:
    """`a.b.c` for a chain of names, `self.client().chat` for one with calls in it dropped to `()`; else None."""
    parts: list[str] = []
    while True:
        if isinstance(node, cst.Attribute):
            parts.append(node.attr.value)
            node = node.value
        elif isinstance(node, cst.Call):
            parts.append("()")
            node = node.func
        elif isinstance(node, cst.Name):
            parts.append(node.value)
            return ".".join(reversed(parts)).replace(".()", "()")
        else:
            return None


def source(node: cst.CSTNode, limit: int = 60) -> str:
    """The code of `node` on one line, shortened to `limit` characters: for messages only."""
    code = " ".join(cst.Module(body=[]).code_for_node(node).split())
    return code if len(code) <= limit else code[: limit - 3] + "..."


def argument(call: cst.Call, keyword: str, position: int | None = None) -> cst.BaseExpression | None:
    """The argument passed as `keyword=`, or at `position` (0-based), or None. `*args` hides what follows it."""
    for index, arg in enumerate(call.args):
        if arg.keyword is not None:
            if arg.keyword.value == keyword:
                return arg.value
        elif arg.star:
            position = None
        elif index == position:
            return arg.value
    return None


def positional(call: cst.Call) -> list[cst.BaseExpression]:
    """The values of the positional arguments up to the first `*args`."""
    found: list[cst.BaseExpression] = []
    for arg in call.args:
        if arg.star or arg.keyword is not None:
            break
        found.append(arg.value)
    return found


def called_name(call: cst.Call) -> str:
    """The last name of what is called: `append` in `a.b.append(x)`, `f` in `f(x)`, "" otherwise."""
    if isinstance(call.func, cst.Attribute):
        return call.func.attr.value
    return call.func.value if isinstance(call.func, cst.Name) else ""


def receiver(call: cst.Call) -> cst.BaseExpression | None:
    """`a.b` in `a.b.append(x)`, None for a plain function call."""
    return call.func.value if isinstance(call.func, cst.Attribute) else None


def index(node: cst.CSTNode) -> cst.BaseExpression | None:
    """`i` in `x[i]`; None when `node` is no subscript, or a slice, or has several elements."""
    if isinstance(node, cst.Subscript) and len(node.slice) == 1:
        part = node.slice[0].slice
        if isinstance(part, cst.Index):
            return part.value
    return None


def slice_of(node: cst.CSTNode) -> cst.Slice | None:
    """The slice in `x[a:b]`, else None."""
    if isinstance(node, cst.Subscript) and len(node.slice) == 1:
        part = node.slice[0].slice
        if isinstance(part, cst.Slice):
            return part
    return None


def key(node: cst.CSTNode) -> str | None:
    """`k` of `x["k"]` and `x.get("k", ...)`, `x.pop("k")`, `x.setdefault("k", ...)`, `getattr(x, "k")`; else None."""
    if isinstance(node, cst.Subscript):
        at = index(node)
        return None if at is None else text(at)
    if isinstance(node, cst.Call) and node.args:
        if called_name(node) in {"get", "pop", "setdefault"} and receiver(node) is not None:
            return text(node.args[0].value)
        if called_name(node) == "getattr" and len(node.args) > 1:
            return text(node.args[1].value)
    return None


def keyed(node: cst.CSTNode) -> cst.BaseExpression | None:
    """`x` for every form that `key` reads, else None."""
    if key(node) is None:
        return None
    if isinstance(node, cst.Subscript):
        return node.value
    assert isinstance(node, cst.Call)
    return receiver(node) if called_name(node) != "getattr" else node.args[0].value


def member(node: cst.CSTNode) -> tuple[cst.BaseExpression, str] | None:
    """`(x, "k")` for `x.k`, `x["k"]`, `x.get("k")` and `getattr(x, "k")`; else None."""
    if isinstance(node, cst.Attribute):
        return node.value, node.attr.value
    base, name = keyed(node), key(node)
    return (base, name) if base is not None and name is not None else None


def dict_items(node: cst.CSTNode) -> dict[str, cst.BaseExpression]:
    """String keys and their values of a dict display or of `dict(k=v)`; starred parts are left out."""
    items: dict[str, cst.BaseExpression] = {}
    if isinstance(node, cst.Dict):
        for element in node.elements:
            if isinstance(element, cst.DictElement):
                name = text(element.key)
                if name is not None:
                    items[name] = element.value
    elif isinstance(node, cst.Call) and isinstance(node.func, cst.Name) and node.func.value == "dict":
        items.update((arg.keyword.value, arg.value) for arg in node.args if arg.keyword is not None)
    return items


def alternatives(node: cst.BaseExpression) -> Iterator[cst.BaseExpression]:
    """The expressions `node` may evaluate to: both sides of `or`, both branches of `if`/`else`."""
    node = inner(node)
    if isinstance(node, cst.BooleanOperation):
        yield from alternatives(node.left)
        yield from alternatives(node.right)
    elif isinstance(node, cst.IfExp):
        yield from alternatives(node.body)
        yield from alternatives(node.orelse)
    else:
        yield node


def target_names(target: cst.CSTNode) -> list[str]:
    """The plain names an assignment target binds: `a, (b, *c)` gives a, b, c; attributes and items none."""
    if isinstance(target, cst.Name):
        return [target.value]
    if isinstance(target, (cst.Tuple, cst.List)):
        return [name for element in target.elements for name in target_names(element.value)]
    return []
