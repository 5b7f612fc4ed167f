"""What functions load from, and save to, places outside the program: a file, a key, a row, as far as they show it.

A place is a resource and its key: `open(path)`, `redis.get(key)`, `SELECT ... FROM table` with its arguments, an
attribute of a row. What a function loads and saves is told in terms of its parameters, and each caller puts its own
arguments there: `self._save(sid, history)` saves what `_save` writes, and where.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.messages.classes import classes_of
from lint_rules.anatomy.turns.locations import Form, Place
from lint_rules.anatomy.turns.statements import Statement
from lint_rules.anatomy.values.facts import Facts
from lint_rules.anatomy.values.kinds import Kind
from lint_rules.anatomy.values.slots import Slot, is_method, is_parameter
from lint_rules.anatomy.vocabulary import DECODERS, ENCODERS
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.memo import DEEPEST, once
from lint_rules.syntax.mentions import names_in
from lint_rules.syntax.module import Scope, SourceModule, parameters, says_only
from lint_rules.syntax.reaching import Definition
from lint_rules.syntax.record import record
from lint_rules.syntax.walk import children, walk

_MOST = 60
_LOADS = re.compile(r"^_?(load|get|hget|read|fetch|find_one|restore|aget|retrieve)(_|$|[A-Z])")
_SAVES = re.compile(r"^_?(save|set|setex|psetex|hset|put|store|write|persist|replace|upsert|update|aset)(_|$|[A-Z])")
_NO_REWRITE = re.compile(r"append|add_|push|insert|extend")
_FETCHES = ("fetchone", "fetchall", "first", "one", "scalar", "mappings")
_READS = frozenset({"load", "safe_load", "read", "readlines"})
_DUMPS = frozenset({"json.dump", "pickle.dump", "yaml.dump", "yaml.safe_dump"})
_PATHS = frozenset({"Path", "PurePath", "str", "fspath"})
_UNNAMED = frozenset({"mkstemp", "NamedTemporaryFile"})
_OPENS = frozenset({"open", "fdopen", "NamedTemporaryFile"})
_RENAMES = frozenset({"replace", "rename", "renames", "move"})
_FINDS = frozenset({"find_one", "lrange"})
_MAKES = frozenset({"create", "acreate", "bulk_create", "abulk_create", "get_or_create", "update_or_create"})
"""Make rows of the class that they are called on. Source: Django, QuerySet."""
_COMMITS = frozenset({"commit", "flush", "save", "asave"})


@record
class Load:
    """`node` gives what lies at `place`; `outside` if that certainly left the program."""

    node: cst.BaseExpression
    place: Place
    outside: bool


@record
class Save:
    """`node` writes `value` to `place`, over what was there; `outside` as of a `Load`.

    `there`: where the function does it that `node` calls; `path`: the file, as it is named there.
    """

    node: cst.CSTNode
    place: Place
    value: cst.BaseExpression
    outside: bool
    there: tuple[SourceModule, cst.CSTNode] | None = None
    path: cst.BaseExpression | None = None


@record
class Origin:
    """What a value was made of: what a `load` gave, or the parameter `name`. `history`: on the way it is a history.

    `whole`: it is that, read, written or put into an object as a whole, and nothing besides.
    """

    load: Load | None
    name: str
    history: bool
    encoded: bool
    whole: bool = False


_SavedBy = tuple[Place, Origin, bool, tuple[SourceModule, cst.CSTNode]]
"""A place, what goes there, whether that certainly leaves the program, and where it is written."""
_ADDING = frozenset({"$push", "$addToSet"})
_SETTING = frozenset({"$set", "$setOnInsert", "$replaceWith"})
"""Put a value in the place of another. Source: MongoDB manual, update operators."""


_NO_SAVES: Sequence[Save] = ()
_NOTHING_SAVED: Sequence[_SavedBy] = ()
_NO_ORIGINS: Sequence[Origin] = ()


class Storage:
    """The loads and saves of one file, and of the files that it imports."""

    def __init__(self, anatomy: Anatomy) -> None:
        self.anatomy = anatomy
        self.facts = anatomy.facts
        self.module = anatomy.module
        self._statements: dict[Slot, Statement | None] = {}
        self._holders = {
            slot[1]
            for slot, kinds in anatomy.facts.all_known().items()
            if slot[0] in {"member", "item", "attr"} and Kind.HISTORY in kinds
        }

    # -- what is saved ----------------------------------------------------------------------------------------

    @once(circular=_NO_SAVES)
    def saves(self, function: Scope) -> Sequence[Save]:
        """What a function writes over, itself or in what it calls."""
        return [*self._find_saves(function)]

    def _find_saves(self, function: Scope) -> Iterator[Save]:
        for node in function.nodes:
            if type(node) is cst.Call:
                run = self.run(node) if self._takes_history(node) else None
                if run is None:
                    yield from self._written(node, function)
                elif run[1] is not function:
                    other, callee, given = run
                    for place, origin, outside, there in other.saved_by(callee):
                        if origin.name in given:
                            here = self._placed(place, given, function)
                            yield Save(node, here, given[origin.name], outside, there)
            elif type(node) is cst.Assign:
                yield from self._assigned(node, function)
        yield from self._renewals(function)

    def _renewals(self, function: Scope) -> Iterator[Save]:
        """What is put, part by part, where all rows of a key were deleted before: the whole is written over."""
        touched = {call: self.anatomy.resources.handed(call) for call in function.nodes_of(cst.Call)}
        for clear, emptied in touched.items():
            tables = {table for table, _ in emptied.gone}
            place = self._picked(clear, function) if tables else None
            for call, filled in touched.items() if place is not None else ():
                if place is not None and self.module.before(clear, call) and not tables.isdisjoint(filled.made):
                    yield from (Save(call, place, value, True) for value in self._taken_apart(call, function))

    def _taken_apart(self, call: cst.Call, function: Scope) -> Iterator[cst.BaseExpression]:
        """The values of which a call gets the parts: in a loop, in a comprehension, or as rows made before."""
        used = names_in(*call.args)
        for outer in self.module.ancestors(call):
            if outer is function.node:
                break
            if isinstance(outer, cst.For) and not used.isdisjoint(ex.target_names(outer.target)):
                yield outer.iter
        for value in ex.positional(call):
            if isinstance(ex.inner(value), (cst.Name, cst.ListComp, cst.GeneratorExp)):
                yield value

    def _takes_history(self, call: cst.Call) -> bool:
        """Whether a call is worth to be looked into, which may cost the analysis of another file."""
        if self.facts.slots.callee(call) is not None or (call.args and _SAVES.search(ex.called_name(call))):
            return True
        return any(self.is_history(arg.value) or self._is_handed(arg.value) for arg in call.args)

    def _is_handed(self, node: cst.BaseExpression) -> bool:
        return isinstance(node, (cst.Name, cst.Attribute)) and self.facts.slots.function(node) is not None

    @once(circular=_NOTHING_SAVED)
    def saved_by(self, function: Scope) -> Sequence[_SavedBy]:
        """The places that a function writes to, each with the parameter that goes there."""
        return [
            (save.place, origin, save.outside or origin.encoded, save.there or (self.module, save.node))
            for save in self.saves(function)
            for origin in self.origins(save.value, function)
            if origin.load is None
        ]

    def _written(self, call: cst.Call, function: Scope) -> Iterator[Save]:
        name, base = ex.called_name(call), ex.receiver(call)
        full = self.module.imports.resolve(ex.dotted(call.func) or name)
        values = ex.positional(call)
        dumps = full in _DUMPS and len(values) > 1
        handle = values[1] if dumps else base if name == "write" and values else None
        path = self._opened(handle, function, "w+") if handle is not None else None
        path = base if name in {"write_text", "write_bytes"} and values else path
        if path is not None:
            yield Save(call, self._file(path, function), values[0], True, path=path)
        elif (statement := self._statement(call)) is not None:
            yield from self._updated(call, statement, function)
        elif base is not None and name == "put_item":
            yield from self._put(call, base, function)
        elif base is not None and len(values) > 1 and _SAVES.search(name) and not _NO_REWRITE.search(name):
            forms = [self.form(value, function) for value in values]
            outside = isinstance(self.module.parent[call], cst.Await) or name in {"replace_one", "update_one"}
            for index, value in enumerate(values[1:], 1):
                if not _changes_a_part(value):
                    place = Place(("keyed", self.form(base, function)), tuple(forms[:index]))
                    yield Save(call, place, value, outside)

    def _put(self, call: cst.Call, base: cst.BaseExpression, function: Scope) -> Iterator[Save]:
        """`table.put_item(Item={"id": key, "lines": lines})`: what takes a place holds its key. Source: boto3, 1.35."""
        given = ex.keywords(call)
        item = ex.dict_items(given["Item"]) if "Item" in given and "ConditionExpression" not in given else {}
        for name, value in item.items():
            key = tuple(self.form(other, function) for beside, other in item.items() if beside != name)
            yield Save(call, Place(("keyed", self.form(base, function)), key), value, True)

    def _updated(self, call: cst.Call, statement: Statement, function: Scope) -> Iterator[Save]:
        """`UPDATE t SET messages = ? WHERE id = ?`: any of the arguments may be what is saved."""
        for value in _bound(call) if statement.verb == "update" else ():
            place = self._picked(call, function, but=value)
            if place is not None:
                yield Save(call, place, value, True)

    def _assigned(self, node: cst.Assign, function: Scope) -> Iterator[Save]:
        """`db[key] = history` of a shelf; `row.messages = json.dumps(history)` of a row that is written afterwards."""
        for target in ex.targets(node):
            if type(target) is cst.Subscript:
                place = self._on_shelf(target, function)
            elif type(target) is cst.Attribute and self._is_committed(node, target.value, function):
                place = self._of_row(target, function)
            else:
                continue
            if place is not None:
                yield Save(node, place, node.value, True)

    def _is_committed(self, node: cst.CSTNode, row: cst.BaseExpression, function: Scope) -> bool:
        """Whether a session is committed, or the row saved, behind an assignment."""
        return any(
            ex.called_name(call) in _COMMITS and self.module.before(node, call)
            for call in function.nodes_of(cst.Call)
            if (base := ex.receiver(call)) is not None
            and (ex.called_name(call) in {"commit", "flush"} or ex.dotted(base) == ex.dotted(row))
        )

    def is_put_back(self, origin: Origin, save: Save, function: Scope) -> bool:
        """Whether a whole object goes back to where it was loaded, under what it says of itself: `save(talk)`.

        Not one that was given another name meanwhile.
        """
        if origin.load is None or not origin.whole:
            return False
        for name in (part for part in walk(save.value) if isinstance(part, cst.Name)):
            field = origin.load.place.field_that_names(self.form(name, function), save.place)
            if field is not None:
                bound = (target for node in function.nodes_of(cst.Assign) for target in ex.targets(node))
                return all(self.form(target, function)[2:] != field[2:] for target in bound)
        return False

    # -- what is loaded ---------------------------------------------------------------------------------------

    def is_read(self, place: Place, within: Container[Scope] | None = None) -> bool:
        """Whether any function of the file, or one of some, loads what is written to a place."""
        return any(within is None or self.module.scope_of[node].function in within for node in self.reads(place))

    def reads(self, place: Place) -> list[cst.BaseExpression]:
        """Where the file loads what is written to a place."""
        return [load.node for load in self._loads if load.place.may_be(place)]

    @property
    def reads_any_file(self) -> bool:
        """Whether the module loads a file by a name that it is given, or finds."""
        return any(load.place.resource == ("file",) and not load.place.is_one for load in self._loads)

    def read_at(self, node: cst.CSTNode, function: Scope) -> Place | None:
        """The place outside of the program that an expression of a function reads by itself."""
        load = self._loaded(node, function) if isinstance(node, cst.BaseExpression) else None
        return load.place if load is not None and load.outside else None

    def decoded(self, call: cst.Call) -> list[Place]:
        """The places that any function of the file writes, and of which a call decodes what was read before."""
        origins = self.origins(call.args[0].value, self.module.scope_of[call].function)
        read = [origin.load.place for origin in origins if origin.load is not None]
        saved = [save.place for function in self.module.functions if read for save in self.saves(function)]
        added = self._added_to if read else []
        return [p for p in read if any(map(p.is_rewritten_at, saved)) or any(map(p.may_be_grown_at, added))]

    @cached_property
    def _added_to(self) -> list[Place]:
        """The files behind whose end something is written."""
        calls, scopes = self.module.nodes_of(cst.Call), self.module.scope_of
        return [place for call in calls if (place := self._added_at(call, scopes[call].function)) is not None]

    def _added_at(self, call: cst.Call, function: Scope) -> Place | None:
        """The file behind whose end a call writes."""
        base = ex.receiver(call) if ex.called_name(call) in {"write", "writelines"} else None
        path = self._opened(base, function, "a") if base is not None else None
        return _named(self.form(path, function)) if path is not None else None

    def writes_log(self, call: cst.Call) -> bool:
        """Whether a call writes behind the end of a file that this module names, and never reads."""
        scope = self.module.scope_of.get(call)  # none of a call of another file
        place = self._added_at(call, scope.function) if scope is not None else None
        return place is not None and place.is_one and not any(load.place.may_be_grown_at(place) for load in self._loads)

    @cached_property
    def _loads(self) -> list[Load]:
        scopes, calls = self.module.scope_of, self.module.nodes_of(cst.Call)
        found = (self._loaded(call, scopes[call].function) for call in calls)
        return [load for load in found if load is not None and load.outside]

    def _loaded(self, node: cst.BaseExpression, function: Scope) -> Load | None:
        """The primitive load that an expression is."""
        if type(node) is cst.Call:
            place = self._read_by(node, function)
        elif type(node) is cst.Subscript:
            place = self._on_shelf(node, function)
        else:
            place = self._of_row(node, function) if type(node) is cst.Attribute else None
        if place is None:
            return None
        outside = place.resource[0] != "keyed" or isinstance(self.module.parent[node], cst.Await) or _finds(node)
        return Load(node, place, outside)

    def _read_by(self, call: cst.Call, function: Scope) -> Place | None:
        """The place of which a call gives what lies there."""
        name, base = ex.called_name(call), ex.receiver(call)
        handle = call.args[0].value if call.args and name.endswith("load") else base
        path = self._opened(handle, function, "r") if handle is not None and name in _READS else None
        path = base if name in {"read_text", "read_bytes"} else path
        if path is not None:
            return _named(self.form(path, function))
        if base is None:
            return None
        if name == "get" and (shelf := self._on_shelf(call, function)) is not None:
            return shelf
        fetched = self._ran_before(call, base, function) if name.startswith(_FETCHES) else None
        ran = call if self._statement(call) is not None else fetched
        if ran is not None:
            return self._selected(ran, function)
        keyed = ("keyed", self.form(base, function))
        if name == "get_item" and "Key" in (given := ex.keywords(call)):
            return Place(keyed, tuple(self.form(value, function) for value in ex.dict_items(given["Key"]).values()))
        finds = _finds(call)
        if call.args and (finds or _LOADS.search(name)):
            values = [value for value in ex.positional(call) if ex.text(value) is None or value is call.args[0].value]
            return Place(keyed, tuple(self.form(value, function) for value in (values[:1] if finds else values)))
        return self._rows(call, function)

    def _picked(self, call: cst.Call, function: Scope, but: cst.BaseExpression | None = None) -> Place | None:
        """The rows that a statement picks by its arguments, all `but` one, or that a query names."""
        statement = self._statement(call)
        if statement is None:
            return self._rows(call, function)
        key = tuple(self.form(value, function) for value in _bound(call) if value is not but)
        return Place(("table", statement.table), key, statement.conditions)

    def _rows(self, call: cst.Call, function: Scope) -> Place | None:
        """The rows that a query names: `db.query(Line).filter(Line.talk == key)`, `Line.objects.filter(talk=key)`.

        None for what names several classes, or makes a row.
        """
        touched = self.anatomy.resources.handed(call)
        classes = [name for name in touched.read if name[:1].isupper()]
        if len(classes) != 1 or touched.made - {*classes} or ex.called_name(call) in _MAKES:
            return None
        keys: list[cst.BaseExpression] = []
        for part in walk(call):
            if isinstance(part, cst.Comparison) and isinstance(part.comparisons[0].operator, cst.Equal):
                keys.append(part.comparisons[0].comparator)
            elif isinstance(part, cst.Arg) and part.keyword is not None:
                keys.append(part.value)
        return Place(("rows", classes[0]), tuple(self.form(key, function) for key in keys))

    def _selected(self, ran: cst.Call, function: Scope) -> Place | None:
        """The rows that a statement gives, and does not lock."""
        statement, place = self._statement(ran), self._picked(ran, function)
        is_read = statement is not None and statement.verb == "select" and not statement.locks
        return replace(place, conditions=0) if place is not None and is_read else None

    def _ran_before(self, node: cst.Call, cursor: cst.BaseExpression, function: Scope) -> cst.Call | None:
        """The last statement that a cursor has run before something is fetched from it."""
        name = ex.dotted(cursor)
        for item in self._entered(cursor, function):
            if isinstance(item, cst.Call) and self._statement(item) is not None:
                return item
        before = [
            call
            for call in function.nodes_of(cst.Call)
            if name is not None
            and ex.called_name(call) == "execute"
            and ex.dotted(ex.receiver(call) or call) == name
            and self.module.before(call, node)
        ]
        return before[-1] if before else None

    def _statement(self, call: cst.Call) -> Statement | None:
        """The SQL that a call runs: `execute("SELECT ...")`, also `text("...")` and a constant."""
        if not call.args or ex.receiver(call) is None:
            return None
        first = ex.inner(call.args[0].value)
        if isinstance(first, cst.Call) and ex.called_name(first) == "text" and first.args:
            first = first.args[0].value
        slot = self.facts.slots.of_name(first)
        if slot is None:
            return _first_statement([first])
        if slot not in self._statements:
            self._statements[slot] = _first_statement(self.facts.values_of(first))
        return self._statements[slot]

    # -- places -----------------------------------------------------------------------------------------------

    def _file(self, path: cst.BaseExpression, function: Scope) -> Place:
        """A file that is written, under the name that it has in the end: `os.replace(beside, path)`.

        Or `beside.replace(path)`; what is read is read under the name that it has by then. So for one of no name.
        """
        form, unnamed = self.form(path, function), self._is_unnamed(path)
        for call in function.nodes_of(cst.Call):
            if ex.called_name(call) in _RENAMES:
                ends = [*ex.positional(call)]
                if len(ends) == 1 and (base := ex.receiver(call)) is not None:
                    ends.insert(0, base)
                if len(ends) == 2 and (unnamed or self.form(ends[0], function) == form):
                    form = self.form(ends[1], function)
                    break
        return _named(form)

    def _is_unnamed(self, path: cst.BaseExpression) -> bool:
        """Whether a file is one that the system finds a name for: `handle, beside = mkstemp()`."""
        made = [path, *(value for value, _ in self._named(path))] if isinstance(path, cst.Name) else [path]
        return any(isinstance(value, cst.Call) and ex.called_name(value) in _UNNAMED for value in made)

    def _opened(self, handle: cst.BaseExpression, function: Scope, modes: str) -> cst.BaseExpression | None:
        """The path of an open file: of `open(path)` itself, or of the `with open(path) as f` around."""
        for value in [ex.inner(handle), *self._entered(handle, function)]:
            if not isinstance(value, cst.Call) or ex.called_name(value) not in _OPENS:
                continue
            if ex.called_name(value) == "NamedTemporaryFile":
                return value if "w" in modes else None
            base = ex.receiver(value)
            opened = ex.dotted(base) if base is not None else None
            of_path = base is not None and opened not in {"io", "os", "codecs", "aiofiles", "anyio", "builtins"}
            mode = ex.text(ex.argument(value, "mode", 0 if of_path else 1) or cst.SimpleString('"r"')) or ""
            if any(letter in mode for letter in modes):
                return base if of_path else ex.argument(value, "file", 0)
        return None

    def _entered(self, name: cst.BaseExpression, function: Scope) -> list[cst.BaseExpression]:
        """What a `with ... as name` around an expression, or an assignment, binds a name to."""
        name = ex.inner(name)
        if not isinstance(name, cst.Name):
            return []
        for outer in self.module.ancestors(name):
            if outer is function.node:
                break
            if isinstance(outer, cst.With):
                for item in outer.items:
                    if item.asname is not None and name.value in ex.target_names(item.asname.name):
                        return [ex.inner(item.item)]
        return [ex.inner(d.value) for d in self.anatomy.definitions(name) if d.kind == "assign" and d.value is not None]

    def _on_shelf(self, node: cst.Subscript | cst.Call, function: Scope) -> Place | None:
        base = node.value if isinstance(node, cst.Subscript) else ex.receiver(node)
        index = ex.index(node) if isinstance(node, cst.Subscript) else node.args[0].value if node.args else None
        if base is None or index is None:
            return None
        for value in self._entered(base, function):
            if isinstance(value, cst.Call) and self.module.full_name(value.func) == "shelve.open":
                return Place(
                    ("shelf", *(self.form(arg.value, function) for arg in value.args[:1])),
                    (self.form(index, function),),
                )
        return None

    def _of_row(self, node: cst.Attribute, function: Scope) -> Place | None:
        return self._of_column(node.value, ("column", node.attr.value), function)

    def _of_column(self, row: cst.BaseExpression, column: Form, function: Scope) -> Place | None:
        """A column of a row that a query has given, and that the query does not lock, here or for who hands it on."""
        if not isinstance(row, cst.Name):
            return None
        found = self._before_made(row)
        if len(found) != 1 or not (found[0].kind == "parameter" or self._is_given(found[0].value)):
            return None
        given = ex.inner(found[0].value) if found[0].value is not None else None
        rows = self._rows(given, function) if isinstance(given, cst.Call) else None
        if rows is not None:
            return Place(rows.resource, (*rows.key, column))
        return Place(("row", self.form(row, function)), (column,))

    def _placed(self, place: Place, given: dict[str, cst.BaseExpression], function: Scope) -> Place:
        """A place of a function that is called, as it is here: also a column of the row that it is handed."""
        row = next((value for name, value in given.items() if place.resource == ("row", ("parameter", name))), None)
        known = self._of_column(row, place.key[0], function) if row is not None else None
        return known or place.put(self._forms(given, function))

    def _is_given(self, value: cst.BaseExpression | None) -> bool:
        called = ex.inner(value) if value is not None else None
        return isinstance(called, cst.Call) and self.facts.slots.constructed(called) is None

    def _before_made(self, name: cst.Name) -> list[Definition]:
        """What a name was bound to, but for a new row that takes the place of one that was not found."""
        found = self.anatomy.definitions(name)
        old = [each for each in found if each.value is None or not self._makes(each.value)]
        return old or found

    def _makes(self, value: cst.BaseExpression) -> bool:
        """`Talk(owner=user)`: an object of a class, by its name."""
        name = ex.called_name(value) if isinstance(value, cst.Call) else ""
        return name[:1].isupper() and not name.isupper()

    # -- what a value was made of -----------------------------------------------------------------------------

    def origins(self, value: cst.BaseExpression, function: Scope, at: int | None = None) -> Iterator[Origin]:
        """The loads and parameters that a value holds, through names, lists, copies, and functions of the project.

        With `at` those of one part of it, if it is a tuple.
        """
        queue = [(value, False, False, True, at)]
        seen: set[int] = set()
        while queue and len(seen) < _MOST:
            node, history, encoded, whole, at = queue.pop()
            here = ex.inner(node)
            if id(here) in seen:
                continue
            seen.add(id(here))
            if isinstance(here, cst.Tuple):
                part = here.elements[at] if at is not None and at < len(here.elements) else None
                queue += [(part.value, history, encoded, whole, None)] if part is not None else []
                continue
            history = history or self.is_history(here)
            run = self.run(here) if isinstance(here, cst.Call) else None
            load = self._loaded(here, function) if run is None else None
            if load is not None:
                yield Origin(load, "", history, encoded, whole)
                if load.place.resource[0] not in {"keyed", "row"}:  # else it may be of what was loaded before
                    continue
            if isinstance(here, cst.Name):
                for definition in self.anatomy.definitions(here):
                    if definition.kind == "parameter":
                        yield Origin(None, here.value, history, encoded, whole)
                bound = [each.value for each in self.anatomy.definitions(here)]
                named = self._named(here)
                queue += [(part, history, encoded, whole and part in bound, place) for part, place in named]
            elif run is not None:
                other, callee, given = run
                for origin in other.returned_by((callee, at)):
                    known, coded = history or origin.history, encoded or origin.encoded
                    if origin.load is not None:
                        there = Load(
                            here,
                            self._placed(origin.load.place, given, function),
                            origin.load.outside or origin.encoded,
                        )
                        yield Origin(there, "", known, coded, whole and origin.whole)
                    elif origin.name in given:
                        queue.append((given[origin.name], known, coded, whole and origin.whole, None))
            else:
                coded = encoded or self._is_coding(here)
                kept = whole and self._keeps_whole(here)
                queue += [(part, history, coded, kept, None) for part in self._parts(here)]

    @once(circular=_NO_ORIGINS)
    def returned_by(self, asked: tuple[Scope, int | None]) -> Sequence[Origin]:
        """What a function gives back, or gives at one place of a tuple, in terms of its parameters."""
        function, at = asked
        given = (node.value for node in function.nodes if isinstance(node, cst.Return) and node.value is not None)
        values = [function.node.body] if isinstance(function.node, cst.Lambda) else given
        return [origin for value in values for origin in self.origins(value, function, at)]

    def is_history(self, node: cst.BaseExpression) -> bool:
        slot = self.facts.slots.of(node)
        holders = {slot, self.facts.slots.instance(node)} - {None}
        return self.anatomy.is_history(node) or not self._holders.isdisjoint(holders)

    def _keeps_whole(self, node: cst.BaseExpression) -> bool:
        """Whether an expression is one thing in another form: `loads(raw)`, `Talk(**data)`, `talk.dump(mode="json")`.

        A part of it is not, nor is what is made of several.
        """
        if not isinstance(node, cst.Call) or self._is_coding(node):
            return isinstance(node, (cst.Call, cst.IfExp, cst.BooleanOperation))
        given = [arg for arg in node.args if ex.text(arg.value) is None]
        base = ex.receiver(node)
        root = ex.owner(base) if base is not None else None
        if isinstance(root, cst.Name):
            bound = self.module.scope_binding(self.module.scope_of[root], root.value)
            if bound is not None and bound is not self.module.top:
                return not given
        return len(given) == 1 and (given[0].keyword is None)

    def _is_coding(self, node: cst.BaseExpression) -> bool:
        return isinstance(node, cst.Call) and (self.module.full_name(node.func) in DECODERS | ENCODERS)

    def _named(self, name: cst.Name) -> Iterator[tuple[cst.BaseExpression, int | None]]:
        """What a name was bound to, and what was put into it; in a nested function what is bound around it.

        Of a tuple that is taken apart, with the place at which the name gets its part.
        """
        slot = self.facts.slots.of(name)
        found = self.anatomy.definitions(name)
        for definition in found:
            statement = definition.point.statement
            if definition.kind == "unpack" and definition.value is None and isinstance(statement, cst.Assign):
                yield statement.value, _place_in(statement, name.value)
            elif definition.kind == "for" and isinstance(statement, cst.For):
                yield statement.iter, None
            elif definition.value is not None and definition.kind != "parameter":
                yield definition.value, None
        if slot is None or slot[0] != "var" or slot[1].kind == "module":
            return
        if not found or any(definition.kind == "augmented" for definition in found):
            yield from ((value, None) for value in self.facts.assigned(slot))
        yield from ((value, None) for value in self.facts.members(slot).values())
        yield from ((value, None) for value in self._added(slot))

    def _added(self, slot: Slot) -> Iterator[cst.BaseExpression]:
        """What is put into a list of a function, one after the other."""
        for call in slot[1].nodes_of(cst.Call):
            base = ex.receiver(call) if ex.called_name(call) in {"append", "extend"} and len(call.args) == 1 else None
            if base is not None and self.facts.slots.of(base) == slot:
                yield call.args[0].value

    def _parts(self, node: cst.BaseExpression) -> list[cst.BaseExpression]:
        """What a value takes over: of a request to a model nothing."""
        if isinstance(node, cst.Dict):
            return [each.value for each in node.elements]
        asks = isinstance(node, cst.Call) and self.anatomy.calls.asks(node)
        return parts_of(node) if not asks else []

    # -- what a call runs -------------------------------------------------------------------------------------

    def run(self, call: cst.Call) -> tuple[Storage, Scope, dict[str, cst.BaseExpression]] | None:
        """The function of the project that a call runs, and what its parameters get.

        So does `to_thread(load, key)`, and `retry(lambda: load(key))` of the project: who is handed a function runs it.
        None for a method that only says what others do: it is not known what takes its place.
        """
        found = self.callee(call.func)
        for index, arg in enumerate(call.args if found is not None else call.args[:2]):
            handed = self._handed(arg.value) if found is None or _calls(self.facts, call, found[1], arg.value) else None
            if handed is not None:
                anatomy, callee = handed
                names = [p.name.value for p in parameters(callee)][is_method(callee) :]
                rest = [a.value for a in call.args[index + 1 :] if a.keyword is None and not a.star]
                named = {name: value for name, value in ex.keywords(call).items() if name in names}
                given = {**dict(zip(names, rest, strict=False)), **named}
                return anatomy.storage, callee, {**_own(callee, arg.value), **given}
        if found is None or says_only(found[1]):
            return None
        anatomy, method = found
        given = {slot[2]: value for slot, value in self.facts.slots.bindings(call, method) if slot[0] == "var"}
        return anatomy.storage, method, {**_own(method, call.func), **given}

    def _handed(self, value: cst.BaseExpression) -> tuple[Anatomy, Scope] | None:
        """The function that an argument is, by its name or as it stands there."""
        if isinstance(value, cst.Lambda):
            return self.anatomy, self.module.scope_of[value.body].function
        return self.callee(value) if isinstance(value, (cst.Name, cst.Attribute)) else None

    def callee(self, func: cst.BaseExpression) -> tuple[Anatomy, Scope] | None:
        """The function or method that an expression names, of this file or of one that it imports."""
        callee = self.facts.slots.function(func)
        if callee is not None:
            return (self.anatomy, callee) if callee.kind == "function" else None
        imported = self.anatomy.imported_function(ex.dotted(func) or "")
        if imported is not None:
            return imported
        slot = self.facts.slots.of(func.value) if isinstance(func, cst.Attribute) else None
        for anatomy, cls in classes_of(self.anatomy, slot) if slot is not None else ():
            method = anatomy.module.method(cls, ex.last_name(func))
            if method is not None:
                return anatomy, method
        return None

    # -- forms ------------------------------------------------------------------------------------------------

    def _forms(self, given: dict[str, cst.BaseExpression], function: Scope) -> dict[str, Form]:
        return {name: self.form(value, function) for name, value in given.items()}

    def form(self, node: cst.BaseExpression, function: Scope, depth: int = 0) -> Form:
        """What an expression says, with the names of this run replaced by what they were bound to."""
        node = ex.inner(node)
        if isinstance(node, cst.Name):
            found = self._before_made(node)
            if any(definition.kind == "parameter" for definition in found) and len(found) == 1:
                return ("parameter", node.value)
            if self.facts.slots.of(node) == ("var", self.module.top, node.value):
                return ("name", node.value)
            value = found[0].value if len(found) == 1 and found[0].kind == "assign" else None
            slot = self.facts.slots.of(node) if not found else None
            if slot is not None and slot[0] == "var" and slot[1].kind == "function":  # bound around this function
                if is_parameter(slot):
                    return ("parameter", node.value)
                value = next(iter(given), None) if len(given := self.facts.assigned(slot)) == 1 else None
            if value is not None and depth < DEEPEST:
                return self.form(value, function, depth + 1)
            return ("name", node.value, *sorted(map(id, found)))
        if isinstance(node, cst.Call) and ex.called_name(node) in _PATHS and len(node.args) == 1:
            return self.form(node.args[0].value, function, depth)
        return self._shape(node, function, depth)

    def _shape(self, node: cst.CSTNode, function: Scope, depth: int) -> Form:
        if isinstance(node, cst.Attribute):
            return ("Attribute", self.form(node.value, function, depth), node.attr.value)
        if isinstance(node, cst.Arg):
            return ("Arg", node.keyword and node.keyword.value, self.form(node.value, function, depth))
        below = children(node)
        if not below:
            return (type(node).__name__, getattr(node, "value", None))
        return (
            type(node).__name__,
            *(
                self.form(part, function, depth)
                if isinstance(part, cst.BaseExpression)
                else self._shape(part, function, depth)
                for part in below
            ),
        )


def parts_of(node: cst.BaseExpression) -> list[cst.BaseExpression]:
    """What a value takes over of others: of a list what it has of other lists, and not its elements."""
    if isinstance(node, (cst.Subscript, cst.Attribute)):
        return [node.value]
    if isinstance(node, (cst.ListComp, cst.GeneratorExp)):  # of what it only counts or asks, it has nothing
        loops = [part for part in walk(node.for_in) if type(part) is cst.CompFor]
        named = {name for loop in loops for name in ex.target_names(loop.target)}
        return [node.elt] if named.isdisjoint(names_in(node.elt)) else [node.for_in.iter]
    if isinstance(node, cst.List):
        return [each.value for each in node.elements if isinstance(each, cst.StarredElement)]
    if isinstance(node, cst.IfExp):
        return [node.body, node.orelse]
    if isinstance(node, (cst.BinaryOperation, cst.BooleanOperation)):
        return [node.left, node.right]
    return ex.handed(node) if isinstance(node, cst.Call) else []


def _finds(call: cst.CSTNode) -> bool:
    """Whether a call gives what lies under a key, and never what is at hand. Source: PyMongo, redis-py, boto3."""
    if not isinstance(call, cst.Call):
        return False
    name, first = ex.called_name(call), call.args[0].value if call.args else None
    by_key = (name == "find" and isinstance(first, cst.Dict)) or (name == "get_item" and "Key" in ex.keywords(call))
    return by_key or name in _FINDS


def _changes_a_part(update: cst.BaseExpression) -> bool:
    """`{"$push": {"lines": line}}`, `{"$pop": {"facts": -1}}`: what changes a document without a value in its place."""
    operators = {key for key in ex.dict_items(update) if key.startswith("$")}
    return bool(operators & _ADDING) or (bool(operators) and not operators & _SETTING)


def _calls(facts: Facts, call: cst.Call, callee: Scope, handed: cst.BaseExpression) -> bool:
    """Whether a function calls what it is handed here."""
    named = {slot[2] for slot, value in facts.slots.bindings(call, callee) if value is handed}
    return bool(named) and any(ex.dotted(each.func) in named for each in callee.nodes_of(cst.Call))


def _place_in(statement: cst.Assign, name: str) -> int | None:
    """At which place of a tuple that is taken apart a name gets its part."""
    tuples = (target for target in ex.targets(statement) if isinstance(target, cst.Tuple))
    named = ([getattr(each.value, "value", None) for each in target.elements] for target in tuples)
    return next((names.index(name) for names in named if name in names), None)


def _named(path: Form) -> Place:
    """The file of a name."""
    return Place(("file",), (path,))


def _own(callee: Scope, func: cst.BaseExpression) -> dict[str, cst.BaseExpression]:
    """The object itself, as the first parameter of a method."""
    names = [p.name.value for p in parameters(callee)]
    return {names[0]: func.value} if is_method(callee) and names and isinstance(func, cst.Attribute) else {}


def _first_statement(values: Iterable[cst.BaseExpression]) -> Statement | None:
    """The first of some texts that is a statement of SQL."""
    said = (Statement(text) for value in values if (text := ex.text(value)))
    return next((each for each in said if each.verb), None)


def _bound(call: cst.Call) -> list[cst.BaseExpression]:
    """The arguments of a statement: `(a, b)`, `{"a": a}`, or one after another."""
    found: list[cst.BaseExpression] = []
    for arg in call.args[1:]:
        value = ex.inner(arg.value)
        if isinstance(value, (cst.Tuple, cst.List, cst.Dict)):
            found += [each.value for each in value.elements]
        else:
            found.append(value)
    return found
