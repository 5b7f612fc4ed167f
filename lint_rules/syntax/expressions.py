"""Reading single expressions: names, literals, arguments. Pure functions of the tree.

They compare types, as libcst has no subclasses of its concrete nodes: an `isinstance` that fails is slow there.
"""

from __future__ import annotations

import operator
from ast import literal_eval
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from typing import TypeGuard

import libcst as cst

from lint_rules.syntax.code import code
from lint_rules.syntax.code import operand as code_of_operand
from lint_rules.syntax.word import Word

CONSTANTS = frozenset({"None", "True", "False"})

_SYMMETRIC = frozenset({cst.Equal, cst.NotEqual})
_LITERALS = frozenset({cst.SimpleString, cst.ConcatenatedString, cst.Integer})
_MEMBERSHIP = frozenset({cst.In, cst.NotIn})
_ORDERS: dict[type[cst.BaseCompOp], Callable[[int, int], bool]] = {
    cst.Equal: operator.eq,
    cst.NotEqual: operator.ne,
    cst.LessThan: operator.lt,
    cst.LessThanEqual: operator.le,
    cst.GreaterThan: operator.gt,
    cst.GreaterThanEqual: operator.ge,
}
_PLACES = frozenset({cst.Name, cst.Attribute, cst.Subscript})
_KEY_METHODS = frozenset({"get", "pop", "setdefault"})


def inner(node: cst.BaseExpression) -> cst.BaseExpression:
    """The expression whose value `node` has: through `await` and the walrus."""
    while True:
        if type(node) is cst.Await:
            node = node.expression
        elif type(node) is cst.NamedExpr:
            node = node.value
        else:
            return node


def text(node: cst.BaseExpression) -> str | None:
    """The value of a string literal without substitutions (`"a" "b"` too), else None."""
    if type(node) is cst.SimpleString:
        value = _literal(node.value)
    elif type(node) is cst.ConcatenatedString:
        value = node.evaluated_value
    else:
        return None
    return value if isinstance(value, str) else None


def integer(node: cst.BaseExpression | None) -> int | None:
    """The value of an integer literal, signed or not, else None."""
    if type(node) is cst.UnaryOperation and type(node.operator) is cst.Minus:
        value = integer(node.expression)
        return None if value is None else -value
    return int(node.value, 0) if type(node) is cst.Integer else None


@lru_cache(maxsize=4096)
def _literal(code: str) -> object:
    """The value of a literal; the same keys stand in all files of a program."""
    quote = code[0]
    if quote in "\"'" and "\\" not in code and not code.startswith(quote * 3):
        return code[1:-1]
    return literal_eval(code)


def dotted(node: cst.CSTNode) -> str | None:
    """`a.b.c` for a chain of names, `self.client().chat` for one with calls in it dropped to `()`; else None."""
    if type(node) is cst.Name:
        return node.value
    parts: list[str] = []
    while True:
        if type(node) is cst.Attribute:
            parts.append(node.attr.value)
            node = node.value
        elif type(node) is cst.Call:
            parts.append("()")
            node = node.func
        elif type(node) is cst.Name:
            parts = [node.value, *reversed(parts)]
            chain = _chained(parts)
            return Word(chain, _chained(map(str, parts))) if any(type(part) is Word for part in parts) else chain
        else:
            return None


def _chained(parts: Iterable[str]) -> str:
    return ".".join(parts).replace(".()", "()")


def last_name(node: cst.CSTNode) -> str:
    """`c` of `a.b.c` and of `c`, "" for anything else."""
    if type(node) is cst.Attribute:
        return node.attr.value
    return node.value if type(node) is cst.Name else ""


def bases(node: cst.CSTNode) -> list[cst.BaseExpression]:
    """What a class inherits from, without the types that are filled in: `Store` of `Store[Message]`.

    Empty for what is no class.
    """
    given = [base.value for base in node.bases] if isinstance(node, cst.ClassDef) else []
    return [base.value if isinstance(base, cst.Subscript) else base for base in given]


def source(node: cst.CSTNode, limit: int = 60) -> str:
    """The code of an expression on one line, shortened to `limit` characters."""
    return _shortened(code, node, limit)


def operand(node: cst.CSTNode, limit: int = 60) -> str:
    """The same for what gets something behind it or beside it: in parentheses, if it needs them there."""
    return _shortened(code_of_operand, node, limit)


def _shortened(written: Callable[[cst.CSTNode], str], node: cst.CSTNode, limit: int) -> str:
    try:
        found = written(node)
    except KeyError:  # newer syntax: as it stands in the file, which a bare tree does not tell
        found = cst.Module(body=[]).code_for_node(node)
    found = " ".join(found.split())
    return found if len(found) <= limit else found[: limit - 3] + "..."


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


def keywords(call: cst.Call) -> dict[str, cst.BaseExpression]:
    """The arguments that are passed as `keyword=`, by keyword; of those passed twice the first."""
    found: dict[str, cst.BaseExpression] = {}
    for arg in call.args:
        if arg.keyword is not None:
            found.setdefault(arg.keyword.value, arg.value)
    return found


def compared(test: cst.Comparison) -> tuple[cst.BaseExpression, cst.BaseCompOp, cst.BaseExpression]:
    """Left side, operator and right side, of a chain its first; a literal stands right: `"a" == x` is `x == "a"`."""
    left, operator, right = test.left, test.comparisons[0].operator, test.comparisons[0].comparator
    if type(operator) in _SYMMETRIC and type(left) in _LITERALS and type(right) not in _LITERALS:
        return right, operator, left
    return left, operator, right


def holds(comparison: cst.BaseCompOp, left: int, right: int) -> bool | None:
    """What a comparison of two integers gives; None for `in` and `is`."""
    compare = _ORDERS.get(type(comparison))
    return compare(left, right) if compare is not None else None


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
    func = call.func
    if type(func) is cst.Attribute:
        return func.attr.value
    return func.value if type(func) is cst.Name else ""


def uncalled(node: cst.BaseExpression) -> cst.BaseExpression:
    """What is named, also where it is called: `app.get` of `@app.get` and of `@app.get("/")`."""
    return node.func if isinstance(node, cst.Call) else node


def owner(node: cst.BaseExpression) -> cst.BaseExpression:
    """`x` of `x.messages` and `x["messages"]`: the object that has it goes, and so does its part."""
    while isinstance(node, (cst.Attribute, cst.Subscript)):
        node = node.value
    return node


def receiver(call: cst.CSTNode | None) -> cst.BaseExpression | None:
    """`a.b` in `a.b.append(x)`, None for a plain function call, and for what is no call."""
    func = call.func if type(call) is cst.Call else None
    return func.value if type(func) is cst.Attribute else None


def handed(call: cst.Call) -> list[cst.BaseExpression]:
    """What a call is made with: its arguments, and the object of which it is a method."""
    base = receiver(call)
    return [*(arg.value for arg in call.args), *([base] if base is not None else [])]


def index(node: cst.CSTNode) -> cst.BaseExpression | None:
    """`i` in `x[i]`; None when `node` is no subscript, or a slice, or has several elements."""
    if type(node) is cst.Subscript and len(node.slice) == 1:
        part = node.slice[0].slice
        if type(part) is cst.Index:
            return part.value
    return None


def element_type(annotation: cst.BaseExpression) -> cst.BaseExpression | None:
    """`X` of `list[X]`, `dict[str, X]` and `tuple[X, ...]`: what is said of the elements, or the values."""
    given = [each.slice for each in annotation.slice] if type(annotation) is cst.Subscript else []
    told = [part.value for part in given if type(part) is cst.Index and type(part.value) is not cst.Ellipsis]
    return told[-1] if told else None


def slice_of(node: cst.CSTNode) -> cst.Slice | None:
    """The slice in `x[a:b]`, else None."""
    if type(node) is cst.Subscript and len(node.slice) == 1:
        part = node.slice[0].slice
        if type(part) is cst.Slice:
            return part
    return None


def unsliced(node: cst.BaseExpression) -> cst.BaseExpression:
    """`h` of `h[1:]`; anything else is what it is."""
    return node.value if isinstance(node, cst.Subscript) and slice_of(node) is not None else node


def key(node: cst.CSTNode) -> str | None:
    """`k` of `x["k"]` and `x.get("k", ...)`, `x.pop("k")`, `x.setdefault("k", ...)`, `getattr(x, "k")`; else None."""
    pair = _keyed(node)
    return None if pair is None else pair[1]


def member(node: cst.CSTNode) -> tuple[cst.BaseExpression, str] | None:
    """`(x, "k")` for `x.k`, `x["k"]`, `x.get("k")` and `getattr(x, "k")`; else None."""
    if type(node) is cst.Attribute:
        return node.value, node.attr.value
    return _keyed(node)


def _keyed(node: cst.CSTNode) -> tuple[cst.BaseExpression, str] | None:
    """Tells `x` and `k` apart in all forms but `x.k`."""
    base: cst.BaseExpression | None
    at: cst.BaseExpression | None
    if type(node) is cst.Subscript:
        base, at = node.value, index(node)
    elif type(node) is cst.Call and node.args:
        name = called_name(node)
        if name == "getattr" and len(node.args) > 1:
            base, at = node.args[0].value, node.args[1].value
        elif name in _KEY_METHODS:
            base, at = receiver(node), node.args[0].value
        else:
            return None
    else:
        return None
    name_there = text(at) if at is not None else None
    return (base, name_there) if base is not None and name_there is not None else None


def asked(node: cst.CSTNode) -> tuple[cst.BaseExpression, str] | None:
    """`(x, "k")` for `"k" in x`, `"k" not in x`, `hasattr(x, "k")`: what is asked for, not taken; else None."""
    base: cst.BaseExpression
    if type(node) is cst.Comparison and len(node.comparisons) == 1:
        if type(node.comparisons[0].operator) not in _MEMBERSHIP:
            return None
        base, at = node.comparisons[0].comparator, node.left
    elif type(node) is cst.Call and len(node.args) == 2 and called_name(node) == "hasattr":
        base, at = node.args[0].value, node.args[1].value
    else:
        return None
    name = text(at)
    return None if name is None else (base, name)


def reads_place(node: cst.CSTNode) -> TypeGuard[cst.BaseExpression]:
    """Whether an expression only reads a place: a name, a member in any form, an element; `x.pop("k")` changes x."""
    return type(node) in _PLACES or (type(node) is cst.Call and called_name(node) != "pop" and key(node) is not None)


def is_dict(node: cst.CSTNode) -> bool:
    """Whether an expression makes a new dict of keys and other dicts: `{...}`, `dict(...)`, `a | b`."""
    if type(node) is cst.Call:
        return type(node.func) is cst.Name and node.func.value == "dict"
    return type(node) is cst.Dict or (type(node) is cst.BinaryOperation and type(node.operator) is cst.BitOr)


def dict_parts(node: cst.CSTNode) -> Iterator[tuple[str | None, cst.BaseExpression]]:
    """What a new dict, or a call, gets in order: string keys or keywords with values; `(None, x)` for a whole dict `x`.

    Computed keys are left out, and the positional arguments of calls, but those of `dict(...)` and `x.update(...)`.
    """
    if type(node) is cst.Dict:
        for element in node.elements:
            name = text(element.key) if type(element) is cst.DictElement else None
            if name is not None or type(element) is cst.StarredDictElement:
                yield name, element.value
    elif type(node) is cst.Call:
        takes_dicts = is_dict(node) or called_name(node) == "update"
        for arg in node.args:
            if arg.keyword is not None:
                yield arg.keyword.value, arg.value
            elif arg.star == "**" or (not arg.star and takes_dicts):
                yield None, arg.value
    elif type(node) is cst.BinaryOperation and is_dict(node):
        yield None, node.left
        yield None, node.right


def dict_items(node: cst.CSTNode) -> dict[str, cst.BaseExpression]:
    """String keys that a new dict may have, with their values; also of the new dicts that are spread in it.

    `{"a": 1, **({"b": x} if x else {})}` has `a` and `b`. What the names in it stand for, `Dicts` of the anatomy knows.
    """
    items: dict[str, cst.BaseExpression] = {}
    for name, value in dict_parts(node) if is_dict(node) else ():
        if name is not None:
            items[name] = value
        else:
            for part in alternatives(value):
                items.update(dict_items(part))
    return items


def made_of(node: cst.Dict | cst.Call) -> dict[str, cst.BaseExpression]:
    """String keys and values of a dict display, keywords of a constructor: a call of a capitalised name.

    Also of one that has a name of its own: `Block.of_call(id=..., name=...)`.
    """
    if not isinstance(node, cst.Call):
        return dict_items(node)
    base = last_name(receiver(node) or node)
    makes = called_name(node)[:1].isupper() or (base[:1].isupper() and not base.isupper())
    return keywords(node) if makes else {}


_VIEWS = frozenset({"items", "values"})
_LISTERS = frozenset({"enumerate", "reversed", "list", "tuple", "iter", "sorted"})
"""Functions that give the elements of what they get. Source: standard library."""


def alternatives(node: cst.BaseExpression) -> Iterator[cst.BaseExpression]:
    """The expressions `node` may evaluate to: both sides of `or`, both branches of `if`/`else`."""
    node = inner(node)
    if type(node) is cst.BooleanOperation:
        yield from alternatives(node.left)
        yield from alternatives(node.right)
    elif type(node) is cst.IfExp:
        yield from alternatives(node.body)
        yield from alternatives(node.orelse)
    else:
        yield node


def iterated(loop: cst.For | cst.CompFor) -> Iterator[tuple[cst.BaseExpression, cst.BaseExpression]]:
    """What a loop goes through, with the target of each element, behind `enumerate`, `sorted`, `.items()`, `zip`."""
    yield from _iterated(inner(loop.iter), loop.target)


def _iterated(
    iterable: cst.BaseExpression, target: cst.BaseExpression
) -> Iterator[tuple[cst.BaseExpression, cst.BaseExpression]]:
    if type(iterable) is cst.Call:
        name, base = called_name(iterable), receiver(iterable)
        if name in {"zip", "pairwise"} and type(target) is cst.Tuple and target.elements:
            lists = positional(iterable) if name == "zip" else positional(iterable)[:1] * len(target.elements)
            for element, listed in zip(target.elements, lists, strict=False):
                yield from _iterated(inner(listed), element.value)
            return
        viewed = base if name in _VIEWS else next(iter(positional(iterable)), None) if name in _LISTERS else None
        if viewed is not None:
            if name in {"enumerate", "items"} and type(target) is cst.Tuple and len(target.elements) == 2:
                target = target.elements[1].value
            yield from _iterated(inner(viewed), target)
            return
    yield iterable, target


def targets(node: cst.Assign | cst.AnnAssign | cst.AugAssign | cst.NamedExpr | cst.For) -> list[cst.BaseExpression]:
    """What an assignment or loop binds: `a` and `b.c` of `a = b.c = x`, the one target of the other forms."""
    return [target.target for target in node.targets] if isinstance(node, cst.Assign) else [node.target]


def assigned(node: cst.CSTNode | None) -> list[cst.BaseExpression]:
    """What an assignment binds; nothing of any other node."""
    return targets(node) if isinstance(node, (cst.Assign, cst.AnnAssign)) else []


def several(node: cst.BaseExpression) -> list[cst.BaseExpression]:
    """The parts of a tuple; anything else is the one part of itself."""
    return [element.value for element in node.elements] if isinstance(node, cst.Tuple) else [node]


def unpacked(
    target: cst.BaseExpression, value: cst.BaseExpression
) -> Iterator[tuple[cst.BaseExpression, cst.BaseExpression | None]]:
    """The places that `target = value` binds, each with the expression that it gets: (a, x), (b, y) of `a, b = x, y`.

    None where no expression is that part: `a, b = pair()`, `a, *b = x, y`.
    """
    value = inner(value)
    if not isinstance(target, (cst.Tuple, cst.List)):
        yield target, value
        return
    parts: Sequence[cst.BaseElement] = value.elements if isinstance(value, (cst.Tuple, cst.List)) else ()
    starred = any(isinstance(element, cst.StarredElement) for element in (*target.elements, *parts))
    apart = len(parts) == len(target.elements) and not starred
    for index, element in enumerate(target.elements):
        for place, part in unpacked(element.value, parts[index].value if apart else value):
            yield place, part if apart else None


def bound_places(target: cst.BaseExpression) -> Iterator[cst.BaseExpression]:
    """What a target binds, names, attributes and items: `a`, `b.c` and `d` of `a, (b.c, d)`."""
    if isinstance(target, (cst.Tuple, cst.List)):
        for element in target.elements:
            yield from bound_places(element.value)
    else:
        yield target


def target_names(target: cst.CSTNode) -> list[str]:
    """The plain names an assignment target binds: `a, (b, *c)` gives a, b, c; attributes and items none."""
    if type(target) is cst.Name:
        return [target.value]
    if isinstance(target, (cst.Tuple, cst.List)):
        return [name for element in target.elements for name in target_names(element.value)]
    return []


def quoted_names(annotation: str) -> list[str]:
    """What a quoted annotation names, but for what a container holds: `"Store | None"`, `"Optional[Store]"`."""
    parts = (part.strip().removeprefix("Optional[").removesuffix("]").strip() for part in annotation.split("|"))
    return [part for part in parts if part.isidentifier() and part != "None"]
