"""Cuts of a history that hang on a word in the text of an error: many errors have it, of which a cut cures few."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

import libcst as cst

from lint_rules.anatomy import vocabulary as words
from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.cuts.cuts import Cut
from lint_rules.anatomy.messages.classes import body
from lint_rules.anatomy.values.slots import Slot
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.mentions import mentions
from lint_rules.syntax.module import Scope, parameter_names
from lint_rules.syntax.record import record
from lint_rules.syntax.walk import walk

_MATCHING = frozenset({"search", "match", "findall", "fullmatch"})
_SHORTENS = re.compile(r"(^|_)(compress|compact|trim|truncate|shorten|prune|summari[sz]e|reduce|shrink|drop_old)")


@record
class CutByWord:
    """`test` looks for `word` in the text of an error whose handler makes a history shorter at `cut`."""

    test: cst.CSTNode
    word: str
    cut: cst.CSTNode


def cuts_by_word(anatomy: Anatomy) -> Iterator[CutByWord]:
    """Those of all handlers of a file, each test once."""
    seen: set[cst.CSTNode] = set()
    for handler in anatomy.module.nodes_of(cst.ExceptHandler):
        if handler.name is None or not isinstance(handler.name.name, cst.Name):
            continue
        function = anatomy.module.scope_of[handler].function
        tests = list(_tests(anatomy, handler, handler.name.name.value, frozenset({function})))
        cut = _cut_in(anatomy, handler) if tests else None
        for test, word in tests if cut is not None else ():
            if test not in seen and cut is not None and _decides(anatomy, test, cut, function):
                seen.add(test)
                yield CutByWord(test, word, cut)


def _decides(anatomy: Anatomy, test: cst.CSTNode, cut: cst.CSTNode, function: Scope) -> bool:
    """Whether not both ways out of the statement with a test lead to the cut: else it decides about something else."""
    outer = next((node for node in anatomy.module.ancestors(test) if isinstance(node, (cst.If, cst.While))), None)
    if outer is None or not anatomy.module.inside(test, outer.test):
        return True
    flow, goals = anatomy.flow(function), anatomy.points(function, [cut])
    sides = [target for point in flow.at(outer) for target, kind in point.successors if kind != "exception"]
    again = flow.at(outer)
    return not sides or not all(side in goals or flow.reaches([side], goals, again) for side in sides)


# -- the word -----------------------------------------------------------------------------------------------------


def _tests(
    anatomy: Anatomy, region: cst.CSTNode, error: str, seen: frozenset[Scope]
) -> Iterator[tuple[cst.CSTNode, str]]:
    """Where a word is looked for in the text of `error`, with that word; also in a function that gets the error.

    Of one in another file, where it is called.
    """
    nodes = list(walk(region))
    texts = {error} | {
        name
        for node in nodes
        if type(node) is cst.Assign and mentions({error}, node.value)
        for name in ex.target_names(node.targets[0].target)
    }
    for node in nodes:
        if type(node) is cst.Comparison:
            word = _looked_for(anatomy, node, texts)
            if word is not None and not _needs_more(anatomy, node):
                yield node, word
        elif type(node) is cst.Call and (word := _matched(anatomy, node, texts)) is not None:
            if not _needs_more(anatomy, node):
                yield node, word
        elif type(node) is cst.Call and any(mentions({error}, arg.value) for arg in node.args):
            there, callee = body(anatomy, node) or (anatomy, None)
            if callee is None or callee in seen:
                continue
            for slot, value in there.facts.slots.bindings(node, callee):
                if mentions({error}, value) and slot[2] in parameter_names(callee):
                    for test, word in _tests(there, callee.node, slot[2], seen | {callee}):
                        yield test if there is anatomy else node, word


def _looked_for(anatomy: Anatomy, node: cst.Comparison, texts: set[str]) -> str | None:
    """`"token" in str(exc)`, `word in reason for word in ("token", "context")`."""
    target = node.comparisons[0]
    if not isinstance(target.operator, (cst.In, cst.NotIn)) or not mentions(texts, target.comparator):
        return None
    literal = ex.text(node.left)
    if literal is not None:
        return literal if literal.strip().lower() in words.SIZES else None
    if not isinstance(node.left, cst.Name):
        return None
    for outer in anatomy.module.ancestors(node):
        if isinstance(outer, (cst.GeneratorExp, cst.ListComp)):
            listed = _literals(anatomy, outer.for_in.iter)
            return next((word for word in listed if word.strip().lower() in words.SIZES), None)
    return None


def _matched(anatomy: Anatomy, call: cst.Call, texts: set[str]) -> str | None:
    """`re.search("token|context", str(exc))`, `_TOO_LONG.search(reason)`: a pattern of which one branch is one word."""
    name, base = ex.called_name(call), ex.receiver(call)
    if name not in _MATCHING or base is None or not any(mentions(texts, arg.value) for arg in call.args):
        return None
    compiled = [value for value in anatomy.facts.values_of(base) if isinstance(value, cst.Call)]
    given = [arg.value for each in (call, *compiled) for arg in each.args[:1]]
    patterns = (text for value in given for part in (value, *anatomy.facts.values_of(value)) if (text := ex.text(part)))
    return next(filter(None, map(words.size_in, patterns)), None)


def _literals(anatomy: Anatomy, node: cst.BaseExpression) -> list[str]:
    """The texts in a display, also one that has a name."""
    for value in [node, *anatomy.facts.values_of(node)]:
        if isinstance(value, (cst.Tuple, cst.List, cst.Set)):
            return [word for element in value.elements if (word := ex.text(element.value)) is not None]
    return []


def _needs_more(anatomy: Anatomy, node: cst.CSTNode) -> bool:
    """`"context" in text and "length" in text`, `all(word in text for ...)`: not one word alone."""
    for outer in anatomy.module.ancestors(node):
        if isinstance(outer, cst.BooleanOperation) and isinstance(outer.operator, cst.And):
            others = [side for side in (outer.left, outer.right) if not anatomy.module.inside(node, side)]
            if any(_asks_more(part) for side in others for part in walk(side)):
                return True
        if isinstance(outer, cst.Call) and ex.called_name(outer) == "all":
            return True
        if isinstance(outer, (cst.BaseSmallStatement, cst.BaseCompoundStatement)):
            return False
    return False


def _asks_more(part: cst.CSTNode) -> bool:
    return isinstance(part, cst.ComparisonTarget) and isinstance(part.operator, (cst.In, cst.Equal))


# -- what is cut --------------------------------------------------------------------------------------------------


def _cut_in(anatomy: Anatomy, handler: cst.ExceptHandler) -> cst.CSTNode | None:
    """The first place in the handler that makes a history shorter."""
    cut_here: set[cst.CSTNode] = {cut.node for cut in _cuts(anatomy, ())}
    for node in walk(handler.body):
        if node in cut_here or (isinstance(node, cst.Call) and _shortens(anatomy, node)):
            return node
    return None


def _cuts(anatomy: Anatomy, known: Collection[Slot]) -> Iterator[Cut]:
    """The cuts of histories, and of what is `known` to be one."""
    of = anatomy.facts.slots.of
    return (c for c in anatomy.cuts if of(c.base) in known or anatomy.contents.history(c.base) is not None)


def _shortens(anatomy: Anatomy, call: cst.Call) -> bool:
    """Whether what a call runs cuts a history; of a function that is not at hand, its name tells."""
    found = body(anatomy, call)
    if found is not None:
        there, callee = found
        reached, bound = there.calls.reachable(callee), there.facts.slots.bindings(call, callee)
        handed = {slot for slot, value in bound if anatomy.contents.history(value) is not None}
        return any(cut.function in reached for cut in _cuts(there, handed))
    named = _SHORTENS.search(ex.called_name(call)) is not None
    return named and any(anatomy.contents.history(arg.value) is not None for arg in call.args)
