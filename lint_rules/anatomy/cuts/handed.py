"""What a file hands to functions of others, and puts into their objects: lists of messages, and messages of tools.

`kept = newest(history, 40)`, `memory.add({"role": "tool", ...})`, `talk.say("tool", text)`, `talk.lines.append(it)`,
and an agent that hands itself to its commands. Whoever cuts a list in one file learns from it what others put there.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import cached_property
from typing import Literal, NamedTuple, TypeVar

import libcst as cst

from lint_rules.anatomy.agent import Anatomy, Neighbour
from lint_rules.anatomy.calls.picks import Pick
from lint_rules.anatomy.calls.remaining_calls import Rest
from lint_rules.anatomy.calls.stored_calls import StoredCalls
from lint_rules.anatomy.cuts.alignment import Alignment
from lint_rules.anatomy.cuts.fates import Fates, lasting_parts
from lint_rules.anatomy.messages.classes import FoundClass, class_places, declared_for, named_classes, run_elsewhere
from lint_rules.anatomy.messages.message_texts import Said
from lint_rules.anatomy.messages.messages import ROLES, Role
from lint_rules.anatomy.program import handlers
from lint_rules.anatomy.program.behind import Behind
from lint_rules.anatomy.program.serving import placed_in_common
from lint_rules.anatomy.rounds.offers import may_call_tools
from lint_rules.anatomy.rounds.quiet_ends import ends_for_nothing
from lint_rules.anatomy.turns.callers import run_by
from lint_rules.anatomy.turns.hooks import span_of
from lint_rules.anatomy.turns.lasting import is_begun_anew
from lint_rules.anatomy.turns.told_turns import answers_beside_questions
from lint_rules.anatomy.values.constants import constant
from lint_rules.anatomy.values.identity import Identity
from lint_rules.anatomy.values.kinds import TOLD, Kind
from lint_rules.anatomy.values.slots import Slot, is_parameter, told_names
from lint_rules.finding import Span
from lint_rules.syntax import exceptions
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.module import Scope
from lint_rules.syntax.record import record

What = Literal[
    "history",
    "message",
    "calls",
    "turn",
    "content",
    "role",
    "number",
    "result",
    "part",
    "document",
    "object",
    "instance",
    "value",
    "passed",
    "other",
]
_HELD: tuple[Role, ...] = ("tool", "system")


@record
class Handed:
    """One thing that the file at `path` hands to the function `owner` of `file`, or puts into the class of this name.

    `part` is the place or keyword of the argument, the name of the attribute, or None for what a function gives back,
    and for its object; `inside` the attribute of the argument that is meant. `what` it is: a list of messages, one
    message, all the `calls` of one that is stored with them and that nobody sees to else, what a model has answered,
    beside the question (a `turn`), the `content` of a message, a role, a `number`, a `document` that holds a list, a
    `part` of what comes back whose messages are stored or sent, an `instance` of the class `cls` (the module as the
    file at `path` imports it, and the name there), a `value` of these `kinds`, or whatever comes `through` a function
    of that file, by its name, the name of a parameter, and the place of that; with messages of these `roles`. It is
    `kept` when the function has ended, and errors of the classes `taken` end there, and leave it as it is (of a value:
    whoever hands it over makes something of them); or who reads what is yielded may have `left`. A document is begun
    `anew` where there is none. What comes back is `used` as a list of messages, `sent` to a model that is offered
    tools, or `mended`: somebody looks there at what they are. Its calls and results may stand `beside` the content of
    its messages. Where nothing comes back, a loop of rounds ends there and is `quiet` about it. An `example` stands at
    the top of its file: it does not say who else runs that.
    """

    file: str
    owner: str
    part: str | int | None
    inside: str
    what: What
    roles: frozenset[Role]
    used: bool
    mended: bool
    path: str
    span: Span
    number: int | None = None
    kept: bool = False
    taken: frozenset[str] = frozenset()
    left: bool = False
    sent: bool = False
    beside: bool = False
    cls: tuple[str, str] | None = None
    anew: bool = False
    kinds: frozenset[Kind] = frozenset()
    quiet: bool = False
    example: bool = False
    through: tuple[str, str, int] | None = None

    @property
    def holder(self) -> str:
        """The class of a method; a function or class itself."""
        return self.owner.rpartition(".")[0] or self.owner


@record
class Placed:
    """What the file at `path` puts under a name into an object of a framework, which all handlers get: of class `cls`.

    That is the module, as the file imports it, and the name there.
    """

    name: str
    path: str
    cls: tuple[str, str]


class _Told(NamedTuple):
    part: str | int | None
    what: What
    roles: frozenset[Role]
    inside: str = ""
    number: int | None = None
    kept: bool = False
    taken: frozenset[str] = frozenset()
    left: bool = False
    beside: bool = False
    cls: tuple[str, str] | None = None
    anew: bool = False
    kinds: frozenset[Kind] = frozenset()
    quiet: bool = False
    example: bool = False
    through: tuple[str, str, int] | None = None


_NOWHERE = Span(0, 0, 0, 0)
_NOTHING = _Told(None, "other", frozenset(), quiet=True)


def handed(anatomy: Anatomy) -> Iterator[Handed]:
    """All of a file, but for the values that `valued` tells of."""
    known: dict[Anatomy, _Handing] = {}
    for there, call, run in _each_run(anatomy):
        if there not in known:
            known[there] = _Handing(there)
        yield from known[there].of(call, run)
    yield from _by_objects(anatomy)


def valued(anatomy: Anatomy) -> Iterator[Handed]:
    """Of which classes and kinds the values are that a file hands to functions of others: it costs less."""
    for there, call, run in _each_run(anatomy):
        told = list(_values(there, call))
        for path, name in run if told else ():
            yield from (_said(there, (os.path.abspath(path), name), each, call) for each in told)


def placed(anatomy: Anatomy) -> Iterator[Placed]:
    """All that a file puts there, of classes that it imports."""
    for name, value in placed_in_common(anatomy.calls):
        yield from (Placed(name, anatomy.module.path, cls) for cls in dict.fromkeys(_instance(anatomy, value)))


Bases = dict[tuple[str, str], list[Scope]]
"""The classes of a file that derive from one of another, by the path and name of that."""


def bases_elsewhere(anatomy: Anatomy) -> Bases:
    """Whoever hands something to a method of one of these hands it to those of the classes that fill it in."""
    found: Bases = {}
    for cls in anatomy.module.classes:
        for near, name in declared_for(anatomy, cls):
            found.setdefault((os.path.abspath(near.path), name), []).append(cls)
    return found


Arrived = TypeVar("Arrived", Handed, Said)


def passed_on(told: Iterable[Handed]) -> list[Handed]:
    """All that some files hand to others, also through functions that only hand on what they get."""
    found = [*told]
    ways: defaultdict[tuple[str, str, str | int | None], list[Handed]] = defaultdict(list)
    for owner, name, place, way in ((*each.through, each) for each in found if each.through is not None):
        for part in (name, place):  # as callers may give it
            ways[os.path.abspath(way.path), owner, part].append(way)
    found = [each for each in found if each.through is None]
    seen = {_without_place(each) for each in found} if ways else set()
    for each in found:
        for way in ways.get((each.file, each.owner, each.part), ()):
            on = replace(
                each, file=way.file, owner=way.owner, part=way.part, used=each.used and way.used,
                mended=each.mended or way.mended, sent=each.sent or way.sent, taken=each.taken | way.taken,
            )  # fmt: skip
            if _without_place(on) not in seen:
                seen.add(_without_place(on))
                found.append(on)
    return found


def _without_place(told: Handed) -> Handed:
    return replace(told, span=_NOWHERE)


def arriving(told: Arrived, anatomy: Anatomy, above: Bases) -> Iterator[Arrived]:
    """What another file hands to one, or says of it, by its own names: also by those of a base that it fills in."""
    here = os.path.abspath(anatomy.module.path)
    if told.file == here:
        yield told
    for cls in above.get((told.file, told.holder), ()):
        name = told.owner.rpartition(".")[2]
        if told.owner != told.holder and anatomy.module.method(cls, name) is not None:
            yield replace(told, file=here, owner=f"{cls.name}.{name}")


def _each_run(anatomy: Anatomy) -> Iterator[tuple[Anatomy, cst.Call, list[tuple[str, str]]]]:
    """The calls that run functions of other files, each with the file in which it stands, and those by path and name.

    Also on objects that another file gets from here: `run(memory)`, and there `memory.add(message)`.
    """
    for call in anatomy.module.nodes_of(cst.Call):
        made = _made_elsewhere(anatomy, call)
        run = [(made[0].path, f"{made[1]}.__init__")] if made is not None else list(run_by(anatomy, call))
        if run:
            yield anatomy, call, run
    for call in anatomy.module.nodes_of(cst.Call):
        found = None
        if any(True for arg in call.args for _ in _classes(anatomy, arg.value)):
            found = _begun(anatomy, call) or run_elsewhere(anatomy, call)
        if found is None:
            continue
        there, function = found
        for parameter, value in there.facts.slots.bindings(call, function):
            classes = list(_classes(anatomy, value))
            for inside in _called_on(there, parameter) if classes else ():
                yield there, inside, [(path, f"{name}.{ex.called_name(inside)}") for path, name in classes]


def _called_on(anatomy: Anatomy, parameter: Slot) -> Iterator[cst.Call]:
    """The calls of methods of what a parameter gets, also where an object keeps it."""
    same = {*anatomy.contents.kept_of(parameter)}
    for call in anatomy.module.nodes_of(cst.Call):
        base = ex.receiver(call)
        if base is not None and anatomy.facts.slots.of(base) in same:
            yield call


def _classes(anatomy: Anatomy, value: cst.BaseExpression) -> Iterator[tuple[str, str]]:
    """The path and name of the classes of other files that an object may belong to, also where it is made there."""
    slot = anatomy.facts.slots.of(value)
    if slot is not None:
        yield from class_places(anatomy, slot)
    made = _made_elsewhere(anatomy, value)
    yield from [(made[0].path, made[1])] if made is not None else ()


def _made_elsewhere(anatomy: Anatomy, value: cst.BaseExpression) -> tuple[Neighbour, str] | None:
    """The file that defines the class of which an expression makes an object, and its name there."""
    return anatomy.defined_elsewhere(ex.dotted(value.func) or "", "class") if isinstance(value, cst.Call) else None


def _begun(anatomy: Anatomy, call: cst.Call) -> FoundClass | None:
    """How an object of a class of another file begins that a call makes."""
    found = anatomy.imported_class(ex.dotted(call.func) or "")
    method = found[0].module.method(found[1], "__init__") if found is not None else None
    return (found[0], method) if found is not None and method is not None else None


class _Handing:
    """What the calls of one file hand to what they run."""

    def __init__(self, anatomy: Anatomy) -> None:
        self._anatomy = anatomy
        self._fates, self._alignment = Fates(anatomy), Alignment(anatomy, anatomy.contents)

    def of(self, call: cst.Call, run: list[tuple[str, str]]) -> Iterator[Handed]:
        """What a call hands to the functions `run`, by path and qualified name."""
        anatomy = self._anatomy
        function = anatomy.module.scope_of[call].function
        behind = Behind(anatomy, call, function)
        fate = self._fates.of(call, function)
        given = anatomy.contents.history(call) is not None or (fate is not None and fate[0] == "sent")
        told = [*_arguments(anatomy, call, behind), *self._calls(call, function), *_turns(anatomy, call)]
        told += [_Told(None, "result", frozenset())] if given else []
        told += [_Told(None, "part", frozenset(), name, kept=True) for name in lasting_parts(anatomy, call)]
        if any(_is_document(anatomy, target) for target in _bound(anatomy, call)):
            told.append(_Told(None, "document", frozenset(), anew=_is_begun_anew(anatomy, call)))
        base = ex.receiver(call)
        if base is not None:
            kept, taken, left = behind.keeps(base), behind.taken(base), behind.is_left(base)
            example = function.kind == "module"
            told.append(_Told(None, "object", frozenset(), kept=kept, taken=taken, left=left, example=example))
        end = ends_for_nothing(anatomy, call)
        if not told and end is None:
            return
        used, sent = fate is not None, fate is not None and fate[0] == "sent" and _offers_tools(anatomy, fate[1])
        is_taken = not isinstance(anatomy.module.awaiting(call), cst.Expr)
        mended = is_taken and self._alignment.of_result(call, function)
        for path, name in run:
            where = os.path.abspath(path), name
            yield from (_said(anatomy, where, each, call, used=used, mended=mended, sent=sent) for each in told)
            yield from [_said(anatomy, where, _NOTHING, end)] if end is not None else []

    def _calls(self, call: cst.Call, function: Scope) -> Iterator[_Told]:
        """The calls of a message that is stored with all of them, where this call alone sees to them."""
        for place, arg in enumerate(call.args):
            way = self._identity.of(arg.value) if self._anatomy.facts.is_kind(arg.value, Kind.CALLS) else None
            if arg.star or way is None or next(self._stored_calls.of(way, function), None) is None:
                continue
            whole = Pick(arg.value, arg.value, way, function, "")
            if not Rest(self._anatomy, self._identity, self._stored_calls, whole, call).is_seen_to():
                yield _Told(arg.keyword.value if arg.keyword is not None else place, "calls", frozenset())

    @cached_property
    def _identity(self) -> Identity:
        return Identity(self._anatomy.facts)

    @cached_property
    def _stored_calls(self) -> StoredCalls:
        return StoredCalls(self._anatomy, self._identity)


def _turns(anatomy: Anatomy, call: cst.Call) -> Iterator[_Told]:
    for place, arg in answers_beside_questions(anatomy, call):
        yield _Told(arg.keyword.value if arg.keyword is not None else place, "turn", frozenset())


def _offers_tools(anatomy: Anatomy, place: cst.CSTNode) -> bool:
    """Whether tools are offered where a list is sent: in the request, or in the body that is made for it."""
    return (
        may_call_tools(anatomy, place)
        if isinstance(place, cst.Call)
        else "tools" in ex.dict_items(anatomy.module.parent[place])
    )


def _said(
    anatomy: Anatomy,
    where: tuple[str, str],
    told: _Told,
    node: cst.CSTNode,
    *,
    used: bool = False,
    mended: bool = False,
    sent: bool = False,
) -> Handed:
    path, span = anatomy.module.path, span_of(anatomy, node)
    return Handed(*where, **told._asdict(), used=used, mended=mended, sent=sent, path=path, span=span)


def _arguments(anatomy: Anatomy, call: cst.Call, behind: Behind) -> Iterator[_Told]:
    for place, arg in enumerate(call.args):
        part = arg.keyword.value if arg.keyword is not None else place
        number = constant(anatomy, arg.value)
        if number is not None and not arg.star:
            yield _Told(part, "number", frozenset(), number=int(number))
        elif not arg.star:
            kept, taken = behind.keeps(arg.value), behind.taken(arg.value)
            known = list(_about(anatomy, arg.value)) or ([("other", frozenset(), "")] if kept or taken else [])
            yield from _passed(anatomy, part, arg.value)
            tools = any("tool" in roles for _, roles, _ in known)
            beside = tools and anatomy.contents.beside(anatomy.contents.flowing_into(arg.value))
            yield from (_Told(part, *each, kept=kept, taken=taken, beside=beside) for each in known)


def _passed(anatomy: Anatomy, part: str | int, value: cst.BaseExpression) -> Iterator[_Told]:
    """What a function hands on as it has got it."""
    slot = anatomy.facts.slots.of_name(value)
    if slot is None or not is_parameter(slot) or slot[1].kind != "function":
        return
    names = told_names(slot[1])
    if slot[2] in names:
        yield _Told(part, "passed", frozenset(), through=(slot[1].qualname, slot[2], names.index(slot[2])))


def _values(anatomy: Anatomy, call: cst.Call) -> Iterator[_Told]:
    for place, arg in enumerate(call.args):
        part = arg.keyword.value if arg.keyword is not None else place
        if not arg.star and constant(anatomy, arg.value) is None:
            yield from (_Told(part, "instance", frozenset(), cls=cls) for cls in _instance(anatomy, arg.value))
            yield from _passed(anatomy, part, arg.value)
            kinds = TOLD & anatomy.facts.kinds(arg.value).keys()
            taken = _taken(anatomy, call) if Kind.ARGUMENTS_TEXT in kinds else frozenset[str]()
            yield from [_Told(part, "value", frozenset(), kinds=frozenset(kinds), taken=taken)] if kinds else []


def _taken(anatomy: Anatomy, call: cst.Call) -> frozenset[str]:
    """The errors of parsing that a handler around a call makes something of: an answer to the model, say."""
    handling = handlers.handling_of(anatomy.module, call, handlers.JSON_ERRORS)
    told = handling is not None and handling.ending is handlers.Ending.TELLS
    return exceptions.caught(handling.handler) if handling is not None and told else frozenset()


def _instance(anatomy: Anatomy, value: cst.BaseExpression) -> Iterator[tuple[str, str]]:
    """The classes that this file imports and of which a value may be an object: the module, and the name there."""
    slot, made = anatomy.facts.slots.of(value), _made_elsewhere(anatomy, value)
    named = named_classes(anatomy, slot) if slot is not None else ()
    yield from ((near.module, name) for near, name in (*named, *([made] if made is not None else [])))


def _about(anatomy: Anatomy, value: cst.BaseExpression) -> Iterator[tuple[What, frozenset[Role], str]]:
    """What a value is, the roles in it, and the attribute of it that is meant."""
    said = ROLES.get(ex.text(value) or (value.attr.value.lower() if type(value) is cst.Attribute else ""))
    first = anatomy.module.scope_of[value].function.name == "__init__"  # a later one is no prompt
    if said is not None and ex.text(value) != "function":
        yield "role", frozenset({said} if said == "tool" or first else ()), ""
        return
    if anatomy.contents.history(value) is not None:
        yield "history", anatomy.contents.roles_in(anatomy.contents.lists_in(value), value), ""
        return
    messages = anatomy.transcript.messages.of(value)
    roles = {message.role for message in messages if not _is_legacy(message.node)}
    if messages:
        yield "message", frozenset(role for role in _HELD if role in roles and (first or role == "tool")), ""
    elif anatomy.transcript.messages.answers(value):
        yield "content", frozenset({"tool"}), ""
    if not messages and _is_document(anatomy, value):
        yield "document", frozenset(), ""
    cls = anatomy.facts.slots.instance(value)
    line = anatomy.module.lineage(cls)
    for slot, _ in anatomy.facts.histories():
        if slot[0] == "attr" and slot[1] in line:
            yield "history", anatomy.contents.roles_in([slot]), slot[2]


def _is_document(anatomy: Anatomy, value: cst.BaseExpression) -> bool:
    """Whether something holds a list of messages in one of its parts: `session["history"]`."""
    slot = anatomy.facts.slots.of(value)
    return slot is not None and any(
        part[0] in {"member", "item"} and part[1] == slot for part, _ in anatomy.facts.histories()
    )


def _bound(anatomy: Anatomy, call: cst.Call) -> list[cst.BaseExpression]:
    """What a call gives its value: `session = await load(key) or {}`."""
    outer = anatomy.module.parent[call]
    while isinstance(outer, (cst.Await, cst.BooleanOperation)):
        outer = anatomy.module.parent[outer]
    return ex.assigned(outer)


def _is_begun_anew(anatomy: Anatomy, call: cst.Call) -> bool:
    """Whether something fresh takes the place of what a call gives: `load(key) or {}`, `if talk is None: talk = {}`."""
    module, outer = anatomy.module, anatomy.module.parent[call]
    while isinstance(outer, (cst.Await, cst.BooleanOperation)):
        if isinstance(outer, cst.BooleanOperation) and is_begun_anew(anatomy, outer.right):
            return True
        outer = module.parent[outer]
    bound = {ex.dotted(target) for target in _bound(anatomy, call)}
    return any(
        ex.dotted(target) in bound and is_begun_anew(anatomy, node.value)
        for node in module.scope_of[call].function.nodes_of(cst.Assign)
        for target in ex.targets(node)
    )


def _is_legacy(message: cst.BaseExpression) -> bool:
    """A message of role "function": it names no call, so no API misses the call."""
    role = ex.dict_items(message).get("role")
    return role is not None and ex.text(role) == "function"


def _by_objects(anatomy: Anatomy) -> Iterator[Handed]:
    """`memory.messages`, of an object of a class of another file, in which this one puts messages."""
    seen = set()
    for node in anatomy.module.nodes_of(cst.Attribute):
        slot = anatomy.facts.slots.of(node)
        if slot is None or slot[0] != "member" or slot in seen:
            continue
        seen.add(slot)
        if anatomy.contents.history(node) is None:
            continue
        told = _Told(slot[2], "history", anatomy.contents.roles_in([slot]))
        mended = anatomy.mending.reaches({slot})
        for path, name in class_places(anatomy, slot[1]):
            yield _said(anatomy, (os.path.abspath(path), name), told, node, used=True, mended=mended)
