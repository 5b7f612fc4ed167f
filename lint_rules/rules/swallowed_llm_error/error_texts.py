"""Texts of errors that pass for the model's answer: a request fails, and a history keeps what the handler says of it.

A function has the text, or gives it back by the way of the answer; it, or whoever calls it, stores the answer as the
assistant's message. What may come between, and tells the two apart: a flag, a test of the text, an exception. A handler
that says nothing (`""`, None) is the same, where nobody asks whether there is an answer.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import partial

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.messages.classes import body
from lint_rules.anatomy.program.handlers import is_neutral
from lint_rules.anatomy.rounds.quiet_ends import guarded_request, takes_failures
from lint_rules.anatomy.turns.refusals import Refusals
from lint_rules.anatomy.turns.reply_places import ReplyPlaces, bound_values, holds, is_read
from lint_rules.syntax import exceptions
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.graph import Point
from lint_rules.syntax.mentions import names_in
from lint_rules.syntax.module import Scope
from lint_rules.syntax.record import record
from lint_rules.syntax.truth import evaluate
from lint_rules.syntax.walk import walk, walk_scope

MOST_HOPS = 4
_CONTAINERS = (cst.DictElement, cst.Dict, cst.Element, cst.List, cst.Arg)
_WORDED = (cst.FormattedString, cst.ConcatenatedString)
_BINDING = (cst.Assign, cst.AnnAssign, cst.AugAssign)
_LEAVING = (cst.Return, cst.Yield)
_BUILT_IN = frozenset({"str", "dict", "list", "tuple", "bytes", "int"})
_NOTHING = cst.Name("None")
"""What a function gives back at its end."""

Place = int | str | None
"""Which part of a value is meant: of a tuple, of a dict or object by its key; None for the value itself."""


@record
class ErrorText:
    """`text`, in the statement or yield `node` of `function`, takes the place of the answer when `request` fails.

    `part` says which part of what the function gives back it is; `beside` are the parts that tell it from an answer.
    """

    anatomy: Anatomy
    function: Scope
    node: cst.CSTNode
    text: cst.BaseExpression
    request: cst.Call
    part: Place = None
    beside: frozenset[Place] = frozenset()

    @property
    def is_nothing(self) -> bool:
        """Whether it is no text at all: `""` or None."""
        return _is_empty(self.text)

    @property
    def leaves(self) -> bool:
        """Whether the function gives it back, and does not go on with it."""
        return isinstance(self.node, _LEAVING) or self.text is _NOTHING


@record
class Source:
    """Texts that a function has from `node` on, in `names`; `flags` are names that may tell them from an answer.

    What is read `apart` is another part of what was given, `whole` are the names of all that.
    """

    node: cst.CSTNode
    texts: list[ErrorText]
    names: set[str]
    flags: set[str]
    given: cst.Call | None = None
    apart: frozenset[cst.CSTNode] = frozenset()
    whole: frozenset[str] = frozenset()

    @property
    def is_nothing(self) -> bool:
        """Whether all of them are empty: they are kept only as they are."""
        return all(text.is_nothing for text in self.texts)

    def is_in(self, anatomy: Anatomy, values: Iterable[cst.BaseExpression]) -> bool:
        """Whether values are made of them."""
        listed = list(values)
        return self.is_read_in(listed) and is_made_of(anatomy, listed, self.node, self.names, bare=self.is_nothing)

    def is_read_in(self, parts: Iterable[cst.CSTNode]) -> bool:
        """Whether more stands in parts of the program than what is read apart."""
        if not self.apart:
            return True
        besides = {inside for each in self.apart for inside in walk(each)}
        inside = (node for part in parts for node in walk(part) if node not in besides)
        return any(node is self.node or is_read(node, self.names) for node in inside)


class ErrorTexts:
    """Finds them, beginning with one file."""

    def __init__(self, anatomy: Anatomy) -> None:
        self._anatomy = anatomy
        self._given: dict[Scope, list[ErrorText]] = {}

    # -- where a text of an error takes the place of an answer -------------------------------------------------

    def sources(self, anatomy: Anatomy, function: Scope, hops: int) -> Iterator[Source]:
        for text in _own(anatomy, function):
            if not text.leaves:
                named = _named if text.is_nothing else names_made_of
                names = named(anatomy, function, text.text)
                yield Source(text.node, [text], names, _flags(anatomy, text))
        for call in anatomy.turns.requests(function):
            given = self._run(anatomy, call, hops)
            texts = [text for text in given if not text.is_nothing]
            if texts:
                yield _taken(anatomy, function, call, texts)
            empty = [text for text in given if text.is_nothing]
            if empty:
                names = _named(anatomy, function, call)
                yield Source(call, empty, names, set(), call, whole=frozenset(names))

    def _run(self, anatomy: Anatomy, call: cst.Call, hops: int) -> list[ErrorText]:
        """What a call gives when the request of the function that it runs fails."""
        found = body(anatomy, call, asking=True)
        if found is None or hops > MOST_HOPS:
            return []
        return self.given(*found, hops + 1)

    def given(self, anatomy: Anatomy, function: Scope, hops: int = 0) -> list[ErrorText]:
        """The texts that a function gives back by the way of the answer, itself or from what it calls."""
        if function not in self._given:
            self._given[function] = []
            own = [text for text in _own(anatomy, function) if text.leaves]
            self._given[function] = [*own, *self._passed_on(anatomy, function, hops)]
        return self._given[function]

    def left(self, function: Scope, request: cst.Call) -> Iterator[ErrorText]:
        """The texts that a function of the file has in place of the answer when a certain request fails."""
        for source in self.sources(self._anatomy, function, 0):
            yield from (text for text in source.texts if request in {text.request, source.given})

    def _passed_on(self, anatomy: Anatomy, function: Scope, hops: int) -> Iterator[ErrorText]:
        for source in self.sources(anatomy, function, hops):
            for leaves in function.nodes_of(*_LEAVING):
                parts = [(key, part) for key, part in _parts(function, leaves) if source.is_in(anatomy, [part])]
                if parts and self.comes_to(anatomy, function, source, leaves):
                    told = next((part for part in parts if part[0] is not None), parts[0])
                    yield from (_given_as(*told, source, text) for text in source.texts)
                    break

    # -- what tells the two apart ------------------------------------------------------------------------------

    def comes_to(self, anatomy: Anatomy, function: Scope, source: Source, goal: cst.CSTNode) -> bool:
        """Whether a text comes to a place without a test that asks what it is."""
        if _is_asked(anatomy, function, source, goal):
            return False
        start, goals = anatomy.points(function, [source.node]), set(anatomy.points(function, [goal]))
        if goal is not source.node and any(point in goals for point in start):
            return True
        asked = [t.request for t in source.texts if not t.leaves and t.function is function]  # gives another answer
        again = anatomy.points(function, asked)

        def says(node: cst.CSTNode) -> bool | None:
            """What a test of the kind of what was given says of a text, or of nothing."""
            return evaluate(node.test, partial(_is_a_text, source)) if isinstance(node, (cst.If, cst.While)) else None

        ways = anatomy.ways(function)
        handed = _handed(anatomy, function, source, goal)
        if handed is None:
            return ways.path(start, goals, again, says=says) is not None
        return any(
            (point in start or ways.path(start, [point], again, says=says) is not None)
            and ways.path([point], goals, again, says=says) is not None
            for point in handed
        )


def _handed(anatomy: Anatomy, function: Scope, source: Source, goal: cst.CSTNode) -> list[Point] | None:
    """Where that is bound which goes into a store as it is, if it may be nothing; None where that is not by a name."""
    named = [node for node in walk(goal) if isinstance(node, cst.Name) and node.value in source.names]
    if not named or not source.is_nothing:
        return None
    start = anatomy.points(function, [source.node])
    bound = [each for name in named for each in anatomy.definitions(name)]
    copied = [each.point for each in bound if isinstance(each.value, cst.Name) and each.value.value in source.names]
    is_direct = any(each.point in start or (each.value is not None and _is_empty(each.value)) for each in bound)
    return [*(start if is_direct else ()), *copied]


def _is_a_text(source: Source, test: cst.BaseExpression) -> bool | None:
    """What `isinstance(given, str)`, or the test of what was given, gives, where the text is all of that."""
    if isinstance(test, cst.Name) and test.value in source.whole and source.is_nothing:
        return False if all(text.part is None for text in source.texts) else None
    asks = isinstance(test, cst.Call) and ex.dotted(test.func) == "isinstance" and len(test.args) == 2
    if not asks or not isinstance(test, cst.Call) or source.is_nothing or any(t.part is not None for t in source.texts):
        return None
    kinds = names_in(test.args[1].value)
    return "str" in kinds if is_read(test.args[0].value, source.names) and kinds <= _BUILT_IN else None


def names_made_of(
    anatomy: Anatomy,
    function: Scope,
    node: cst.CSTNode,
    known: Iterable[str] = (),
    others: Iterable[cst.CSTNode] = (),
) -> set[str]:
    """The names of a function that hold what a node gives, or names do: not what a model makes of it, or `others`."""
    asks = [call for call in anatomy.turns.requests(function) if call is not node]
    return ReplyPlaces(anatomy).derived(function, node, others=[*asks, *others], known=known)


def _named(anatomy: Anatomy, function: Scope, node: cst.CSTNode) -> set[str]:
    """The names that a value is given just as it is."""
    names: set[str] = set()
    for bound in function.nodes_of(cst.Assign, cst.AnnAssign):
        value = bound.value
        while isinstance(value, cst.Await):
            value = value.expression
        if value is node or (isinstance(value, cst.Name) and value.value in names):
            names.update(target.value for target in ex.targets(bound) if isinstance(target, cst.Name))
    return names


def is_made_of(
    anatomy: Anatomy, values: Iterable[cst.BaseExpression], node: cst.CSTNode, names: set[str], *, bare: bool
) -> bool:
    """Whether values are made of a node, or of what names hold; `bare`: as it is, and nothing is put in its place."""
    if not bare:
        return holds(values, node, names)
    parts = (part for value in values for part in walk(value))
    return any(
        (part is node or (isinstance(part, cst.Name) and part.value in names)) and _is_as_it_is(anatomy, part)
        for part in parts
    )


def _is_shown(value: cst.BaseExpression) -> bool:
    """Whether the elements of a list stand in a display: `[{"role": "assistant", "content": answer}]`."""
    return isinstance(ex.inner(value), (cst.List, cst.Tuple))


def _is_as_it_is(anatomy: Anatomy, part: cst.CSTNode) -> bool:
    """Whether a value goes into a message, or is handed on, unchanged."""
    outer = anatomy.module.parent[part]
    while isinstance(outer, (cst.Await, *_CONTAINERS)) or (isinstance(outer, cst.Call) and _is_message(anatomy, outer)):
        outer = anatomy.module.parent[outer]
    if isinstance(outer, cst.Call) and part is not outer.func:
        return anatomy.module.is_statement(outer)
    return isinstance(outer, (cst.Return, cst.Assign, cst.AnnAssign, cst.AugAssign))


def _is_message(anatomy: Anatomy, call: cst.Call) -> bool:
    return bool(anatomy.transcript.messages.of(call))


def _given_as(part: Place, value: cst.BaseExpression, source: Source, text: ErrorText) -> ErrorText:
    """A text that is given on: as it was given, by itself, or as a part of something else."""
    value = ex.inner(value)
    as_given = part is None and (value is source.node or (isinstance(value, cst.Name) and value.value in source.whole))
    return text if as_given else replace(text, part=part, beside=frozenset())


def _own(anatomy: Anatomy, function: Scope) -> list[ErrorText]:
    """The texts that a function leaves with where its request has failed, or puts where the answer is otherwise."""
    blocks = list(handled(anatomy, function))
    found = [
        text
        for block, request, error in (*blocks, *refused(anatomy, function))
        for text in _in_block(anatomy, function, block, request, error)
    ]
    for block, request, _ in blocks:
        found.extend(_behind(anatomy, function, block, request))
    return found


def _behind(anatomy: Anatomy, function: Scope, block: cst.CSTNode, request: cst.Call) -> Iterator[ErrorText]:
    """What is there of the answer when a handler is over: nothing, by the end of the function or an earlier default."""
    handler, flow = anatomy.module.parent[block], anatomy.flow(function)
    here, names = anatomy.points(function, [handler]), names_made_of(anatomy, function, request)
    leaving = function.nodes_of(cst.Return, cst.Raise)
    barred = {*anatomy.points(function, [*leaving, request])}
    if any(isinstance(node, cst.Return) and _gives(function, node, None, request, names) for node in leaving):
        if flow.reaches(here, [flow.exit], barred, exceptions=False) and not function.nodes_of(cst.Yield):
            yield ErrorText(anatomy, function, handler, _NOTHING, request)
        for last in leaving:
            if (
                isinstance(last, cst.Return)
                and _is_empty(last.value or _NOTHING)
                and not anatomy.module.in_handler(last)
            ):
                if flow.reaches(here, at := anatomy.points(function, [last]), barred - {*at}, exceptions=False):
                    yield ErrorText(anatomy, function, last, last.value or _NOTHING, request)
    bound = [node for node in function.nodes_of(cst.Assign) if anatomy.module.in_handler(node)]
    rebound = {name for node in bound for target in node.targets for name in ex.target_names(target.target)}
    for name in sorted(names - rebound):
        before = [d for point in here for d in anatomy.reaching(function).at(point, name) if d.kind == "assign"]
        for value in (d.value for d in before[:1] if all(d.value is not None and _is_empty(d.value) for d in before)):
            yield ErrorText(anatomy, function, handler, value, request)  # type: ignore[arg-type]


def _is_empty(value: cst.BaseExpression) -> bool:
    """`""` and None."""
    return is_neutral(value) and isinstance(ex.inner(value), (cst.SimpleString, cst.Name))


def handled(anatomy: Anatomy, function: Scope) -> Iterator[tuple[cst.CSTNode, cst.Call, str | None]]:
    """The blocks that handle an error of a request, and the name of the error there."""
    takes = partial(takes_failures, anatomy)
    taking = {guard: [*filter(takes, guard.handlers)] for guard in function.nodes_of(cst.Try)}
    requests = [*filter(anatomy.turns.may_fail, anatomy.turns.requests(function))] if any(taking.values()) else []
    for guard, handlers in taking.items():
        request = guarded_request(anatomy, guard, requests.__contains__) if handlers and requests else None
        if request is not None:
            yield from ((handler.body, request, exceptions.bound_name(handler)) for handler in handlers)


def refused(anatomy: Anatomy, function: Scope) -> Iterator[tuple[cst.CSTNode, cst.Call, None]]:
    """The statements that a request comes to only if it was answered, and refused."""
    statements = function.nodes_of(*_BINDING, cst.Return, cst.Expr) if function.nodes_of(cst.If) else ()
    for request in anatomy.turns.requests(function) if statements else ():
        names = names_made_of(anatomy, function, request)
        refused = Refusals(anatomy.module, partial(_holds, request, names))
        yield from ((node, request, None) for node in statements if node in refused)


def _holds(request: cst.Call, names: set[str], response: cst.BaseExpression) -> bool:
    return holds([response], request, names)


def _in_block(
    anatomy: Anatomy, function: Scope, block: cst.CSTNode, request: cst.Call, error: str | None
) -> Iterator[ErrorText]:
    names = names_made_of(anatomy, function, request)
    for node in walk_scope(block):
        if isinstance(node, _BINDING) and node.value is not None:
            if any(name in names for target in ex.targets(node) for name in ex.target_names(target)):
                if is_text(anatomy, node.value, error) or _is_empty(node.value):
                    yield ErrorText(anatomy, function, node, node.value, request)
        elif isinstance(node, _LEAVING):
            others = [leaves for leaves in function.nodes_of(type(node)) if leaves is not node]
            for key, part in _parts(function, node):
                answers = [leaves for leaves in others if _gives(function, leaves, key, request, names)]
                if answers and (is_text(anatomy, part, error) or (key is None and _is_empty(part))):
                    yield ErrorText(anatomy, function, node, part, request, key, _apart(function, node, answers))
                    break


def _gives(function: Scope, leaves: cst.Return | cst.Yield, key: Place, request: cst.Call, names: set[str]) -> bool:
    """Whether a part of what leaves here is the answer, or made of it."""
    return any(here == key and holds([part], request, names) for here, part in _parts(function, leaves))


def _apart(function: Scope, error: cst.Return | cst.Yield, answers: list[cst.Return | cst.Yield]) -> frozenset[Place]:
    """The parts that are never with an answer what they are with an error: no empty part of a dict, as others have."""
    given = [{key: ex.source(part) for key, part in _parts(function, leaves)} for leaves in answers]
    return frozenset(
        key
        for key, part in _parts(function, error)
        if all(each.get(key) != ex.source(part) for each in given) and not (isinstance(key, str) and is_neutral(part))
    )


def _left(leaves: cst.Return | cst.Yield) -> cst.BaseExpression | None:
    value = leaves.value
    return value.item if isinstance(value, cst.From) else value


def _parts(function: Scope, leaves: cst.Return | cst.Yield) -> Iterator[tuple[Place, cst.BaseExpression]]:
    """What is given back, and what it is put together of, each with the place that it has there.

    Also by a name, of which a function sets the parts: `answer["text"] = said`.
    """
    value = _left(leaves) or (_NOTHING if isinstance(leaves, cst.Return) else None)
    yield from _put_together(value)
    name = value.value if isinstance(value, cst.Name) else None
    for node in function.nodes_of(cst.Assign) if name is not None else ():
        for target in ex.targets(node):
            pair = ex.member(target)
            if pair is not None and ex.dotted(pair[0]) == name:
                yield pair[1], node.value
            elif ex.dotted(target) == name:
                yield from ex.dict_items(node.value).items()


def _put_together(value: cst.BaseExpression | None) -> Iterator[tuple[Place, cst.BaseExpression]]:
    if isinstance(value, cst.Tuple):
        yield from enumerate(element.value for element in value.elements)
    elif isinstance(value, cst.Dict):
        yield from ex.dict_items(value).items()
    elif isinstance(value, cst.Call) and (given := ex.keywords(value)):
        yield from given.items()
    elif value is not None:
        yield None, value


def is_text(anatomy: Anatomy, value: cst.BaseExpression, error: str | None, depth: int = 0) -> bool:
    """Whether a value is a text that somebody has written, or that of an error: not what another model has said."""
    value = ex.inner(value)
    if isinstance(value, (*_WORDED, cst.BinaryOperation)) and _is_said_instead(anatomy, value):
        return False
    if isinstance(value, _WORDED) or (isinstance(value, cst.SimpleString) and not is_neutral(value)):
        return len((ex.text(value) or "a text").split()) > 1 or isinstance(value, _WORDED)
    if isinstance(value, cst.BinaryOperation):
        return any(is_text(anatomy, side, error, depth) for side in (value.left, value.right))
    if isinstance(value, cst.Call):
        if ex.called_name(value) == "format" and (base := ex.receiver(value)) is not None:
            return is_text(anatomy, base, error, depth)
        return ex.dotted(value.func) in {"str", "repr"} and any(ex.dotted(a.value) == error for a in value.args)
    slot = anatomy.facts.slots.of(value) if isinstance(value, (cst.Name, cst.Attribute)) and depth < 2 else None
    made = anatomy.facts.assigned(slot)
    return bool(made) and all(is_text(anatomy, each, error, depth + 1) for each in made)


def _is_said_instead(anatomy: Anatomy, value: cst.BaseExpression) -> bool:
    """Whether a text has the answer to a request that is made where the first one has failed."""
    module, function = anatomy.module, anatomy.module.scope_of[value].function
    handler = next((outer for outer in module.ancestors(value) if isinstance(outer, cst.ExceptHandler)), None)
    requests = anatomy.turns.requests(function) if handler is not None else []
    return any(
        module.inside(ask, handler.body) and holds([value], ask, names_made_of(anatomy, function, ask))
        for ask in requests
        if handler is not None
    )


def _flags(anatomy: Anatomy, text: ErrorText) -> set[str]:
    """The other names that are bound where an error is handled, or where its request is made, and tell of it."""
    around = (outer for outer in anatomy.module.ancestors(text.node) if isinstance(outer, (cst.Try, cst.If)))
    guard = next(around, None)  # none where all the rest of a function is behind `if response.ok: return ...`
    nodes = walk_scope(guard) if guard is not None else ()
    bound = {name for node in nodes if isinstance(node, _BINDING) for t in ex.targets(node)
             for name in ex.target_names(t) if _is_constant(node.value) or anatomy.module.in_handler(node)}  # fmt: skip
    targets = ex.targets(text.node) if isinstance(text.node, _BINDING) else []
    return bound - {name for target in targets for name in ex.target_names(target)}


def _is_constant(value: cst.BaseExpression | None) -> bool:
    is_word = isinstance(value, cst.SimpleString) and not is_neutral(value)
    return value is not None and (is_word or ex.dotted(value) in ex.CONSTANTS)


def _taken(anatomy: Anatomy, function: Scope, call: cst.Call, texts: list[ErrorText]) -> Source:
    """What a call gives that may be a text of an error: in which names, and what it gives beside."""
    holder, text = anatomy.module.parent[call], texts[0]
    while isinstance(holder, (cst.Await, cst.From)):
        holder = anatomy.module.parent[holder]
    targets = ex.targets(holder) if isinstance(holder, (cst.Assign, cst.AnnAssign, cst.For)) else []
    whole = {target.value for target in targets if isinstance(target, cst.Name)}
    keys = {each.part for each in texts}
    read = _read_apart(function, whole, keys) if whole and all(isinstance(key, str) for key in keys) else frozenset()
    names = names_made_of(
        anatomy, function, call, others=[node for node in read if _is_alone(anatomy, node, whole, read)]
    )
    unpacked = [target.elements for target in targets if isinstance(target, cst.Tuple) and isinstance(text.part, int)]
    beside = {at: ex.target_names(e.value) for elements in unpacked for at, e in enumerate(elements) if at != text.part}
    flags = {name for at, bound in beside.items() if at in text.beside for name in bound}
    names -= {name for bound in beside.values() for name in bound}
    if unpacked:
        texts = [replace(each, part=None, beside=frozenset()) for each in texts]
    return Source(call, texts, names, flags, call, read, frozenset(whole))


def _read_apart(function: Scope, whole: set[str], keys: set[Place]) -> frozenset[cst.CSTNode]:
    """What is read of some names by a key or an attribute that is none of `keys`: `reply.get("calls")`."""
    nodes = function.nodes_of(cst.Attribute, cst.Subscript, cst.Call)
    pairs = ((node, ex.member(node)) for node in nodes)
    read = ((node, ex.dotted(pair[0]), pair[1]) for node, pair in pairs if pair is not None)
    return frozenset(node for node, name, key in read if name in whole and key not in {*keys, "get"})


def _is_alone(anatomy: Anatomy, node: cst.CSTNode, whole: set[str], read: frozenset[cst.CSTNode]) -> bool:
    """Whether the statement that reads something apart reads nothing else of the same object."""
    besides = {inside for each in read for inside in walk(each)}
    return not any(
        isinstance(each, cst.Name) and each.value in whole and each not in besides
        for each in walk(anatomy.module.statement(node))
    )


def made_with(anatomy: Anatomy, function: Scope, ask: cst.Call) -> Iterator[cst.BaseExpression]:
    """What a request is made with, and all that this is made of in its function."""
    queue: list[cst.CSTNode] = [*ex.handed(ask)]
    seen = {*anatomy.module.imports.full}  # what is put into a module is not what another part of it is made of
    while queue:
        for node in walk(queue.pop()):
            if isinstance(node, (cst.Name, cst.Attribute, cst.Subscript, cst.Call)):
                yield node
            if isinstance(node, cst.Name) and node.value not in seen:
                seen.add(node.value)
                bound = bound_values(anatomy, function, node.value)
                queue += [value for value in bound if not anatomy.module.inside(ask, value)]


def _is_asked(anatomy: Anatomy, function: Scope, source: Source, goal: cst.CSTNode) -> bool:
    """Whether a test between the text and the goal asks whether it is one."""
    order, module = anatomy.module.order, anatomy.module
    first = order[module.statement(source.node)]
    words = [text for each in source.texts for text in _literals(each.text)]
    tests = [node.test for node in (*function.nodes_of(cst.If, cst.IfExp), *function.nodes_of(cst.While, cst.Assert))]
    tests += [node.subject for node in function.nodes_of(cst.Match)]
    if source.is_nothing and all(ex.dotted(text.text) == "None" for text in source.texts):
        tests += _not_for_none(function, source.names)
    between = [test for test in tests if order[goal] > order[test] >= first]
    return any(
        _tells(part, source, words) and anatomy.leads(function, [source.node], [test])
        for test in between
        for part in _asking(test)
    )


def _not_for_none(function: Scope, names: set[str]) -> Iterator[cst.BaseExpression]:
    """What a function does with names that cannot be done with None: it raises there."""
    for node in function.nodes_of(cst.Attribute, cst.Subscript):
        if isinstance(node.value, cst.Name) and node.value.value in names:
            yield node
    for call in function.nodes_of(cst.Call):
        given = call.args[0].value if ex.dotted(call.func) == "len" and call.args else None
        if isinstance(given, cst.Name) and given.value in names:
            yield given
    for loop in function.nodes_of(cst.For):
        if isinstance(loop.iter, cst.Name) and loop.iter.value in names:
            yield loop.iter


def _asking(test: cst.BaseExpression) -> Iterator[cst.BaseExpression]:
    if isinstance(test, cst.BooleanOperation):
        yield from _asking(test.left)
        yield from _asking(test.right)
    else:
        yield test


def _tells(part: cst.BaseExpression, source: Source, words: list[str]) -> bool:
    """Whether a test tells an error's text from an answer: not that there is one, nor what stands in it otherwise."""
    nodes = list(walk(part))
    if any(isinstance(node, cst.Name) and node.value in source.flags for node in nodes):
        return True
    read = [pair for node in nodes if (pair := ex.member(node)) is not None and ex.dotted(pair[0]) in source.whole]
    if any(all(key in text.beside - {text.part} for text in source.texts) for _, key in read):
        return True
    if not holds([part], source.node, source.names):
        return False
    if source.is_nothing:
        return True
    if isinstance(part, cst.UnaryOperation):
        return _tells(part.expression, source, words)
    asked = [node for node in nodes if isinstance(node, (cst.Comparison, cst.Call, cst.Attribute, cst.Subscript))]
    if not asked or _asks_for_none(part):
        return False
    texts = [text for node in nodes if isinstance(node, cst.SimpleString) and (text := ex.text(node))]
    return not texts or any(text.lower() in word.lower() for text in texts for word in words)


def _asks_for_none(part: cst.BaseExpression) -> bool:
    """`answer is None`, `answer == ""`, `len(answer) > 4000`, `answer.strip()`, `isinstance(answer, str)`."""
    if isinstance(part, cst.Comparison):
        left, _, right = ex.compared(part)
        return is_neutral(right) or (isinstance(left, cst.Call) and ex.dotted(left.func) == "len")
    return isinstance(part, cst.Call) and ex.called_name(part) in {"strip", "isinstance", "len"}


def _literals(value: cst.BaseExpression) -> Iterable[str]:
    for node in walk(value):
        if isinstance(node, cst.SimpleString):
            yield ex.text(node) or ""
        elif isinstance(node, cst.FormattedStringText):
            yield node.value
