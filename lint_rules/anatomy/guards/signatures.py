"""What a value tells of tool calls: which parts of them it is made of, and in what form.

`(call.name, json.dumps(args))` is made of a name and of arguments as text. Variables, helper functions, comprehensions
and text are followed back to the calls.
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from lint_rules.anatomy.calls.call_places import LISTS
from lint_rules.anatomy.guards.call_parts import (
    OF_CALLS,
    SAYS_NOTHING,
    Bound,
    CallParts,
    Comprehension,
    Part,
    Path,
    elements,
)
from lint_rules.anatomy.program.call_graph import CallGraph
from lint_rules.anatomy.values.kinds import Kind
from lint_rules.anatomy.values.slots import Slot
from lint_rules.syntax import exceptions
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.memo import DEEPEST
from lint_rules.syntax.module import Scope, parameters
from lint_rules.syntax.record import record
from lint_rules.syntax.walk import children

_LONGEST = 5
"""Steps of a path: what lies deeper in records of records is unknown; `xs = (xs, x)` would have no end."""
_MOST_SITES = 4

_TEXT_MAKERS = frozenset({"str", "repr", "format"})
_ORDERED = frozenset({"sorted", "frozenset", "set"})
_FOLLOWED = LISTS | frozenset(
    {
        "hash", "map", "zip", "enumerate", "reversed", "dict", "deepcopy", "copy", "next", "iter", "max", "min",
        "namedtuple", "deque", "Counter", "join",
    }
)  # fmt: skip
_TAKERS = frozenset({"next", "max", "min", "pop", "popleft"})
_HASHES = frozenset(
    {"md5", "sha1", "sha224", "sha256", "sha384", "sha512", "blake2b", "blake2s", "sha3_256", "crc32", "adler32"}
)
"""Functions that make a number or text of bytes. Source: hashlib and zlib of the standard library."""
_FOLLOWED_METHODS = frozenset(
    {
        "encode", "hexdigest", "digest", "strip", "lower", "upper", "casefold", "join", "format", "get", "pop",
        "popleft", "items", "values", "keys", "copy", "model_dump", "to_dict", "dict", "model_dump_json", "replace",
        "setdefault", "split", "rstrip", "lstrip", "most_common",
    }
)  # fmt: skip


@record
class Made:
    """One part: where it is taken from a call (`node`), and what made text of it (`maker`, None for other forms)."""

    part: Part
    node: cst.BaseExpression
    maker: cst.BaseExpression | None = None


class Signature:
    """What one value is made of. `slots` are the variables on the way, `past` the histories it was taken from.

    `opaque` says that something on the way could not be followed: there may be more in the value.
    """

    def __init__(self) -> None:
        self.made: list[Made] = []
        self.slots: list[Slot] = []
        self.past: list[cst.BaseExpression] = []
        self.opaque = False

    @property
    def parts(self) -> set[Part]:
        return {made.part for made in self.made}

    def of(self, *parts: Part) -> list[Made]:
        return [made for made in self.made if made.part in parts]

    @property
    def tells_call(self) -> bool:
        """Whether it says anything of what was called (an id does not)."""
        return not OF_CALLS.isdisjoint(self.parts)


_Wrap = tuple[Part, cst.BaseExpression] | None


class Signatures(CallParts):
    """Makes signatures of the expressions of one file."""

    def __init__(self, graph: CallGraph) -> None:
        super().__init__(graph)
        self._made: dict[tuple[cst.CSTNode, bool], Signature] = {}

    def of(self, node: cst.BaseExpression, *, stored: bool = False) -> Signature:
        """The signature of a value; with `stored`, of what is put into the set, list or dict that it is."""
        key = (node, stored)
        if key not in self._made:
            trace = _Trace(self)
            trace.follow(node, 0, {}, None, stored=stored)
            self._made[key] = trace.found
        return self._made[key]


class _Trace:
    """One way back from a value to what it is made of; `inside` are the helpers whose results are being followed."""

    def __init__(self, signatures: Signatures, inside: frozenset[Scope] = frozenset()) -> None:
        self._all = signatures
        self._inside = inside
        self._facts = signatures.facts
        self._seen: set[tuple[Slot, _Wrap, bool, Path]] = set()
        self.found = Signature()

    def follow(
        self, node: cst.CSTNode, depth: int, bound: Bound, wrap: _Wrap, *, stored: bool = False, path: Path = ()
    ) -> None:
        """Notes the parts of `node`; with `stored`, of what is in the container that it is.

        With a `path`, those of what is read there: of `{"name": a, "args": b}`, `b` is the part at `("args",)`.
        """
        if depth > DEEPEST or len(path) > _LONGEST:
            self.found.opaque = True
            return
        if self._inside and self.found.opaque:  # nothing is taken from an opaque helper
            return
        if isinstance(node, cst.BaseExpression):
            node = ex.inner(node)
            parts = self._all.parts_at(node, bound)
            for part in self._all.below(parts, path) if parts is not None else ():
                self._add(part, node, bound, wrap)
            if parts is not None:
                return
        if isinstance(node, cst.Call) and ex.member(node) is None:
            self._call(node, depth, bound, wrap, stored, path)
        elif isinstance(node, cst.FormattedStringExpression):
            self.follow(node.expression, depth, bound, wrap or (Part.DUMPED, node.expression))
        elif isinstance(node, Comprehension):
            taken = self._all.taken_from_arguments(node)
            if taken is not None:
                self._add(taken, node, bound, wrap)
            for element in elements(node) if taken is None else ():
                self.follow(element, depth, bound, wrap, path=_of_element(path))
        elif isinstance(node, cst.IfExp):
            self.follow(node.body, depth, bound, wrap, path=path)
            self.follow(node.orelse, depth, bound, wrap, path=path)
        elif isinstance(node, (cst.Name, cst.Attribute, cst.Subscript, cst.Call)):
            before = len(self.found.made)
            self._place(node, depth, bound, wrap, stored, path)
            if node in self._facts.told(("dict", True)) or node in self._facts.told(("str", False)):
                self._parsed(node, before, wrap)
        elif not isinstance(node, (cst.Comparison, cst.Lambda)):
            for child, below in self._children(node, path):
                self.follow(child, depth, bound, wrap, path=below)

    def _children(self, node: cst.CSTNode, path: Path) -> Iterator[tuple[cst.CSTNode, Path]]:
        """What a value is put together of, and which part of each is read at a path."""
        key = path[0] if path else None
        if isinstance(node, cst.Dict) and isinstance(key, str):
            held = [(value, path[1:]) for name, value in ex.dict_items(node).items() if name == key]
            spread = [each.value for each in node.elements if isinstance(each, cst.StarredDictElement)]
            yield from held or ((value, path) for value in spread)
        elif isinstance(node, cst.Tuple) and isinstance(key, int) and 0 <= key < len(node.elements):
            yield node.elements[key].value, path[1:]
        else:
            yield from ((child, _of_element(path)) for child in children(node))

    def _add(self, part: Part, node: cst.BaseExpression, bound: Bound, wrap: _Wrap = None) -> None:
        self._note_way(node, bound)
        if wrap is not None and (part is Part.VALUES or (part in {Part.TEXT, Part.EITHER} and _is_dump(wrap[1]))):
            self.found.made.append(Made(wrap[0], node, wrap[1]))
        else:  # text that is put into other text stays what it is
            self.found.made.append(Made(part, node))

    # -- names ----------------------------------------------------------------------------------------------------

    def _place(self, node: cst.BaseExpression, depth: int, bound: Bound, wrap: _Wrap, stored: bool, path: Path) -> None:
        slot = self._facts.slots.of(node)
        if slot is not None and slot in bound:
            value, outer = bound[slot]
            self.follow(value, depth + 1, outer, wrap, stored=stored, path=path)
            return
        pair = ex.member(node)
        if isinstance(node, cst.Subscript) and pair is None:
            # an element of a list, or some of them: what is put into it
            if self._entries(node.value, depth, bound, wrap, path):
                return
            at = path if ex.slice_of(node) is not None else (ex.integer(ex.index(node)), *path)
            self.follow(node.value, depth, bound, wrap, stored=True, path=at)
        if slot is None or (slot, wrap, stored, path) in self._seen:
            return
        self._seen.add((slot, wrap, stored, path))
        values = [value for value in self._facts.assigned(slot) if value is not node]
        ways = [(value, path) for value in [*values, *self._all.fields_set.get(slot, ())]]
        puts = self._all.puts.get(slot, []) if stored or any(_is_empty(value) for value in values) else []
        ways += [(value, _of_element(path)) for value in puts]
        ways += [(value, (place, *path)) for value, place in self._facts.unpacked(slot)]
        if path and isinstance(path[0], str) and path[0] in self._facts.members(slot):
            ways.append((self._facts.members(slot)[path[0]], path[1:]))
        if ways:
            self.found.slots.append(slot)
        for value, at in ways:
            self.follow(value, depth + 1, bound, wrap, stored=stored, path=at)
        sources = self._all.sources(slot)
        for source, taken in sources:
            self.follow(source, depth + 1, bound, wrap, stored=True, path=(*taken, *path))
        if not ways and not sources:
            if slot[0] == "var":
                self._parameter(slot, depth, wrap, stored, path)
            elif pair is not None:
                self.follow(pair[0], depth, bound, wrap, stored=stored, path=(pair[1], *path))

    def _entries(self, base: cst.BaseExpression, depth: int, bound: Bound, wrap: _Wrap, path: Path) -> bool:
        """What is read of a dict under some key: the values that are put there, if any are."""
        slot = self._facts.slots.of(base)
        entries = self._all.entries.get(slot, ()) if slot is not None else ()
        for value in entries:
            self.follow(value, depth + 1, bound, wrap, path=path)
        if entries and slot is not None:
            self.found.slots.append(slot)
        return bool(entries)

    def _parameter(self, slot: Slot, depth: int, wrap: _Wrap, stored: bool, path: Path) -> None:
        """What the callers in this file pass; what an error says is no part of a call."""
        if any(exceptions.bound_name(handler) == slot[2] for handler in slot[1].nodes_of(cst.ExceptHandler)):
            return
        if slot[2] not in {param.name.value for param in parameters(slot[1])}:
            self.found.opaque = True
            return
        sites = self._all.graph.sites[slot[1]]
        if not sites:
            self.found.opaque = True
        for site in sites[:_MOST_SITES]:
            for into, value in self._facts.slots.bindings(site.node, slot[1]):
                if into == slot:
                    self.follow(value, depth + 1, {}, wrap, stored=stored, path=path)

    def _note_way(self, node: cst.BaseExpression, bound: Bound) -> None:
        """The variables that a part came through, and the history it was taken from."""
        here: cst.BaseExpression | None = node
        for _ in range(DEEPEST):
            if here is None:
                return
            here = ex.inner(here)
            if Kind.HISTORY in self._facts.kinds(here) and here is not node:
                self.found.past.append(here)
                return
            slot = self._facts.slots.of(here)
            if isinstance(here, (cst.Name, cst.Attribute)) and slot is not None and slot not in bound:
                self.found.slots.append(slot)
            here = self._came_from(here, bound)

    def _came_from(self, node: cst.BaseExpression, bound: Bound) -> cst.BaseExpression | None:
        slot = self._facts.slots.of(node)
        if slot is not None and slot in bound:
            return bound[slot][0]
        if slot is not None and slot in self._all.loops:
            return self._all.loops[slot]
        if isinstance(node, cst.Name) and slot is not None:
            values = [v for v in self._facts.assigned(slot) if not (isinstance(v, cst.Name) and v.value == "None")]
            if len(values) == 1:
                return values[0]
            sites = self._all.graph.sites[slot[1]] if slot[0] == "var" else []
            for site in sites[:1] if not values else ():
                return next((v for into, v in self._facts.slots.bindings(site.node, slot[1]) if into == slot), None)
            return None
        if isinstance(node, (cst.Attribute, cst.Subscript)):
            return node.value
        if isinstance(node, cst.BooleanOperation):
            return node.left
        if isinstance(node, (cst.GeneratorExp, cst.ListComp)):
            return node.for_in.iter
        if isinstance(node, cst.Call):
            pair = ex.member(node)
            if pair is not None:
                return pair[0]
            return node.args[0].value if node.args else None
        return None

    # -- calls and comprehensions -----------------------------------------------------------------------------------

    def _call(self, node: cst.Call, depth: int, bound: Bound, wrap: _Wrap, stored: bool, path: Path) -> None:
        name, base = ex.called_name(node), ex.receiver(node)
        if name in SAYS_NOTHING and base is None:
            if name in {"any", "all"}:
                self.found.opaque = True
            return
        callee = self._facts.slots.callee(node)
        if callee is not None and callee.name != "__init__":
            if self._helper(node, callee, depth, bound, wrap, path):
                return
        record = self._all.record(node)
        if record is not None:
            for value, below in _read(record, path):
                self.follow(value, depth, bound, wrap, path=below)
            return
        if self._facts.decoder(node) is not None and node.args:
            self.found.opaque = self.found.opaque or any(isinstance(key, str) for key in path)
            before = len(self.found.made)
            self.follow(node.args[0].value, depth, bound, None)
            self._parsed(node, before, wrap)
            return
        if self._facts.encoder(node) is not None:
            wrap, path = (Part.SORTED if self._sorts(node) else Part.DUMPED, node), ()
        elif name in _TEXT_MAKERS and base is None:
            wrap, path = (Part.DUMPED, node), ()
        elif self._all.takes_fields(node):
            self._add(Part.FIELDS, node, bound)
            return
        elif name in _ORDERED and base is None:
            wrap = (Part.SORTED, node) if wrap is not None else None
        elif name not in _FOLLOWED | _HASHES and not (base is not None and name in _FOLLOWED_METHODS):
            self.found.opaque = True  # what another function makes of its arguments says nothing of them
            return
        if base is not None and name in {"get", "pop"} and node.args and self._entries(base, depth, bound, wrap, path):
            return
        if base is not None and name not in {"dumps", "loads"} and not self._is_module(base):
            taken = stored or name in {"get", "pop", "popleft", "values"}
            self.follow(base, depth, bound, wrap, stored=taken, path=(None, *path) if name in _TAKERS else path)
        for arg in node.args:
            at = (None, *path) if name in _TAKERS else path
            self.follow(arg.value, depth, bound, wrap, stored=stored or (base is None and name in LISTS), path=at)

    def _parsed(self, node: cst.BaseExpression, before: int, wrap: _Wrap) -> None:
        """Notes that the arguments found since `before` are parsed at a node."""
        for index in range(before, len(self.found.made)):
            if self.found.made[index].part in {Part.TEXT, Part.EITHER, Part.DUMPED}:
                self.found.made[index] = Made(wrap[0], node, wrap[1]) if wrap else Made(Part.VALUES, node)

    def _helper(self, node: cst.Call, callee: Scope, depth: int, bound: Bound, wrap: _Wrap, path: Path) -> bool:
        """What a function of this file makes of its arguments; False if it returns nothing.

        Where a part of it cannot be followed, it is no signature but the work of the function: a tool's result.
        """
        inner = {slot: (value, bound) for slot, value in self._facts.slots.bindings(node, callee)}
        returned = callee.returned
        if isinstance(callee.node, cst.Lambda):
            returned = [callee.node.body]
        if callee in self._inside:
            self.found.opaque = True
            return bool(returned)
        trace = _Trace(self._all, self._inside | {callee})
        for value in returned:
            trace.follow(value, depth + 1, inner, wrap, path=path)
        if trace.found.opaque:
            self.found.opaque = True
        else:
            self.found.made += trace.found.made
        self.found.slots += trace.found.slots
        self.found.past += trace.found.past
        return bool(returned)

    def _is_module(self, base: cst.BaseExpression) -> bool:
        """`hashlib` in `hashlib.sha1(...)`: what is called belongs to a module, which has no part in it."""
        return ex.dotted(base) in self._facts.module.imports.full

    def _sorts(self, node: cst.Call) -> bool:
        """Whether an encoder sorts the keys, as far as can be seen: options that are passed on count.

        So does a dict that has them in order, also of a function of this file: `{k: d[k] for k in sorted(d)}`.
        """
        option = ex.argument(node, "sort_keys") or ex.argument(node, "option")
        if any(arg.star for arg in node.args) or (option is not None and ex.dotted(option) != "False"):
            return True
        value = ex.inner(node.args[0].value) if node.args else node
        callee = self._facts.slots.callee(value) if isinstance(value, cst.Call) else None
        made = [value] if callee is None else callee.returned
        return any(isinstance(each, cst.DictComp) and _is_sorted(each.for_in.iter) for each in made)


def _of_element(path: Path) -> Path:
    """What is read of each element, where a path leads into a list."""
    return path[1:] if path and not isinstance(path[0], str) else path


def _read(record: dict[str, cst.BaseExpression], path: Path) -> Iterator[tuple[cst.BaseExpression, Path]]:
    """What is read of an object that holds just what it was made with."""
    key = path[0] if path else None
    if key is None:
        yield from ((value, path[1:]) for value in record.values())
    elif isinstance(key, str):
        yield from ((value, path[1:]) for name, value in record.items() if name == key)
    else:
        yield from ((value, path[1:]) for value in [*record.values()][key : key + 1])


def _is_empty(node: cst.BaseExpression) -> bool:
    """`[]`, `list()`, `set()`, `sha256()`: what it holds is put into it later."""
    if isinstance(node, cst.Call):
        is_list = ex.dotted(node.func) in {"list", "set", "deque", "Counter", "collections.Counter"}
        return not ex.positional(node) and (is_list or ex.called_name(node) in _HASHES)
    return isinstance(node, cst.List) and not node.elements


def _is_dump(node: cst.BaseExpression) -> bool:
    return isinstance(node, cst.Call) and ex.called_name(node) == "dumps"


def _is_sorted(node: cst.BaseExpression) -> bool:
    return isinstance(node, cst.Call) and ex.dotted(node.func) == "sorted"
