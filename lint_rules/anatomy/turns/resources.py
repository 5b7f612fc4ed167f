"""What a call touches that outlives it: tables, keys and files outside of the program, attributes and globals in it.

Of a function of the project what its body touches tells, also in another file; of any other call what it is handed.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import fields, replace

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.messages.classes import body, classes_of, run_elsewhere
from lint_rules.anatomy.program.handlers import is_logging
from lint_rules.anatomy.turns.statements import Statement, is_begun
from lint_rules.anatomy.values.handed_along import handed_along
from lint_rules.anatomy.values.slots import Slot
from lint_rules.anatomy.vocabulary import TABLES
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.memo import kept, once
from lint_rules.syntax.module import Scope, SourceModule, parameter_names, says_only
from lint_rules.syntax.record import record
from lint_rules.syntax.walk import children, walk

_NARROWS = frozenset(
    {"exclude", "in_", "notin_", "not_in", "limit", "between", "like", "neq", "gt", "gte", "lt", "lte"}
)
"""Pick some of the rows of a key, in a query. Source: SQLAlchemy, Django, Supabase."""
_OF_FORM = frozenset({"encoding", "errors", "newline", "mode"})
"""Keywords of `open` that tell of no place."""
_OPENS = frozenset({"open", "read_text", "write_text", "read_bytes", "write_bytes"})
"""What opens a file: the function, and the methods of a path. Source: standard library."""
_LOOKS_AT = frozenset({"startswith", "endswith", "removeprefix", "removesuffix"})
"""What asks a text for a part of it. Source: methods of `str`."""
_OF_MESSAGES = frozenset({"role", "type", "parts"})
"""Keys of messages, and of their parts."""
_TEXTS = (cst.SimpleString, cst.ConcatenatedString, cst.FormattedString)
_TESTS = frozenset({cst.Comparison, cst.ComparisonTarget})
_SERVER = re.compile(r"(?!https?:|wss?:|file:)[\w+.-]+://[^/]*(/\d*)?")
"""`redis://localhost:6379/0`: all that is kept there has it in common."""
_KEY = re.compile(r"(?=.*[^\W\d])(?=.*[:/._-])[\w:/.-]+")
"""Words with something between them; a number is a version."""
_HOPS = 3
"""Into how many files a call is followed."""


_Picked = tuple[str, frozenset[str]]
"""A table, and the columns by which its rows are picked."""


@record
class Touched:
    """`outside`: keys and files; `read` and `made`: tables and classes of rows; `inside`: attributes and globals.

    `over`: tables of which rows are written over. That loses something only if it is more than a column of its own.
    `added`: those to which a statement only adds rows.
    `put` and `got`: objects of packages that are handed something under a key, and that give it.
    `by` and `gone`: tables of which all rows are read, or deleted, that have some values in these columns.
    """

    outside: frozenset[str] = frozenset()
    read: frozenset[str] = frozenset()
    made: frozenset[str] = frozenset()
    inside: frozenset[str] = frozenset()
    over: frozenset[str] = frozenset()
    added: frozenset[str] = frozenset()
    put: frozenset[str] = frozenset()
    got: frozenset[str] = frozenset()
    by: frozenset[_Picked] = frozenset()
    gone: frozenset[_Picked] = frozenset()

    @property
    def lies_outside(self) -> bool:
        return bool(self.names)

    @property
    def names(self) -> frozenset[str]:
        """Those of what lies outside."""
        return self.outside | self.read | self.made | self.put | self.got

    @property
    def filled(self) -> frozenset[str]:
        """Those into which something may go."""
        return self.outside | self.made | self.put

    def is_read_again_after(self, save: Touched) -> bool:
        """Whether what this call gives may be what `save` has stored: as far as both tell where that is."""
        if self.read and save.made:  # in whatever file the tables lie
            return not self.read.isdisjoint(save.made)
        if self.loads_from(save):
            return True
        if self.lies_outside and save.lies_outside:
            return not self.outside.isdisjoint(save.outside)
        return not self.inside.isdisjoint(save.inside)

    def loads_from(self, save: Touched) -> bool:
        """Whether this call, or what it runs, takes rows or values from where `save` puts them."""
        return not self.read.isdisjoint(save.made) or not self.got.isdisjoint(save.put)

    def is_emptied_by(self, other: Touched) -> bool:
        """Whether the other one deletes all that this one reads, of a key or of all."""
        return any(table == named and columns <= own for table, columns in other.gone for named, own in self.by)

    def is_put_back_by(self, save: Touched) -> bool:
        """Whether `save` writes over the rows that this call reads."""
        return not self.read.isdisjoint(save.over)


class Resources:
    """Answers for the calls of one file."""

    def __init__(self, anatomy: Anatomy) -> None:
        self._anatomy = anatomy

    @kept
    def of(self, call: cst.Call) -> Touched:
        along = handed_along(call)
        found = body(self._anatomy, call) or (self._anatomy.storage.callee(along[0]) if along is not None else None)
        if found is None or says_only(found[1]):  # what takes its place tells, and nobody knows it here
            return _handed(self._anatomy, call)
        rows = _filled_in(self._anatomy, call, *found)
        return joined([_within(*found), rows]) if rows is not None else _within(*found)

    def handed(self, call: cst.Call) -> Touched:
        """What stands in the call itself."""
        return _handed(self._anatomy, call)

    def brings_out(self, call: cst.Call) -> bool:
        """Whether what a call runs puts anything into a table, under a key, or into a file; unknown code may."""
        touched, found = self.of(call), body(self._anatomy, call)
        if found is None or touched.made or touched.put:
            return True
        there, run = found
        reach = there.calls.reachable(run)
        opening = (ex.called_name(each) in _OPENS for here in reach for each in here.nodes_of(cst.Call))
        return any(map(there.storage.saves, reach)) or any(opening)

    def runs(self, call: cst.Call) -> Scope | None:
        """The function of the project that a call runs; not one that only says what others do."""
        found = body(self._anatomy, call)
        return found[1] if found is not None and not says_only(found[1]) else None

    def readers(self, save: cst.Call) -> Iterator[tuple[Anatomy, Scope, Touched]]:
        """The functions that stand beside those in which a call leaves the program, and touch the same there."""
        found = body(self._anatomy, save)
        for there, store in run_by(*found) if found is not None else ():
            saved = _touched(there, store)
            for beside in there.module.functions if saved.lies_outside else ():
                if beside is not store and beside.kind == "function" and beside.owner is store.owner:
                    read = _touched(there, beside)
                    if read.lies_outside and read.is_read_again_after(saved):
                        yield there, beside, read

    def is_read_again(self, save: cst.Call) -> bool:
        """Whether another call of the file takes out what this one puts into a table, a key or an attribute."""
        saved, module = self.of(save), self._anatomy.module
        return any(
            self.of(other).is_read_again_after(saved)
            for other in module.nodes_of(cst.Call)
            if ex.dotted(other.func) != ex.dotted(save.func)
            and not isinstance(module.parent[other], cst.Expr)
            and self.runs(other) is not None
        )


def _filled_in(anatomy: Anatomy, call: cst.Call, there: Anatomy, method: Scope) -> Touched | None:
    """What the class of an object fills in for its base: `class Talks(Rows[Message])`, of which `Rows` makes, or reads.

    Its method makes one where it calls what the object has: `self.model(**given)`.
    """
    base, own = ex.receiver(call), there.module.self_name(method)
    slot = anatomy.facts.slots.of(base) if base is not None and own is not None else None
    kept = [n for n in method.nodes_of(cst.Attribute) if ex.dotted(n.value) == own] if slot is not None else []
    used = [n for n in kept if method.owner is None or there.module.method(method.owner, n.attr.value) is None]
    if slot is None or not used:
        return None
    rows = frozenset(row for home, cls in classes_of(anatomy, slot) for row in _types_of(home, cls))
    made = any(isinstance(outer := there.module.parent[node], cst.Call) and outer.func is node for node in used)
    return Touched(made=rows) if made else Touched(read=rows)


def _types_of(home: Anatomy, cls: Scope) -> Iterator[str]:
    """The classes of rows that a class fills in for its bases."""
    bases = (base.value for base in cls.node.bases) if isinstance(cls.node, cst.ClassDef) else ()
    filled = (each for base in bases if isinstance(base, cst.Subscript) for each in base.slice)
    for part in (part for each in filled for part in walk(each)):
        row = _row(home, part) if isinstance(part, (cst.Name, cst.Attribute)) else None
        if row is not None:
            yield row


_FIELDS = [field.name for field in fields(Touched)]


def joined(touched: Iterable[Touched]) -> Touched:
    """All that several touch."""
    parts = [*touched]
    return Touched(*[frozenset().union(*[getattr(part, name) for part in parts]) for name in _FIELDS])


@once(circular=Touched())
def _within(anatomy: Anatomy, function: Scope) -> Touched:
    """What a function touches, itself, in what it calls in its file, and from there in others."""
    return joined([_touched(*run) for run in run_by(anatomy, function)])


def run_by(anatomy: Anatomy, function: Scope, hops: int = _HOPS) -> list[tuple[Anatomy, Scope]]:
    """A function, what it calls in its file or hands on, `run(write)`, and from there in others."""
    found = [(anatomy, here) for here in anatomy.calls.may_run(function)]
    beyond = [each for _, here in found for each in _run_elsewhere(anatomy, here)] if hops > 1 else []
    return found + [each for there in beyond for each in run_by(*there, hops - 1)]


@kept
def _run_elsewhere(anatomy: Anatomy, here: Scope) -> list[tuple[Anatomy, Scope]]:
    """The functions of other files that one calls itself."""
    calls = [c for c in here.nodes_of(cst.Call) if anatomy.facts.slots.callee(c) is None and not is_logging(c)]
    return [found for call in calls if (found := run_elsewhere(anatomy, call)) is not None]


@kept
def _touched(anatomy: Anatomy, here: Scope) -> Touched:
    """What stands in a function itself."""
    return joined(_parts_touched(anatomy, here))


def _parts_touched(anatomy: Anatomy, here: Scope) -> Iterator[Touched]:
    logs = {node for raised in here.nodes_of(cst.Raise) for node in walk(raised)}  # words of an error name no place
    for call in here.nodes_of(cst.Call):
        if is_logging(call):
            logs.update(walk(call))
        else:
            yield _handed(anatomy, call)
        if _reads_member(anatomy, call):  # nor does what stands in for a part that is not there
            logs.update(node for arg in call.args for node in walk(arg.value))
    texts = (text for node in here.nodes_of(cst.FormattedString) if node not in logs for text in _texts(node))
    ends = (node.right for node in here.nodes_of(cst.BinaryOperation) if isinstance(node.operator, cst.Divide))
    names = (ex.text(right) or "" for right in ends)  # `folder / "talk.json"`
    yield Touched(outside=frozenset(filter(_is_key, (*texts, *names))), made=frozenset(_filled(anatomy, here)))
    yield Touched(inside=frozenset(lasting_places(anatomy, (node for node in here.nodes if node not in logs))))


def _filled(anatomy: Anatomy, here: Scope) -> Iterator[str]:
    """The classes of rows that a function loads, to put what it is handed into them: `row.content = text`."""
    for node in here.nodes_of(cst.Assign):
        target, value = node.targets[0].target, ex.inner(node.value)
        given = isinstance(value, cst.Name) and value.value in parameter_names(here)
        row = anatomy.facts.slots.of(target.value) if given and isinstance(target, cst.Attribute) else None
        for loaded in anatomy.facts.assigned(row):
            call = ex.inner(loaded)
            if isinstance(call, cst.Call):
                yield from (name for name in _handed(anatomy, call).read if name[:1].isupper())


def lasting_places(
    anatomy: Anatomy, nodes: Iterable[cst.CSTNode], holding: Callable[[Anatomy, cst.BaseExpression], bool] | None = None
) -> Iterator[str]:
    """The attributes and globals among some nodes, and what calls name in them, as `inside` has them.

    With `holding` only those that hold such a value.
    """
    for node in nodes:
        if holding is None and isinstance(node, cst.Call):
            yield from named_in(anatomy, node)
        slot = anatomy.facts.slots.of(node) if isinstance(node, (cst.Name, cst.Attribute)) else None
        there, values = anatomy, list[cst.BaseExpression]()
        if slot is not None and _outlives(anatomy.module, slot):
            values = anatomy.facts.assigned(slot)
        if not values and holding is not None and isinstance(node, cst.BaseExpression):
            there, slot = anatomy.imported_value(ex.dotted(node) or "") or (anatomy, None)
            values = there.facts.assigned(slot)
        if slot is not None and (values if holding is None else any(holding(there, value) for value in values)):
            yield f"{there.module.path} {slot[2]}"


def _outlives(module: SourceModule, slot: Slot) -> bool:
    """Whether a place is there when the function has ended that speaks of it: an attribute or a global."""
    return slot[0] == "attr" or (slot[0] == "var" and slot[1] is module.top)


def named_in(anatomy: Anatomy, call: cst.Call) -> Iterator[str]:
    """What the object of a call names in an attribute or a global: `db.collection("talks")`, `db["talks"]`."""
    names: list[str] = []
    base = ex.receiver(call)
    while base is not None:
        slot = anatomy.facts.slots.of(base) if isinstance(base, (cst.Name, cst.Attribute)) else None
        if slot is not None and _outlives(anatomy.module, slot):
            yield from [f"{anatomy.module.path} {'.'.join([slot[2], *reversed(names)])}"] if names else ()
            return
        given = [arg.value for arg in base.args] if isinstance(base, cst.Call) else [ex.index(base)]
        names += [text for value in reversed(given) if value is not None and (text := ex.text(value)) is not None]
        if isinstance(base, cst.Call):
            base = ex.receiver(base)
        else:
            base = base.value if isinstance(base, (cst.Subscript, cst.Attribute)) else None


def chain(call: cst.Call) -> list[cst.Call]:
    """A call, and those of whose results it is a method: `db.table("t").insert(row).execute()`."""
    found = [call]
    while isinstance(base := ex.receiver(found[-1]), cst.Call):
        found.append(base)
    return found


def _named_first(call: cst.Call) -> frozenset[str]:
    """What the first call of a chain names, of whatever object: `notes` of `db.table("notes").select().execute()`.

    And what the same link names again: `town.talk` of `db.collection("town").document(key).collection("talk").get()`.
    """
    steps = chain(call)[::-1]
    if len(steps) < 2 or ex.receiver(steps[0]) is None:
        return frozenset()
    same = (step for step in steps if ex.called_name(step) == ex.called_name(steps[0]) and len(step.args) == 1)
    names = [ex.text(step.args[0].value) for step in same]
    return frozenset({".".join(filter(None, names))}) if names and all(names) else frozenset()


def _goes_on(anatomy: Anatomy, call: cst.Call) -> bool:
    """Whether a call is a step of a chain that says more: `delete(Line)` of `delete(Line).where(...)`."""
    outer = anatomy.module.parent[call]
    return isinstance(outer, cst.Attribute) and isinstance(anatomy.module.parent[outer], cst.Call)


def _takes_row(anatomy: Anatomy, call: cst.Call) -> bool:
    """Whether a chain of calls is made for what it does, or is handed a row, and not what picks some."""
    given = (ex.inner(arg.value) for each in chain(call) for arg in each.args)
    return isinstance(anatomy.module.awaiting(call), cst.Expr) or any(isinstance(value, cst.Dict) for value in given)


@kept
def _handed(anatomy: Anatomy, call: cst.Call) -> Touched:
    """What stands in a call itself: statements of SQL, keys, classes of rows."""
    inner = [one for one in walk(call) if isinstance(one, cst.Call)]
    deletes = any(ex.called_name(one) == "delete" for one in inner)
    members = {arg.value for one in inner if _reads_member(anatomy, one) for arg in one.args}
    told = joined(
        part
        for node in _telling(anatomy, call, inner)
        for part in (*_by_texts(anatomy, node, is_member=node in members), *_by_class(anatomy, node, deletes=deletes))
    )
    made, named = frozenset(filter(None, [_row(anatomy, call.func)])), _named_first(call)
    outside = told.outside | {*lasting_places(anatomy, _opened(call))} | {*_found_for(anatomy, call)}
    by, gone = told.by, told.gone
    if (columns := _picked_by(inner, whole=deletes)) is not None and not (deletes and _goes_on(anatomy, call)):
        picked = {(row, columns) for row in (*named, *(row for row in told.read if row[:1].isupper()))}
        by, gone = (by, gone | picked) if deletes else (by | picked, gone)
    base, objects = ex.receiver(call), frozenset[str]()
    if base is not None and not outside | told.read | told.made | made | told.over and _may_be_keyed(anatomy, call):
        objects = frozenset(lasting_places(anatomy, [base], _is_of_library))
    put = objects if isinstance(anatomy.module.awaiting(call), cst.Expr) else frozenset[str]()
    put |= named if _takes_row(anatomy, call) else frozenset()
    got = (objects | named) - put
    return replace(told, outside=outside, made=told.made | made, put=put, got=got, by=by, gone=gone)


def _telling(anatomy: Anatomy, call: cst.Call, inner: list[cst.Call]) -> Iterator[cst.CSTNode]:
    """What stands in a call, but for how something is written, and what a part of it is called."""
    forms: set[cst.CSTNode] = {arg.value for one in inner for arg in one.args if _says_form(one, arg)}
    asking = (one for one in inner if _asks_environment(anatomy, one) or ex.called_name(one) in _LOOKS_AT)
    forms |= {node for one in asking for arg in one.args for node in walk(arg.value)}
    for node in (node for value in ex.handed(call) for node in _beside_messages(value)):
        outer = anatomy.module.parent.get(node)
        is_key = isinstance(outer, cst.DictElement) and outer.key is node
        if node not in forms and type(outer) not in _TESTS and not is_key:
            yield node


def _by_texts(anatomy: Anatomy, node: cst.CSTNode, *, is_member: bool) -> Iterator[Touched]:
    """What the keys and statements say that an expression is, or that are made for it."""
    made = (each for each in (node, *_put_together(anatomy, node)) if isinstance(each, _TEXTS))
    texts = [text for each in made for text in _texts(each)]
    yield Touched(frozenset(text for text in texts if _is_key(text) and not (is_member and text.isidentifier())))
    for text in (*texts, *_statements(anatomy, node)):
        said = Statement(text)
        by = frozenset((table, said.picked_by) for table in said.read)
        gone = by if said.verb == "delete" and said.takes_all else frozenset()
        added = frozenset({said.table} if said.verb == "insert" else ())
        yield Touched(read=said.read, made=said.made, over=said.over, added=added, by=by, gone=gone)


def _by_class(anatomy: Anatomy, node: cst.CSTNode, *, deletes: bool) -> Iterator[Touched]:
    """What is done to the rows of a class that an expression names."""
    row = _row(anatomy, node) if isinstance(node, (cst.Name, cst.Attribute)) else None
    if row is not None:
        outer, rows = anatomy.module.parent.get(node), frozenset({row})
        is_made = isinstance(outer, cst.Call) and outer.func is node
        yield Touched(made=rows) if is_made else Touched(read=rows)
        if isinstance(outer, cst.Attribute) and not deletes and _may_make(anatomy, node):
            yield Touched(made=rows)


@once(circular=False)
def _asks_environment(anatomy: Anatomy, call: cst.Call) -> bool:
    """`os.getenv("REDIS_URL", "localhost")`, by a helper, too: a setting and its default are no places."""
    if anatomy.module.imports.resolve(ex.dotted(call.func) or "") in {"os.getenv", "os.environ.get"}:
        return True
    callee = anatomy.facts.slots.callee(call)
    inner = callee.nodes_of(cst.Call) if callee is not None and callee.owner is None else ()
    asking = (each for each in inner if _asks_environment(anatomy, each))
    return any(isinstance(arg.value, cst.Name) and callee is not None and arg.value.value in parameter_names(callee)
               for each in asking for arg in each.args)  # fmt: skip


def _may_make(anatomy: Anatomy, row: cst.CSTNode) -> bool:
    """`Message.objects.create(...)`: whether what is read of a class of rows may make one.

    A column does not, in what picks or orders rows: `select(Message).order_by(Message.created_at.asc())`.
    """
    parent, steps = anatomy.module.parent, 0
    while isinstance(outer := parent[row], cst.Attribute):
        row, steps = outer, steps + 1
    if isinstance(outer, cst.Call) and outer.func is row:
        return bool(outer.args) and not isinstance(parent[outer], cst.Arg)
    return isinstance(outer, cst.Arg) and steps > 1  # `in_thread(Message.objects.create)`


def _picked_by(calls: Iterable[cst.Call], *, whole: bool) -> frozenset[str] | None:
    """The columns by which a query picks rows: `filter(Line.talk == key)`, `filter(talk=key)`, `eq("talk", key)`.

    With `whole`, None if it does not mean all that have them.
    """
    columns: set[str] = set()
    for call in calls:
        if whole and ex.called_name(call) in _NARROWS:
            return None
        for arg in call.args:
            value = arg.value
            if arg.keyword is not None:
                columns.add(arg.keyword.value)
            elif isinstance(value, cst.Comparison):
                if whole and not isinstance(value.comparisons[0].operator, cst.Equal):
                    return None
                columns.add(ex.last_name(value.left))
        if ex.called_name(call) == "eq" and call.args and (column := ex.text(call.args[0].value)) is not None:
            columns.add(column)
    return frozenset(columns)


def _may_be_keyed(anatomy: Anatomy, call: cst.Call) -> bool:
    """`pool.rpush(key, text)`, `x = pool.get(key)`: something is put under a key, or given, and no step to that."""
    outer = anatomy.module.awaiting(call)
    return not isinstance(outer, cst.Attribute) and len(ex.positional(call)) > isinstance(outer, cst.Expr)


def _beside_messages(value: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """What stands in a value, without the messages in it: what those say tells of no place."""
    queue = [value]
    for node in queue:
        if not isinstance(node, cst.Dict) or _OF_MESSAGES.isdisjoint(ex.dict_items(node)):
            yield node
            queue += children(node)


def _is_of_library(anatomy: Anatomy, value: cst.BaseExpression) -> bool:
    """Whether an object is made by an installed package: what it is given under a key, it may give again."""
    called = ex.dotted(value.func) if isinstance(value, cst.Call) else None
    package = anatomy.module.imports.resolve(called or "").partition(".")[0]
    known = called is not None and package != called and package not in sys.stdlib_module_names
    return known and anatomy.defined_elsewhere(called or "", "") is None


def _opened(call: cst.Call) -> Iterator[cst.BaseExpression]:
    """The path of the file that a call opens: `open(self.path, "a")`, `self.path.read_text()`."""
    if ex.called_name(call) in _OPENS:
        base = ex.receiver(call)
        yield from (base,) if base is not None else ()
        yield from (arg.value for arg in call.args[:1])


def _found_for(anatomy: Anatomy, call: cst.Call) -> Iterator[str]:
    """What the file is called that a function of the project finds for a call: `path_of(key).write_text(line)`."""
    for place in _opened(call):
        for value in (place, *anatomy.facts.values_of(place)):
            found = body(anatomy, ex.inner(value)) if isinstance(ex.inner(value), cst.Call) else None
            yield from _within(*found).outside if found is not None else ()


def _put_together(anatomy: Anatomy, node: cst.CSTNode) -> list[cst.BaseExpression]:
    """The key that a name stands for, or a function of the file gives: `key = f"talk:{name}"`, `key_of(name)`."""
    if isinstance(node, cst.Call):
        callee = anatomy.facts.slots.callee(node)
        made = callee.returned if callee is not None else []
    else:
        slot = anatomy.facts.slots.of(node) if isinstance(node, cst.Name) else None
        made = anatomy.facts.assigned(slot)
    return made if all(isinstance(each, cst.FormattedString) for each in made) else []


def _says_form(call: cst.Call, arg: cst.Arg) -> bool:
    """`open(path, encoding="utf-8")`, `text.encode("utf-8")`: how something is written, and not where."""
    return (arg.keyword is not None and arg.keyword.value in _OF_FORM) or ex.called_name(call) in {"encode", "decode"}


def _reads_member(anatomy: Anatomy, call: cst.Call) -> bool:
    """`getattr(x, "k")`, and `x.get("k")` of what the function has at hand: a part of a value, and no store's key.

    Nor is the name of a variable of the environment: `os.getenv("k")`.
    """
    base = ex.receiver(call)
    if ex.called_name(call) == "getenv" or (base is not None and ex.last_name(base) == "environ"):
        return True
    if isinstance(call.func, cst.Name):
        return call.func.value in {"getattr", "hasattr", "setattr"}
    if ex.called_name(call) not in {"get", "pop", "setdefault"} or isinstance(anatomy.module.parent[call], cst.Await):
        return False
    module = anatomy.module
    base = ex.inner(base.left) if isinstance(base, cst.BooleanOperation) else base  # `(found or {}).get("k")`
    while isinstance(base, cst.Subscript | cst.Attribute):
        base = base.value
    around = module.scope_binding(module.scope_of[base], base.value) if isinstance(base, cst.Name) else None
    return around is not None and around is not module.top


def _texts(node: cst.BaseString) -> Iterator[str]:
    """The texts that stand in a string, between its substitutions."""
    if isinstance(node, cst.FormattedString):
        yield from (part.value for part in node.parts if isinstance(part, cst.FormattedStringText))
    elif (text := ex.text(node)) is not None:
        yield text


def _statements(anatomy: Anatomy, node: cst.CSTNode) -> Iterator[str]:
    """The statements of SQL that a name stands for: `query = "SELECT ..." if limit else "SELECT ..."`."""
    slot = anatomy.facts.slots.of_name(node)
    yield from _statements_in(anatomy, slot) if slot is not None else ()


@kept
def _statements_in(anatomy: Anatomy, slot: Slot) -> list[str]:
    parts = (part for value in anatomy.facts.assigned(slot) for part in walk(value) if isinstance(part, _TEXTS))
    return [text for part in parts for text in _texts(part) if is_begun(text)]


def _is_key(text: str) -> bool:
    """`chat:history:`, `talks.json`: what may be a key or the name of a file, no prose, no markup, and no server."""
    return len(text) > 2 and _KEY.fullmatch(text) is not None and _SERVER.fullmatch(text) is None


def _row(anatomy: Anatomy, node: cst.BaseExpression) -> str | None:
    """The class of the project that an expression names, if rows of a table come as its objects."""
    name = ex.dotted(node) or ""
    last = name.rpartition(".")[2]
    if not last[:1].isupper():
        return None
    if anatomy.module.class_named(name) is not None:
        return last if any(full.startswith(TABLES) for full in anatomy.module.imports.full.values()) else None
    found = anatomy.defined_elsewhere(name, "class")
    return last if found is not None and any(table.encode() in found[0].source for table in TABLES) else None
