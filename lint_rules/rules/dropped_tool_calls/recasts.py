"""Messages that are made anew of those of a history, without the calls of these."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.messages.contents import TOOL_FIELDS
from lint_rules.anatomy.messages.recast import (
    BESIDE,
    CALLS,
    SAYS,
    Copy,
    Loop,
    Recast,
    copies,
    is_handed_on,
    is_made_of,
    is_sent,
    made,
    roles_of,
)
from lint_rules.anatomy.messages.sent import what_is_sent
from lint_rules.anatomy.values.slots import Slot, root_object
from lint_rules.anatomy.vocabulary import ANSWERED, ENDPOINTS, IN_CONTENT
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.elements import iterated
from lint_rules.syntax.module import Scope, parameters
from lint_rules.syntax.walk import walk
from lint_rules.syntax.word import meaning


def recasts(anatomy: Anatomy) -> Iterator[Recast]:
    """All of a file, of each loop the first."""
    told: set[Loop] = set()
    for node, items in made(anatomy):
        for copy in copies(anatomy, node, items):
            found = _lost(anatomy, copy)
            if found is not None and is_sent(anatomy, node):
                if copy.loop not in told:
                    yield found
                told.add(copy.loop)
                break
        else:
            shows = _same_kind(anatomy, node, items) if "role" in items else None
            if shows is not None:
                yield Recast(node, shows)


def _lost(anatomy: Anatomy, copy: Copy) -> Recast | None:
    """What a copy leaves behind that the old messages have: nothing else in the loop takes care of it."""
    if any(_is_about_calls(part) for part in walk(copy.region)):
        return None
    if is_handed_on(anatomy, copy) or _is_added_to(anatomy, copy) or _is_cared_for(anatomy, copy.run):
        return None
    roles = roles_of(anatomy, copy)
    if "assistant" not in roles:
        return None
    kept = next(_kept_ids(anatomy, copy), None) or (_kept_result(anatomy, copy) if _have_calls(anatomy, copy) else None)
    if kept is not None:
        return Recast(copy.node, kept, results=True)
    if "tool" not in roles or not _stand_beside(anatomy, copy):
        return None
    proof = anatomy.contents.tool_results(iterated(ex.inner(copy.loop.iter)), mended=True)
    if proof is None or (not proof.seen and ANSWERED.isdisjoint(_fields(anatomy, copy))):
        return None  # calls and results that are parts of one message are lost together
    if proof.module is None and proof.elsewhere is None and not _is_there(anatomy, proof.node, copy):
        return None
    return Recast(copy.node, proof.node if proof.module is None else copy.node)


def _is_cared_for(anatomy: Anatomy, run: Copy | None) -> bool:
    """Whether the caller speaks of calls, or does more with an element than to hand it to the function that copies."""
    if run is None:
        return False
    uses = (part for part in walk(run.region) if type(part) is cst.Name and anatomy.facts.slots.of(part) == run.base)
    others = [use for use in uses if not anatomy.module.inside(use, run.node) and use not in walk(run.loop.target)]
    return any(map(_is_about_calls, walk(run.region))) or any(
        ex.member(anatomy.module.parent[use]) is None and ex.asked(anatomy.module.parent[use]) is None for use in others
    )


def _is_about_calls(part: cst.CSTNode) -> bool:
    """Whether a part of the code speaks of calls: not of a content that has them among its blocks."""
    pair = ex.member(part) or ex.asked(part)
    word = ex.text(part) if isinstance(part, cst.SimpleString) else pair[1] if pair is not None else None
    named = isinstance(part, cst.Name) and meaning(part.value) == "class of call"
    return named or (word in CALLS and str(word) not in SAYS)


def _kept_ids(anatomy: Anatomy, copy: Copy) -> Iterator[cst.CSTNode]:
    """Where the ids are read that the old messages, or blocks of their content, say which call they answer by."""
    for part in walk(copy.region):
        pair = ex.member(part) or ex.asked(part)
        slot = anatomy.facts.slots.of(pair[0]) if pair is not None and pair[1] in ANSWERED else None
        if slot is None or pair is None:
            continue
        outer = anatomy.module.parent[part]
        is_put = isinstance(outer, cst.DictElement) and is_made_of(anatomy, pair[0], copy.base, SAYS)
        if root_object(slot) == root_object(copy.base) or is_put:
            yield part


def _kept_result(anatomy: Anatomy, copy: Copy) -> cst.CSTNode | None:
    """Another message, made in the same loop of those that are results, and of no others."""
    function = anatomy.module.scope_of[copy.node].function
    for node in anatomy.module.nodes_inside(copy.region, function, cst.Dict, cst.Call):
        items = ex.made_of(node) if node is not copy.node else {}
        said = [items[key] for key in items.keys() & SAYS]
        if said and all(is_made_of(anatomy, value, copy.base, SAYS) for value in said):
            if roles_of(anatomy, Copy(node, copy.base, copy.loop, copy.region)) == {"tool"}:
                return node
    return None


def _have_calls(anatomy: Anatomy, copy: Copy) -> bool:
    """Whether the old messages have calls beside their content: by their class, or by what is stored in their list."""
    return "tool_calls" in _fields(anatomy, copy) or anatomy.contents.calls_beside(_lists(anatomy, copy))


def _lists(anatomy: Anatomy, copy: Copy) -> list[Slot]:
    """The lists that the old messages come from."""
    return [*anatomy.contents.flowing_into(iterated(ex.inner(copy.loop.iter)))]


def _fields(anatomy: Anatomy, copy: Copy) -> set[str]:
    """What the class of the old messages has, if it is one of the project."""
    classes = (found[1] for slot in _lists(anatomy, copy) if (found := anatomy.elements.of(slot)) is not None)
    return {name for cls in classes for name in cls.bound}


def _is_there(anatomy: Anatomy, shown: cst.CSTNode, copy: Copy) -> bool:
    """Whether what a place puts into a list is there when the copy is made: the list lasts, or the place leads to it.

    Two functions may get one list, of which a turn runs only one; and who only asks for calls puts none into it.
    """
    pair = ex.member(shown)
    if isinstance(shown, cst.Comparison) or (pair is not None and pair[1] in TOOL_FIELDS):
        return False
    place, here = anatomy.module.scope_of[shown].function, anatomy.module.scope_of[copy.node].function
    stored = (one.slot for one in anatomy.transcript.stored(place) if one.node is shown)
    if any(slot is not None and root_object(slot)[0] == "attr" for slot in stored):
        return True
    sites = (site.node for site in anatomy.calls.calls[place] if here in anatomy.calls.reachable(site.callee))
    return anatomy.leads(place, [shown], [copy.node] if here is place else [*sites])


def _stand_beside(anatomy: Anatomy, copy: Copy) -> bool:
    """Whether calls and results stand beside the content of the old messages, and not in it.

    By what is stored in their list, by the fields of their class, or by the API that gets their list as it is.
    """
    asking = [call for call in anatomy.facts.calls.values() if call.name in ENDPOINTS]
    beside = [call for call in asking if call.name not in IN_CONTENT]
    if len(beside) < len(asking):
        return not what_is_sent(anatomy, beside).slots.isdisjoint(_lists(anatomy, copy))
    if beside or not TOOL_FIELDS.isdisjoint(_fields(anatomy, copy)):
        return True
    return anatomy.contents.beside(_lists(anatomy, copy))


def _is_added_to(anatomy: Anatomy, copy: Copy) -> bool:
    """Whether something is put into the new message by its name."""
    statement = anatomy.module.statement(copy.node)
    targets = ex.assigned(statement)
    slots = {anatomy.facts.slots.of(target) for target in targets} - {None}
    for part in walk(copy.region) if slots else ():
        pair = ex.member(part)
        base = ex.receiver(part) if isinstance(part, cst.Call) else pair[0] if pair is not None else None
        base = part.value if isinstance(part, cst.Subscript) else base
        if base is not None and anatomy.facts.slots.of(base) in slots and (pair is None or pair[1] not in BESIDE):
            return True
    return False


def _same_kind(anatomy: Anatomy, node: cst.BaseExpression, items: dict[str, cst.BaseExpression]) -> cst.CSTNode | None:
    """For `Message(role=m.role, content=...)` of a parameter `m: Message`: where calls of such messages are read."""
    function = anatomy.module.scope_of[node].function
    made = ex.called_name(node) if isinstance(node, cst.Call) else None
    pair = ex.member(items["role"])
    if made is None or pair is None or pair[1] != "role" or not isinstance(pair[0], cst.Name):
        return None
    if not any(_is_annotated(param, pair[0].value, made) for param in parameters(function)):
        return None
    return next(
        (
            part
            for part in walk(_outermost(function))
            if (ex.member(part) or ex.asked(part) or (None, ""))[1] in {"tool_calls", "function_call"}
        ),
        None,
    )


def _is_annotated(param: cst.Param, name: str, made: str) -> bool:
    return (
        param.name.value == name
        and param.annotation is not None
        and (ex.dotted(param.annotation.annotation) or "").rpartition(".")[2] == made
    )


def _outermost(function: Scope) -> cst.CSTNode:
    """The function that a nested one stands in, or itself."""
    scope: Scope = function
    while scope.parent is not None and scope.parent.function.kind == "function":
        scope = scope.parent.function
    return scope.node
