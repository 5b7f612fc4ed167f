"""Messages that are made anew, one by one, of role and content alone: what they had of calls and results is lost.

`[{"role": m["role"], "content": m["content"]} for m in history]`, a converter to the form of another API that knows
results and no calls, `Message(role=m.role, content=...)`. Only where the old ones hold calls, and the new ones are sent
to a model that is offered tools.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.messages.contents import TOOL_FIELDS
from lint_rules.anatomy.messages.messages import ROLES
from lint_rules.anatomy.messages.role_chains import iterated
from lint_rules.anatomy.messages.role_tests import excludes_roles, told_roles
from lint_rules.anatomy.messages.sent import what_is_made, what_is_sent
from lint_rules.anatomy.program.handlers import is_logging
from lint_rules.anatomy.rounds.offers import may_call_tools
from lint_rules.anatomy.values.kinds import LLMCall
from lint_rules.anatomy.values.slots import Slot, root_object
from lint_rules.anatomy.vocabulary import ANSWERED, ENDPOINTS, IN_CONTENT
from lint_rules.syntax import conditions
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.module import Scope, parameters
from lint_rules.syntax.record import record
from lint_rules.syntax.walk import walk
from lint_rules.syntax.word import meaning

_CALLS = frozenset({"tool_calls", "function_call", "tool_use", "tool_call", "toolUse", "functionCall"})
_SAYS = frozenset({"content", "parts"})
_ROLE = frozenset({"role"})
_BESIDE = frozenset({"role", "name", "timestamp"}) | _SAYS
_LOOKING = frozenset({"isinstance", "getattr", "hasattr", "len", "type", "id"})
_KEEPING = frozenset({"append", "insert"})
_ALL = frozenset({"user", "assistant", "tool"})
_DEEPEST = 3

Loop = cst.For | cst.CompFor


@record
class Recast:
    """`node` makes the new message; `shows` that the old ones hold calls or results; `results`: these are kept."""

    node: cst.BaseExpression
    shows: cst.CSTNode
    results: bool = False


@record
class _Copy:
    """`node` is made of `base`, which stands for each element of what `loop` goes through, in a `region`.

    Where that is a function, `run` is the copy as its caller sees it: the call, the element, what stands around it.
    """

    node: cst.BaseExpression
    base: Slot
    loop: Loop
    region: cst.CSTNode
    run: _Copy | None = None


def recasts(anatomy: Anatomy) -> Iterator[Recast]:
    """All of a file, of each loop the first."""
    told: set[Loop] = set()
    for node, items in _made(anatomy):
        for copy in _copies(anatomy, node, items):
            found = _lost(anatomy, copy)
            if found is not None and _is_sent(anatomy, node):
                if copy.loop not in told:
                    yield found
                told.add(copy.loop)
                break
        else:
            shows = _same_kind(anatomy, node, items) if "role" in items else None
            if shows is not None:
                yield Recast(node, shows)


def unlinked(anatomy: Anatomy) -> Iterator[Recast]:
    """Copies that get the calls of the old messages, and not the ids by which results say which call they answer.

    Of a history that has calls, some messages are results. Only where it is sent to an API that looks for the ids.
    """
    linking = [call for call in anatomy.facts.calls.values() if "completion" in call.name]
    for node, items in _made(anatomy) if linking else ():
        function = anatomy.module.scope_of[node].function
        for copy in _copies(anatomy, node, items):
            calls = _taken_over(anatomy, copy)
            if calls is None or "tool" not in _roles(anatomy, copy) or _is_handed_on(anatomy, copy):
                continue
            if not any(map(_is_about_ids, function.nodes)) and _is_sent(anatomy, node, linking):
                yield Recast(node, calls)
                break


def _made(anatomy: Anatomy) -> Iterator[tuple[cst.Dict | cst.Call, dict[str, cst.BaseExpression]]]:
    """What may be a message that is made of role and content alone."""
    for node, shown in anatomy.made:
        items = {**put_later(anatomy, node), **shown} if shown.keys() == _ROLE else shown
        if not _SAYS.isdisjoint(items) and items.keys() <= _BESIDE and _is_all(node, shown):
            yield node, items


def put_later(anatomy: Anatomy, node: cst.CSTNode) -> dict[str, cst.BaseExpression]:
    """What a dict gets by the name that it is made under: `line = {"role": role}; line["content"] = text`."""
    statement = anatomy.module.parent[node]
    targets = ex.targets(statement) if isinstance(statement, (cst.Assign, cst.AnnAssign)) else []
    slot = anatomy.facts.slots.of(targets[0]) if len(targets) == 1 else None
    return dict(anatomy.facts.members(slot)) if slot is not None and slot[0] == "var" else {}


def _taken_over(anatomy: Anatomy, copy: _Copy) -> cst.CSTNode | None:
    """Where the new message gets calls that are made of those of the old one."""
    statement = anatomy.module.statement(copy.node)
    targets = ex.targets(statement) if isinstance(statement, (cst.Assign, cst.AnnAssign)) else []
    slots = {anatomy.facts.slots.of(target) for target in targets} - {None}
    function = anatomy.module.scope_of[copy.node].function
    for line in anatomy.module.nodes_inside(copy.region, function, cst.Assign) if slots else ():
        for target in ex.targets(line):
            pair = ex.member(target)
            if pair is not None and pair[1] == "tool_calls" and anatomy.facts.slots.of(pair[0]) in slots:
                if _is_made_of(anatomy, line.value, copy.base, _CALLS, 0):
                    return line
    return None


def _is_about_ids(part: cst.CSTNode) -> bool:
    """Whether a part of the code sets or reads the id of an answered call."""
    pair = ex.member(part)
    word = ex.text(part) if isinstance(part, cst.SimpleString) else pair[1] if pair is not None else None
    return word in ANSWERED


def _is_all(node: cst.BaseExpression, items: dict[str, cst.BaseExpression]) -> bool:
    """Whether nothing else is in it: no `**rest`."""
    return len(items) == len(node.elements if isinstance(node, cst.Dict) else getattr(node, "args", ()))


# -- what is made of what -----------------------------------------------------------------------------------------


def _copies(anatomy: Anatomy, node: cst.Dict | cst.Call, items: dict[str, cst.BaseExpression]) -> Iterator[_Copy]:
    """Of which element of which loop a message has its role and its content."""
    for outer in anatomy.module.ancestors(node):
        if isinstance(outer, cst.Lambda):
            return
        found = _by_callers(anatomy, node) if isinstance(outer, cst.FunctionDef) else _elements(anatomy, node, outer)
        said = [items[key] for key in items.keys() & _SAYS]
        for copy in found:
            if all(_is_made_of(anatomy, value, copy.base, _SAYS, 0) for value in said):
                if _has_its_role(anatomy, copy, items.get("role")):
                    yield copy
        if isinstance(outer, cst.FunctionDef):
            return


def _elements(anatomy: Anatomy, node: cst.BaseExpression, outer: cst.CSTNode) -> Iterator[_Copy]:
    """What may be made at a node of the elements of a loop around it."""
    loop = outer.for_in if isinstance(outer, (cst.ListComp, cst.GeneratorExp)) else outer
    for name in _targets(loop) if isinstance(loop, (cst.For, cst.CompFor)) else ():
        base = anatomy.facts.slots.of(name)
        if base is not None and isinstance(loop, (cst.For, cst.CompFor)):
            yield _Copy(node, base, loop, outer)


def _by_callers(anatomy: Anatomy, node: cst.BaseExpression) -> Iterator[_Copy]:
    """What may be made in a function of an element that it is handed: `[plain(m) for m in history]`."""
    function, slots = anatomy.module.scope_of[node].function, anatomy.facts.slots
    for site in anatomy.calls.sites[function]:
        given = {slots.of(value): slot for slot, value in slots.bindings(site.node, function)}
        for outer in anatomy.module.ancestors(site.node):
            if isinstance(outer, (cst.FunctionDef, cst.Lambda)):
                break
            for run in _elements(anatomy, site.node, outer):
                if run.base in given:
                    yield _Copy(node, given[run.base], run.loop, function.node, run)


def _has_its_role(anatomy: Anatomy, copy: _Copy, role: cst.BaseExpression | None) -> bool:
    """Whether the role comes from the old message, or is the one that it has, by what is tested: `AIMessage(...)`."""
    if role is not None and ex.text(role) is None:
        return _is_made_of(anatomy, role, copy.base, _ROLE, 0)
    told, tested = {message.role for message in anatomy.transcript.messages.of(copy.node)}, _roles(anatomy, copy)
    return len(told) == 1 and told <= tested < _ALL


def _targets(loop: Loop) -> Iterator[cst.Name]:
    return (part for part in walk(loop.target) if isinstance(part, cst.Name))


def _is_made_of(anatomy: Anatomy, value: cst.BaseExpression, base: Slot, parts: frozenset[str], depth: int) -> bool:
    """Whether a value is made of one of some parts of a message: by way of names, and the content of what is in it."""
    facts = anatomy.facts
    for part in walk(value):
        pair = ex.member(part)
        if pair is not None and {pair[1], str(pair[1])} & parts and facts.slots.of(pair[0]) == base:
            return True
        slot = facts.slots.of(part) if type(part) is cst.Name and depth < _DEEPEST else None
        if slot is not None and slot != base:
            values = [*facts.assigned(slot)]
            if parts is _SAYS:
                values += [*facts.appended(slot), *(facts.gone_through(slot) if slot[0] == "var" else ())]
            if any(v is not value and _is_made_of(anatomy, v, base, parts, depth + 1) for v in values):
                return True
    return False


# -- what is lost -------------------------------------------------------------------------------------------------


def _lost(anatomy: Anatomy, copy: _Copy) -> Recast | None:
    """What a copy leaves behind that the old messages have: nothing else in the loop takes care of it."""
    if any(_is_about_calls(part) for part in walk(copy.region)):
        return None
    if _is_handed_on(anatomy, copy) or _is_added_to(anatomy, copy) or _is_cared_for(anatomy, copy.run):
        return None
    roles = _roles(anatomy, copy)
    if "assistant" not in roles:
        return None
    kept = next(_kept_ids(anatomy, copy), None) or (_kept_result(anatomy, copy) if _have_calls(anatomy, copy) else None)
    if kept is not None:
        return Recast(copy.node, kept, results=True)
    if "tool" not in roles or not _stand_beside(anatomy, copy):
        return None
    proof = anatomy.contents.tool_results(iterated(ex.inner(copy.loop.iter)), mended=True)
    if proof is None or (proof.module is None and proof.elsewhere is None and not _is_there(anatomy, proof.node, copy)):
        return None
    return Recast(copy.node, proof.node if proof.module is None else copy.node)


def _is_cared_for(anatomy: Anatomy, run: _Copy | None) -> bool:
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
    return named or (word in _CALLS and str(word) not in _SAYS)


def _kept_ids(anatomy: Anatomy, copy: _Copy) -> Iterator[cst.CSTNode]:
    """Where the ids are read that the old messages, or blocks of their content, say which call they answer by."""
    for part in walk(copy.region):
        pair = ex.member(part) or ex.asked(part)
        slot = anatomy.facts.slots.of(pair[0]) if pair is not None and pair[1] in ANSWERED else None
        if slot is None or pair is None:
            continue
        outer = anatomy.module.parent[part]
        is_put = isinstance(outer, cst.DictElement) and _is_made_of(anatomy, pair[0], copy.base, _SAYS, 0)
        if root_object(slot) == root_object(copy.base) or is_put:
            yield part


def _kept_result(anatomy: Anatomy, copy: _Copy) -> cst.CSTNode | None:
    """Another message, made in the same loop of those that are results, and of no others."""
    function = anatomy.module.scope_of[copy.node].function
    for node in anatomy.module.nodes_inside(copy.region, function, cst.Dict, cst.Call):
        items = ex.made_of(node) if node is not copy.node else {}
        said = [items[key] for key in items.keys() & _SAYS]
        if said and all(_is_made_of(anatomy, value, copy.base, _SAYS, 0) for value in said):
            if _roles(anatomy, _Copy(node, copy.base, copy.loop, copy.region)) == {"tool"}:
                return node
    return None


def _have_calls(anatomy: Anatomy, copy: _Copy) -> bool:
    """Whether the old messages have calls beside their content: by their class, or by what is stored in their list."""
    return "tool_calls" in _fields(anatomy, copy) or anatomy.contents.calls_beside(_lists(anatomy, copy))


def _lists(anatomy: Anatomy, copy: _Copy) -> list[Slot]:
    """The lists that the old messages come from."""
    return [*anatomy.contents.flowing_into(iterated(ex.inner(copy.loop.iter)))]


def _fields(anatomy: Anatomy, copy: _Copy) -> set[str]:
    """What the class of the old messages has, if it is one of the project."""
    classes = (found[1] for slot in _lists(anatomy, copy) if (found := anatomy.elements.of(slot)) is not None)
    return {name for cls in classes for name in cls.bound}


def _is_there(anatomy: Anatomy, shown: cst.CSTNode, copy: _Copy) -> bool:
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


def _stand_beside(anatomy: Anatomy, copy: _Copy) -> bool:
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


def _is_handed_on(anatomy: Anatomy, copy: _Copy) -> bool:
    """Whether all that is in the old message may get elsewhere: a function gets it, a dict, or whoever goes over it.

    Or one of the blocks of its content.
    """
    parent = anatomy.module.parent
    whole = {copy.base}
    for part in walk(copy.region):
        if type(part) is cst.Name and anatomy.facts.slots.of(part) in whole:
            outer = parent[part]
            here = parent[outer] if isinstance(outer, (cst.Arg, cst.Attribute)) else outer
            if ex.member(here) is not None or ex.asked(here) is not None:
                continue
            if isinstance(here, cst.For) and (pair := ex.member(outer)) is not None and str(pair[1]) in _SAYS:
                whole.update(slot for name in _targets(here) if (slot := anatomy.facts.slots.of(name)) is not None)
            elif isinstance(here, cst.Call):
                if ex.called_name(here) not in _LOOKING | _KEEPING and not is_logging(here):
                    return True
            elif isinstance(here, (cst.Subscript, cst.For, cst.CompFor, cst.BinaryOperation, cst.StarredDictElement)):
                if part not in walk(getattr(here, "target", cst.Pass())):
                    return True
    return False


def _is_added_to(anatomy: Anatomy, copy: _Copy) -> bool:
    """Whether something is put into the new message by its name."""
    statement = anatomy.module.statement(copy.node)
    targets = ex.targets(statement) if isinstance(statement, (cst.Assign, cst.AnnAssign)) else []
    slots = {anatomy.facts.slots.of(target) for target in targets} - {None}
    for part in walk(copy.region) if slots else ():
        pair = ex.member(part)
        base = ex.receiver(part) if isinstance(part, cst.Call) else pair[0] if pair is not None else None
        base = part.value if isinstance(part, cst.Subscript) else base
        if base is not None and anatomy.facts.slots.of(base) in slots and (pair is None or pair[1] not in _BESIDE):
            return True
    return False


# -- of which roles ---------------------------------------------------------------------------------------------


def _roles(anatomy: Anatomy, copy: _Copy) -> frozenset[str]:
    """The roles of the messages of which a copy may be made, as far as tests tell; none if one cannot be read."""
    roles = _roles(anatomy, copy.run) if copy.run is not None else _ALL
    for tested, holds in conditions.passed(anatomy.module, copy.node, copy.region):
        roles &= _passed(anatomy, tested.test, copy, holds=holds)
    return roles


def _passed(anatomy: Anatomy, test: cst.BaseExpression, copy: _Copy, *, holds: bool) -> frozenset[str]:
    """The roles with which a test may come out as it `holds`."""
    if isinstance(test, cst.UnaryOperation) and isinstance(test.operator, cst.Not):
        return _passed(anatomy, test.expression, copy, holds=not holds)
    if isinstance(test, cst.BooleanOperation):
        both = [_passed(anatomy, side, copy, holds=holds) for side in (test.left, test.right)]
        return both[0] & both[1] if isinstance(test.operator, cst.And) is holds else both[0] | both[1]
    if isinstance(test, cst.Comparison) and _is_made_of(anatomy, test.left, copy.base, _ROLE, 0):
        out = excludes_roles(test)
        named = told_roles(test)
        told = frozenset(ROLES[role] for role in named if role in ROLES) if named is not None else None
        if told is not None:
            return _ALL & told if holds is not out else _ALL - told
        return frozenset()
    if isinstance(test, cst.Call) and ex.called_name(test) == "isinstance" and len(test.args) == 2:
        if anatomy.facts.slots.of(test.args[0].value) == copy.base:
            return _ALL if holds and ex.dotted(test.args[1].value) == "dict" else frozenset()
    parts = (ex.member(part) or ex.asked(part) for part in walk(test))
    asked = {pair[1] for pair in parts if pair is not None and anatomy.facts.slots.of(pair[0]) == copy.base}
    return frozenset() if asked - _SAYS - {"name", "timestamp", "get"} else _ALL


# -- where it goes ------------------------------------------------------------------------------------------------


def _is_sent(anatomy: Anatomy, node: cst.CSTNode, requests: Iterable[LLMCall] | None = None) -> bool:
    """Whether a message goes to a model that is offered tools, or whose calls are read: here, or from another file.

    `requests` are those that count, if not all.
    """
    asked = anatomy.facts.calls.values() if requests is None else requests
    asking = (call for call in asked if may_call_tools(anatomy, call.node))
    if any(node in what_is_sent(anatomy, [call]).nodes for call in asking):
        return True
    function = anatomy.module.scope_of[node].function
    if not any(each.what == "result" and each.sent and each.owner == function.qualname for each in anatomy.handed):
        return False
    returned = (one.value for one in function.nodes_of(cst.Return))
    return node in what_is_made(anatomy, [value for value in returned if value is not None]).nodes


# -- one message of its class -------------------------------------------------------------------------------------


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
