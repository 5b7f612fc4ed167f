"""What a value tells of tool calls: which parts of them it is made of, and in what form.

`(call.name, json.dumps(args))` is made of a name and of arguments as text. Variables, helper functions, comprehensions
and text are followed back to the calls.
"""

from __future__ import annotations

import libcst as cst

from lint_rules.anatomy.calls.call_places import LISTS
from lint_rules.anatomy.guards.call_parts import OF_CALLS, Bound, CallParts, Comprehension, Part, elements
from lint_rules.anatomy.program.call_graph import CallGraph
from lint_rules.anatomy.values.kinds import Kind
from lint_rules.anatomy.values.slots import Slot
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.exceptions import bound_name
from lint_rules.syntax.module import Scope, parameters
from lint_rules.syntax.record import record
from lint_rules.syntax.walk import children

_DEEPEST = 12
_MOST_SITES = 4

_SAYS_NOTHING = frozenset({"len", "bool", "isinstance", "type", "callable", "any", "all"})
_TEXT_MAKERS = frozenset({"str", "repr", "format"})
_ORDERED = frozenset({"sorted", "frozenset", "set"})
_FOLLOWED = LISTS | frozenset(
    {
        "hash", "map", "zip", "enumerate", "reversed", "dict", "deepcopy", "copy", "next", "iter", "max", "min",
        "namedtuple", "deque", "Counter", "join",
    }
)  # fmt: skip
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
        self._seen: set[tuple[Slot, _Wrap, bool]] = set()
        self.found = Signature()

    def follow(self, node: cst.CSTNode, depth: int, bound: Bound, wrap: _Wrap, *, stored: bool = False) -> None:
        """Notes the parts of `node`; with `stored`, of what is in the container that it is."""
        if depth > _DEEPEST:
            self.found.opaque = True
        if depth > _DEEPEST or (self._inside and self.found.opaque):  # nothing is taken from an opaque helper
            return
        if isinstance(node, cst.BaseExpression):
            node = ex.inner(node)
            parts = self._all.parts_at(node, bound)
            for part in parts or ():
                self._add(part, node, bound, wrap)
            if parts is not None:
                return
        if isinstance(node, cst.Call):
            self._call(node, depth, bound, wrap, stored)
        elif isinstance(node, cst.FormattedStringExpression):
            self.follow(node.expression, depth + 1, bound, wrap or (Part.DUMPED, node.expression))
        elif isinstance(node, Comprehension):
            taken = self._all.taken_from_arguments(node)
            if taken is not None:
                self._add(taken, node, bound, wrap)
            for element in elements(node) if taken is None else ():
                self.follow(element, depth + 1, bound, wrap)
        elif isinstance(node, cst.IfExp):
            self.follow(node.body, depth + 1, bound, wrap)
            self.follow(node.orelse, depth + 1, bound, wrap)
        elif isinstance(node, (cst.Name, cst.Attribute, cst.Subscript)):
            self._place(node, depth, bound, wrap, stored)
        elif not isinstance(node, (cst.Comparison, cst.Lambda)):
            for child in children(node):
                self.follow(child, depth, bound, wrap)

    def _add(self, part: Part, node: cst.BaseExpression, bound: Bound, wrap: _Wrap = None) -> None:
        self._note_way(node, bound)
        if wrap is not None and (part is Part.VALUES or (part in {Part.TEXT, Part.EITHER} and _is_dump(wrap[1]))):
            self.found.made.append(Made(wrap[0], node, wrap[1]))
        else:  # text that is put into other text stays what it is
            self.found.made.append(Made(part, node))

    # -- names ----------------------------------------------------------------------------------------------------

    def _place(
        self, node: cst.Name | cst.Attribute | cst.Subscript, depth: int, bound: Bound, wrap: _Wrap, stored: bool
    ) -> None:
        slot = self._facts.slots.of(node)
        if slot is not None and slot in bound:
            value, outer = bound[slot]
            self.follow(value, depth + 1, outer, wrap, stored=stored)
            return
        at = ex.index(node)
        if isinstance(node, cst.Subscript) and (at is None or ex.text(at) is None):
            # an element of a list, or some of them: what is put into it
            self.follow(node.value, depth + 1, bound, wrap, stored=True)
        if slot is None or (slot, wrap, stored) in self._seen:
            return
        self._seen.add((slot, wrap, stored))
        values = [value for value in self._facts.assigned(slot) if value is not node]
        puts = self._all.puts.get(slot, []) if stored or any(_is_empty(value) for value in values) else []
        source = self._all.loops.get(slot)
        if values or puts:
            self.found.slots.append(slot)
        for value in [*values, *puts]:
            self.follow(value, depth + 1, bound, wrap, stored=stored)
        if source is not None:
            self.follow(source, depth + 1, bound, wrap, stored=True)
        elif not values and not puts and not self._is_error(node):
            if slot[0] == "var":
                self._parameter(slot, depth, wrap, stored)
            elif isinstance(node, cst.Attribute) or (at is not None and ex.text(at) is not None):
                self.found.opaque = True

    def _is_error(self, node: cst.CSTNode) -> bool:
        """The error in `except ValueError as exc: return {"error": str(exc)}`: it is about what was parsed."""
        around = (outer for outer in self._facts.module.ancestors(node) if isinstance(outer, cst.ExceptHandler))
        return isinstance(node, cst.Name) and node.value in map(bound_name, around)

    def _parameter(self, slot: Slot, depth: int, wrap: _Wrap, stored: bool) -> None:
        """What the callers in this file pass."""
        if slot[2] not in {param.name.value for param in parameters(slot[1])}:
            self.found.opaque = True
            return
        sites = self._all.graph.sites[slot[1]]
        if not sites:
            self.found.opaque = True
        for site in sites[:_MOST_SITES]:
            for into, value in self._facts.slots.bindings(site.node, slot[1]):
                if into == slot:
                    self.follow(value, depth + 2, {}, wrap, stored=stored)

    def _note_way(self, node: cst.BaseExpression, bound: Bound) -> None:
        """The variables that a part came through, and the history it was taken from."""
        here: cst.BaseExpression | None = node
        for _ in range(_DEEPEST):
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
        if isinstance(node, (cst.GeneratorExp, cst.ListComp)):
            return node.for_in.iter
        if isinstance(node, cst.Call):
            pair = ex.member(node)
            if pair is not None:
                return pair[0]
            return node.args[0].value if node.args else None
        return None

    # -- calls and comprehensions -----------------------------------------------------------------------------------

    def _call(self, node: cst.Call, depth: int, bound: Bound, wrap: _Wrap, stored: bool) -> None:
        name, base = ex.called_name(node), ex.receiver(node)
        if name in _SAYS_NOTHING and base is None:
            if name in {"any", "all"}:
                self.found.opaque = True
            return
        callee = self._facts.slots.callee(node)
        if callee is not None and callee.name != "__init__":
            if self._helper(node, callee, depth, bound, wrap):
                return
        if self._facts.decoder(node) is not None and node.args:
            before = len(self.found.made)
            self.follow(node.args[0].value, depth + 1, bound, None)
            for index in range(before, len(self.found.made)):
                made = self.found.made[index]
                if made.part in {Part.TEXT, Part.EITHER, Part.DUMPED}:
                    self.found.made[index] = Made(wrap[0], node, wrap[1]) if wrap else Made(Part.VALUES, node)
            return
        if self._facts.encoder(node) is not None:
            wrap = (Part.SORTED if self._sorts(node) else Part.DUMPED, node)
        elif name in _TEXT_MAKERS and base is None:
            wrap = (Part.DUMPED, node)
        elif self._all.takes_fields(node):
            self._add(Part.FIELDS, node, bound)
            return
        elif name in _ORDERED and base is None:
            wrap = (Part.SORTED, node) if wrap is not None else None
        elif name not in _FOLLOWED | _HASHES and not (base is not None and name in _FOLLOWED_METHODS):
            self.found.opaque = True  # what another function makes of its arguments says nothing of them
            return
        if base is not None and name not in {"dumps", "loads"} and not self._is_module(base):
            self.follow(base, depth + 1, bound, wrap, stored=stored or name in {"get", "pop", "popleft", "values"})
        for arg in node.args:
            self.follow(arg.value, depth + 1, bound, wrap, stored=stored or (base is None and name in LISTS))

    def _helper(self, node: cst.Call, callee: Scope, depth: int, bound: Bound, wrap: _Wrap) -> bool:
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
            trace.follow(value, depth + 1, inner, wrap)
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


def _is_empty(node: cst.BaseExpression) -> bool:
    """`[]`, `list()`, `set()`, `sha256()`: what it holds is put into it later."""
    if isinstance(node, cst.Call):
        is_list = ex.dotted(node.func) in {"list", "set", "deque", "Counter", "collections.Counter"}
        return not node.args and (is_list or ex.called_name(node) in _HASHES)
    return isinstance(node, cst.List) and not node.elements


def _is_dump(node: cst.BaseExpression) -> bool:
    return isinstance(node, cst.Call) and ex.called_name(node) == "dumps"


def _is_sorted(node: cst.BaseExpression) -> bool:
    return isinstance(node, cst.Call) and ex.dotted(node.func) == "sorted"
