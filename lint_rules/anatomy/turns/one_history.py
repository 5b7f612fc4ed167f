"""Where a talk lasts: whether what loads it and what stores messages mean one place, and which places get longer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.calls.told import GROWERS
from lint_rules.anatomy.messages.classes import body
from lint_rules.anatomy.turns.asked import AskedWith, path_of, paths, values_given
from lint_rules.anatomy.turns.reply_places import holds
from lint_rules.anatomy.turns.resources import Touched
from lint_rules.anatomy.turns.storage import parts_of
from lint_rules.anatomy.values.kinds import Kind
from lint_rules.anatomy.values.slots import Slot, moved, root_object
from lint_rules.anatomy.vocabulary import MESSAGE_PARTS, TELLING_ROLES
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.elements import names_of_elements
from lint_rules.syntax.memo import DEEPEST, kept
from lint_rules.syntax.mentions import names_in
from lint_rules.syntax.module import Scope, SourceModule, parameter_names
from lint_rules.syntax.record import record
from lint_rules.syntax.walk import walk

_NEWEST = 8
"""So many reads of a place before a request are followed: those nearest to it."""


@record
class Kept:
    """`ask` is sent what a store has, and `saves` hand it what the model said; the store lives in `slot`.

    `load` gave what is sent; None where the provider keeps it, or its library. `whole`: all that was loaded goes with
    it, and takes the place of what is there by then. `outside`: it lies outside of the program, or with the provider.
    `question`: what was asked is stored before.
    """

    slot: Slot
    ask: cst.Call
    saves: list[cst.CSTNode]
    load: cst.BaseExpression | None = None
    whole: cst.Name | None = None
    outside: bool = True
    question: bool = False


class LastingPlaces:
    """Finds them in one file, and the turns that are put there."""

    def __init__(self, anatomy: Anatomy, asked: AskedWith) -> None:
        self._anatomy = anatomy
        self._facts = anatomy.facts
        self._module = anatomy.module
        self._asked = asked

    def put_back(self, ask: cst.Call, function: Scope) -> Iterator[Kept]:
        """`talk.append((text, ask(talk)))`: a place that lasts, by its use alone, whatever its elements are.

        What is asked must be put there, too, before or beside the answer: else it is no conversation.
        """
        for place, grown in self.grown(function).items():
            reads = [node for node in self.reads(function, place) if self._module.before(node, ask)][-_NEWEST:]
            past = {n for r in reads for n in self._asked.places.derived(function, r, grown=True, until=ask)}
            load = next((read for read in reads if self._asked.is_sent(read, ask, past)), None)
            names = self._asked.places.derived(function, ask, grown=True) - past
            after = {node: value for node, value in grown.items() if self._follows(node, ask, function)}
            saves = [node for node, value in after.items() if holds([value], ask, names)]
            before = [
                node for node in grown if node not in after and self._asked.is_at(node, ask, function, before=True)
            ]
            old = names | past | {path_of(node) for node in self.reads(function, place)}
            beside = any(self._is_beside(ask, function, after[node], old) for node in saves)
            if load is not None and saves and (before or beside) and self._anatomy.races.is_shared(place, {function}):
                copy = next(filter(None, (self._copy(node, place, function) for node in saves)), None)
                yield Kept(place, ask, saves, load, copy, outside=False, question=bool(before))
                return

    def _copy(self, node: cst.CSTNode, place: Slot, function: Scope) -> cst.Name | None:
        """The name of what takes the place of all that is there by then: a copy of what was read before."""
        if not isinstance(node, cst.Assign):
            return None
        inside = any(self._module.inside(read, node.value) for read in self.reads(function, place))
        return None if inside else next((part for part in walk(node.value) if isinstance(part, cst.Name)), None)

    def _follows(self, node: cst.CSTNode, ask: cst.Call, function: Scope) -> bool:
        return self._module.inside(ask, node) or self._asked.is_at(node, ask, function)

    def grown(self, function: Scope) -> dict[Slot, dict[cst.CSTNode, cst.BaseExpression]]:
        """What gets longer in a function that is there before and after it: where, and by what."""
        found: dict[Slot, dict[cst.CSTNode, cst.BaseExpression]] = {}
        for node in function.nodes_of(cst.Call, cst.AugAssign, cst.Assign):
            if isinstance(node, cst.Call):
                target = ex.receiver(node) if ex.called_name(node) in GROWERS and node.args else None
                value: cst.BaseExpression = node.args[-1].value if node.args else node
            elif isinstance(node, (cst.AugAssign, cst.Assign)):
                target, value = ex.targets(node)[0], node.value
            else:
                continue
            place = self._anatomy.aliases.lasting_at(target, function) if target is not None else None
            if place is not None and (not isinstance(node, cst.Assign) or self._is_longer(place, node, function)):
                found.setdefault(place, {})[node] = value
            for there in self._grown_there(node) if isinstance(node, cst.Call) and node.args else ():
                found.setdefault(there, {})[node] = value
        return found

    def _grown_there(self, call: cst.Call) -> Iterator[Slot]:
        """The globals of another file, as this one has them, that a function there makes longer: `note(key, line)`."""
        found = self._anatomy.imported_function(ex.dotted(call.func) or "") if self._imported else None
        for place in found[0].stored_turns.lasting.grown(found[1]) if found is not None else ():
            own = self._imported.get((found[0], root_object(place))) if found is not None else None
            if own is not None:
                yield moved(place, root_object(place), own)

    @cached_property
    def _imported(self) -> dict[tuple[Anatomy, Slot], Slot]:
        """The globals of other files of which this one reads a part, each as it has it."""
        used = {ex.dotted(node.value) for node in self._module.nodes_of(cst.Subscript)} & {*self._module.imports.full}
        found = ((self._anatomy.imported_value(name), name) for name in used if name is not None)
        return {value: ("var", self._module.top, name) for value, name in found if value is not None}

    def _is_longer(self, place: Slot, node: cst.Assign, function: Scope) -> bool:
        """`self.said = self.said + [text]`: something is added to what was there, or to a copy, and takes its place."""
        read = [*self.reads(function, place)]
        before = [part for part in read if self._module.before(part, node)][-_NEWEST:]
        names = {name for part in before for name in self._asked.places.derived(function, part, until=node)}
        again = any(self._module.inside(part, node.value) for part in read) or holds([node.value], node, names)
        local = self._facts.slots.of(ex.targets(node)[0])
        return again and not (local is not None and local[:2] == ("var", function) and local != place)

    def reads(self, function: Scope, place: Slot) -> Iterator[cst.BaseExpression]:
        for node in function.nodes_of(cst.Name, cst.Attribute, cst.Subscript, cst.Call):
            if isinstance(node, cst.BaseExpression) and self._anatomy.aliases.lasting_at(node, function) == place:
                yield node

    def _is_beside(self, ask: cst.Call, function: Scope, value: cst.BaseExpression, names: set[str]) -> bool:
        """Whether something that the model was sent is put somewhere together with its answer, and is not old.

        `names` hold the answer, and what was there before, or are paths of that.
        """
        sent, made = self._asked.made_of(ex.handed(ask), ask, function), self._asked.made_of([value], ask, function)
        return any(path in sent and not names & {path, root} for path, root in made.items())

    def read_and_grown(self, load: cst.Call, save: cst.Call) -> Slot | None:
        """The list or text that what a call runs makes longer, and another one reads, in one file."""
        (there, reader), (other, grower) = (body(self._anatomy, call) or (None, None) for call in (load, save))
        if there is None or there is not other or reader is None or grower is None:
            return None
        lasting = there.stored_turns.lasting
        return next((place for place in lasting.grown(grower) if any(lasting.reads(reader, place))), None)


_OF_ONE = frozenset(
    {"first", "afirst", "last", "alast", "latest", "one", "one_or_none", "scalar", "scalar_one", "scalar_one_or_none",
     "fetchone", "fetchrow", "fetchval"}
)  # fmt: skip
"""What ends a query with one row. Source: SQLAlchemy, Django, DB-API, asyncpg."""
_FETCHES = frozenset({"fetchone", "fetchall", "fetchmany", "fetchrow", "fetchval", "fetch"})


class OneHistory:
    """Tells it of the calls of one file."""

    def __init__(self, anatomy: Anatomy, asked: AskedWith, lasting: LastingPlaces) -> None:
        self._anatomy = anatomy
        self._facts = anatomy.facts
        self._module = anatomy.module
        self._asked = asked
        self._lasting = lasting
        self._resources = anatomy.resources

    def is_one(
        self,
        load: cst.Call,
        save: cst.Call,
        ask: cst.Call,
        function: Scope,
        where: Scope,
        whole: cst.Name | None,
    ) -> bool:
        """Whether a call in `function` stores messages where another one loaded them, in the function `where`.

        `whole` is what it stores, if that is all that was loaded.
        """
        one, other = self._resources.of(load), self._resources.of(save)
        loads, saves = self._resources.runs(load), self._resources.runs(save)
        known = loads is not None and saves is not None
        place, same = self.receiver(load, where), self.receiver(save, function)
        if not known:
            is_same = place is not None and place == same
            handed = load.args and not self._handles(load, where).isdisjoint(self._handles(save, function))
            if (is_same or handed) and self.is_history(load, ask, where):
                return True
        if (
            self._is_another_row(load, save)
            or (known and loads is saves)
            or not (one.is_read_again_after(other) or (whole is not None and one.is_put_back_by(other)))
            or not self.outlives(one, other, place)
        ):
            return False
        if self.is_history(load, ask, where) or self.says_role(save):
            return True
        if where is not function:
            return False
        if one.read & other.made:
            return self._tells_both(load, save, ask, function)
        return self._lasting.read_and_grown(load, save) is not None and self._is_told_before(save, load, function)

    def _is_another_row(self, load: cst.Call, save: cst.Call) -> bool:
        """Whether a run makes a new row of a table of which it has loaded one: what came of an earlier run, no talk."""
        new = {ex.called_name(part) for part in walk(save) if isinstance(part, cst.Call)}  # `db.add(Report(text=said))`
        new |= (saved := self._resources.of(save)).added - saved.over
        found, rows = body(self._anatomy, load), self._resources.of(load).read & new
        there = found[0] if found is not None else self._anatomy
        inner = there.calls.may_run(found[1]) if found is not None else ()
        calls = [call for here in inner for call in here.nodes_of(cst.Call)] if found is not None else [load]
        reads = [call for call in calls if not rows.isdisjoint(there.resources.handed(call).read)]
        return bool(rows and reads) and all(_gives_one(there.module, call) for call in reads)

    def grown_place(self, load: cst.Call, save: cst.Call) -> Slot | None:
        """Where the lines of a talk lie that two functions of this file keep: one reads what the other adds."""
        function, runs = self._module.scope_of[save].function, self._facts.slots.callee(save)
        is_told = runs is not None and self._is_told_before(save, load, function)
        return self._lasting.read_and_grown(load, save) if is_told else None

    def _is_told_before(self, save: cst.Call, load: cst.Call, function: Scope) -> bool:
        """Whether what stores the answer has stored something, too, before it is loaded: the question."""
        runs = self._resources.runs(save)
        same = (call for call in function.nodes_of(cst.Call) if call is not save and self._resources.runs(call) is runs)
        return any(self._asked.is_at(call, load, function, before=True) for call in same)

    def outlives(self, one: Touched, other: Touched, place: Slot | None) -> bool:
        """Whether the resource is there for other runs: outside, a global, or of an object that they have, too."""
        return (one.lies_outside and bool(other.lies_outside or other.over)) or place is not None

    def _handles(self, call: cst.Call, function: Scope) -> set[str]:
        """The objects of which methods are called, also in a function of this file, that `function` was given.

        As it writes them: `dao.talks`.
        """
        callee, given = self._facts.slots.callee(call), parameter_names(function)
        bound = self._facts.slots.bindings(call, callee) if callee is not None else ()
        named = {slot[2]: ex.dotted(value) for slot, value in bound if slot[0] == "var"}
        found = set()
        for each in callee.nodes_of(cst.Call) if callee is not None else [call]:
            base = ex.receiver(each)
            root, dot, rest = ((ex.dotted(base) or "") if base is not None else "").partition(".")
            name = named.get(root) if callee is not None else root
            if each.args and name is not None and name.partition(".")[0] in given:
                found.add(f"{name}{dot}{rest}")
        return found

    def receiver(self, call: cst.Call, function: Scope) -> Slot | None:
        """The lasting place of the object of which a method is called; of a function its file."""
        base = ex.receiver(call)
        if base is None:
            return ("var", self._module.top, ex.called_name(call)) if self._resources.runs(call) is not None else None
        is_library = isinstance(base, cst.Name) and self._is_library(base.value)
        return self._anatomy.aliases.lasting_at(base, function) if not is_library else None

    def store(self, load: cst.Call, function: Scope) -> Slot | None:
        """What the store is called: where the object lives, or as its rows are."""
        touched = self._resources.of(load)
        tables = [name for name in touched.got if " " not in name]
        named = min([*touched.read, *touched.outside, *tables, *([] if tables else [ex.called_name(load)])])
        return self.receiver(load, function) or ("var", self._module.top, named)

    def _is_library(self, name: str) -> bool:
        """`json` of `json.loads(text)`: a module that is not of the project."""
        if name not in self._module.imports.full or self._anatomy.imports_module(name):
            return False
        return all(self._anatomy.defined_elsewhere(name, keyword) is None for keyword in ("", "class"))

    def is_history(self, load: cst.Call, ask: cst.Call, function: Scope) -> bool:
        """Whether what a call gives is known to be a history: what holds it is one, or is sent as one."""
        names = self._listed(load, function)
        request = self._facts.calls.get(ask)
        sent = [request.history] if request is not None and request.history is not None else []
        for there, callee in filter(None, (body(self._anatomy, ask),)):
            bound = there.facts.slots.bindings(ask, callee)
            sent += [value for slot, value in bound if Kind.HISTORY in there.facts.of(slot)]
        if any(_is_listed(value, load, names) for value in sent) or self._gives_history(load):
            return True
        known = [load, *(name for name in function.nodes_of(cst.Name) if name.value in names)]
        grown = any(self._asked.put_into(ask, names))
        return grown or any(Kind.HISTORY in self._facts.kinds(node) for node in known)

    def _gives_history(self, load: cst.Call) -> bool:
        """Whether the function of a call gives back a history, or makes messages of what it has read."""
        found = body(self._anatomy, load)
        there, nodes = (found[0], found[1].nodes) if found is not None else (self._anatomy, [])
        return any(
            (isinstance(node, cst.Return) and node.value is not None and Kind.HISTORY in there.facts.kinds(node.value))
            or (
                isinstance(node, cst.Dict)
                and "role" in (keys := ex.dict_items(node))
                and not MESSAGE_PARTS.isdisjoint(keys)
            )
            for node in nodes
        )

    def _listed(self, load: cst.Call, function: Scope) -> set[str]:
        """The names that hold what a call gives, or lists with its elements; not what is made of their texts."""
        names = self._asked.holders(load)
        for _ in range(DEEPEST):
            for value, targets in self._bound(function):
                if _is_listed(value, load, names):
                    names.update(target.value for target in targets if isinstance(target, cst.Name))
        return names

    @kept
    def _bound(self, function: Scope) -> list[tuple[cst.BaseExpression, Sequence[cst.BaseExpression]]]:
        """What a function binds, and to what; also `messages.extend(store.history(key))`, and that one by one."""
        nodes = function.nodes_of(cst.Assign, cst.AnnAssign)
        found: list[tuple[cst.BaseExpression, Sequence[cst.BaseExpression]]] = [
            (node.value, ex.targets(node)) for node in nodes if node.value is not None
        ]
        for call in function.nodes_of(cst.Call):
            base = ex.receiver(call) if ex.called_name(call) in {"extend", "append"} and call.args else None
            if base is not None and ex.called_name(call) == "extend":
                found.append((call.args[0].value, [base]))
            elif base is not None and (loop := self._gone_through(call)) is not None:
                found.append((loop.iter, [base]))
        return found

    def _gone_through(self, call: cst.Call) -> cst.For | None:
        """The loop of which a call is handed each element, or what is made of that."""
        loops = (outer for outer in self._module.ancestors(call) if isinstance(outer, cst.For))
        names = names_in(*call.args)
        return next((loop for loop in loops if names & names_of_elements(loop)), None)

    def says_role(self, call: cst.Call) -> bool:
        """`store.note(key, "assistant", reply)`, also in what a function of this file does."""
        callee = self._facts.slots.callee(call)
        inner = [c for f in self._anatomy.calls.reachable(callee) for c in f.nodes_of(cst.Call)] if callee else []
        parts = (part for each in (call, *inner) for value in values_given(each) for part in walk(value))
        return any(
            ex.text(part) in TELLING_ROLES or Kind.MESSAGE in self._facts.kinds(part)
            for part in parts
            if isinstance(part, (cst.SimpleString, cst.Dict, cst.Call, cst.Name))
        )

    def _tells_both(self, load: cst.Call, save: cst.Call, ask: cst.Call, function: Scope) -> bool:
        """Whether what was asked is stored, too, in one call with the answer or in another one.

        That is neither a key nor what was loaded: marks for rows that wait for them are no conversation.
        """
        past = self._asked.places.derived(function, load, grown=True, until=ask)
        names = self._asked.places.derived(function, ask, grown=True) | past
        keys = {p for arg in load.args for p in paths(arg.value)}
        sent, read = self._asked.made_of(ex.handed(ask), ask, function).keys() - keys, self._resources.of(load).read
        others = (call for call in function.nodes_of(cst.Call) if self._asked.is_done(call) and call not in {load, ask})
        made = (call for call in others if call is save or not read.isdisjoint(self._resources.of(call).made))
        stored = (item for call in made for arg in call.args for item in paths(arg.value).items())
        return any(path in sent and root not in names for path, root in stored)


def _gives_one(module: SourceModule, call: cst.CSTNode) -> bool:
    """Whether a query is put, by the chain of calls that it is a step of, for one row; or all that its cursor gives."""
    cursor = ex.receiver(call)
    while not (isinstance(call, cst.Call) and ex.called_name(call) in _OF_ONE):
        outer = module.parent[call]
        if not isinstance(outer, (cst.Attribute, cst.Await, cst.Call, cst.Arg)):
            return _gives_one_by(module, cursor if isinstance(outer, cst.Expr) else _bound_to(outer))
        call = outer
    return True


def _bound_to(node: cst.CSTNode) -> cst.BaseExpression | None:
    """The first name that a statement, or an item of a `with`, binds to something."""
    if isinstance(node, cst.WithItem):
        return node.asname.name if node.asname is not None else None
    return next(iter(ex.assigned(node)), None)


def _gives_one_by(module: SourceModule, cursor: cst.BaseExpression | None) -> bool:
    """Whether a cursor gives one row of what it is asked for: only `cursor.fetchone()`, and nobody goes through it."""
    name = ex.dotted(cursor) if cursor is not None else None
    function = module.scope_of[cursor].function if cursor is not None and name is not None else module.top
    uses = [node for node in function.nodes_of(cst.Name, cst.Attribute) if name is not None and ex.dotted(node) == name]
    outers = [module.parent[use] for use in uses]
    read = {outer.attr.value for outer in outers if isinstance(outer, cst.Attribute)} & _FETCHES
    whole = any(isinstance(outer, (cst.Arg, cst.For, cst.CompFor, cst.Return)) for outer in outers)
    return bool(read) and read <= _OF_ONE and not whole


def _is_listed(value: cst.BaseExpression, load: cst.Call, names: set[str]) -> bool:
    """Whether a value is what a call gave, a part of it, or a list with its elements."""
    queue = [ex.inner(value)]
    for here in queue:
        if here is load or (isinstance(here, cst.Name) and here.value in names):
            return True
        queue += map(ex.inner, parts_of(here))
    return False
