"""Copies of histories and messages: of what, how deep, and which names still share parts with the original.

A forward data-flow over the control-flow graph. The state maps access paths (`slim`, `slim.tool_calls`) to what they
share: a `Ref` says "this object lies `depth` levels below the top of that copy", None says "this part is our own".
A copy is fresh down to `fresh` levels: `dict(m)` and `list(h)` one, `[dict(m) for m in h]` two; what lies deeper is
the original's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import libcst as cst

from lint_rules.anatomy.values.facts import Facts
from lint_rules.anatomy.values.kinds import Evidence, Kind
from lint_rules.anatomy.values.known import PUTTING, sources
from lint_rules.anatomy.values.slots import Slot, root_object
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.module import Scope, SourceModule, parameter_names
from lint_rules.syntax.record import record
from lint_rules.syntax.walk import walk_scope

Path = tuple[str, ...]

ELEMENT = "[]"
FIRST = "[0]"
LAST = "[-1]"
_KINDS = (Kind.HISTORY, Kind.MESSAGE, Kind.CALLS, Kind.CALL, Kind.FUNCTION)
_ENDS: dict[int | None, str] = {0: FIRST, -1: LAST}
_LISTERS = frozenset({"list", "tuple", "sorted", "deque"})
_COPIERS = _LISTERS | {"copy", "model_copy", "dict", "replace", "_replace"}
_DISPLAYS = (cst.List, cst.Dict, cst.ListComp, cst.DictComp)
_IMPORTED_COPIERS = frozenset({"copy.copy", "dataclasses.replace"})
_LOOKERS = frozenset(
    {"len", "enumerate", "reversed", "zip", "range", "any", "all", "sum", "print", "bool", "max", "min"}
)
_PICKERS = frozenset({"next", "max", "min"})
_SAME_ELEMENTS = frozenset({"reversed", "list", "tuple", "sorted", "iter", "filter"})
_THROUGH = _PICKERS | _SAME_ELEMENTS | {
    "cast", "enumerate", "getattr", "get", "items", "pop", "popleft", "setdefault", "values",
}  # fmt: skip
"""Functions and methods that give what they got, or parts of it."""
_MOST_DEPTH = 8
_LONGEST = 6
"""Longer paths are not followed: `node.next = node` would make ever longer ones."""


@record
class Copy:
    """A copy at `node` of `source` that is new down to `fresh` levels. `evidence` says what was copied."""

    node: cst.CSTNode
    source: cst.BaseExpression
    fresh: int
    evidence: Evidence
    function: Scope


@dataclass(frozen=True, slots=True)
class Ref:
    """An object `depth` levels below the top of a copy."""

    copy: Copy
    depth: int

    @property
    def shared(self) -> bool:
        """Whether the object is the original's, too."""
        return self.depth >= self.copy.fresh

    def below(self, levels: int) -> Ref:
        return Ref(self.copy, min(self.depth + levels, _MOST_DEPTH))


Part = dict[Path, "Ref | None"]
"""What a value shares: the paths below it, `()` for itself."""

State = dict[Path, "Ref | None"]


def path_of(node: cst.BaseExpression) -> Path | None:
    """The access path of `x.k[i]["l"]`: name, keys, `[]` for elements, `[0]`, `[-1]` at the ends. None if no name."""
    steps: list[str] = []
    here = ex.inner(node)
    while type(here) is not cst.Name:
        pair = ex.member(here)
        if pair is not None:
            here, step = ex.inner(pair[0]), pair[1]
        elif type(here) is cst.Subscript and ex.slice_of(here) is None:
            here, step = ex.inner(here.value), _ENDS.get(ex.integer(ex.index(here)), ELEMENT)
        elif type(here) is cst.BooleanOperation:
            here, step = ex.inner(here.left), ""
        elif type(here) is cst.Call and ex.called_name(here) in {"pop", "popleft"}:
            base = ex.receiver(here)
            if base is None:
                return None
            here, step = ex.inner(base), ELEMENT
        else:
            return None
        if step:
            steps.append(step)
    return (here.value, *reversed(steps))


def iterated(node: cst.BaseExpression) -> cst.BaseExpression:
    """The list that is gone through: `xs` of `xs[1:]`, `reversed(xs)`, `filter(f, xs)`, `(x for x in xs)`."""
    while True:
        node = ex.inner(node)
        if isinstance(node, cst.Subscript) and ex.slice_of(node) is not None:
            node = node.value
        elif isinstance(node, cst.Call) and ex.dotted(node.func) in _SAME_ELEMENTS and node.args:
            node = node.args[-1 if ex.called_name(node) == "filter" else 0].value
        elif isinstance(node, (cst.GeneratorExp, cst.ListComp)) and _is_selection(node):
            node = node.for_in.iter
        else:
            return node


def _is_selection(node: cst.GeneratorExp | cst.ListComp) -> bool:
    """`x for x in xs if ...`."""
    target = node.for_in.target
    if node.for_in.inner_for_in is not None or not isinstance(target, cst.Name) or not isinstance(node.elt, cst.Name):
        return False
    return node.elt.value == target.value


def picked_from(node: cst.BaseExpression) -> cst.BaseExpression | None:
    """The list of which an expression gives one element: `next(x for x in xs if ...)`, `[x for x in xs if ...][-1]`."""
    if isinstance(node, cst.Call) and ex.dotted(node.func) in _PICKERS and node.args:
        listed = iterated(node.args[0].value)
    elif isinstance(node, cst.Subscript) and ex.slice_of(node) is None:
        listed = iterated(node.value)
    else:
        return None
    return listed if path_of(listed) is not None else None


def below(part: Part) -> Part:
    """What an element of a value shares."""
    inner: Part = {path[1:]: ref for path, ref in part.items() if path[:1] == (ELEMENT,)}
    if () not in inner and part.get(()) is not None:
        ref = part[()]
        inner[()] = ref.below(1) if ref is not None else None
    return inner


def lookup(state: State, path: Path | None) -> Ref | None:
    """The shared object at `path`, None when it is our own or nothing is known of it."""
    known = _known(state, path)
    return known[0].below(known[1]) if known is not None and known[0] is not None else None


def is_owned(state: State, path: Path | None) -> bool:
    """Whether the object at `path` is known to be our own."""
    known = _known(state, path)
    return known is not None and known[0] is None


def _known(state: State, path: Path | None) -> tuple[Ref | None, int] | None:
    """What is said of an object, or else of what it lies in, and how deep. What holds for any element, ends share."""
    for length in range(len(path or ()), 0, -1):
        prefix = (path or ())[:length]
        for place in (prefix, _anywhere(prefix)):
            if place in state:
                return state[place], len(path or ()) - length
    return None


def _anywhere(path: Path) -> Path:
    return tuple(ELEMENT if step in {FIRST, LAST} else step for step in path)


def assign(state: State, path: Path, part: Part) -> State:
    """The state after `path = value`, where `part` is what the value shares."""
    new = {known: ref for known, ref in state.items() if known[: len(path)] != path}
    new.update({path + suffix: ref for suffix, ref in part.items() if len(path) + len(suffix) <= _LONGEST})
    return new


def join(first: State, second: State) -> State:
    """Both ways into a point. What is our own, or copied deeper, on one way counts as that: silence beats noise."""
    if first == second:
        return first
    joined = dict(first)
    for path, ref in second.items():
        if path not in joined or _fresher(ref, joined[path]):
            joined[path] = ref
    return joined


def _fresher(ref: Ref | None, than: Ref | None) -> bool:
    """Whether more of an object is our own than of the other."""
    if ref is None or than is None:
        return ref is None and than is not None
    return ref.copy.fresh - ref.depth > than.copy.fresh - than.depth


def forms_of_copies(module: SourceModule) -> Iterator[cst.CSTNode]:
    """The nodes of a file that are copies by their form, whatever they copy."""
    copiers = _COPIERS | {bound for bound, full in module.imports.full.items() if full in _IMPORTED_COPIERS}
    yield from (call for call in module.nodes_of(cst.Call) if ex.called_name(call) in copiers)
    yield from (node for node in module.nodes_of(cst.Subscript) if ex.slice_of(node) is not None)
    yield from module.nodes_of(cst.ListComp)
    yield from module.nodes_of(cst.DictComp)
    yield from (node for node in module.nodes_of(cst.List) if _unfolds(node, cst.StarredElement))
    yield from (node for node in module.nodes_of(cst.Dict) if _unfolds(node, cst.StarredDictElement))
    yield from (node for node in module.nodes_of(cst.BinaryOperation) if type(node.operator) is cst.Add)
    yield from (node for node in module.nodes_of(cst.Assign) if type(node.value) is cst.Name or _unpacks(node))
    yield from (node for node in module.nodes_of(cst.Call, cst.AugAssign, cst.For) if any(taken_over(node)))


def taken_over(node: cst.CSTNode) -> Iterator[tuple[cst.Name, cst.BaseExpression, cst.CSTNode]]:
    """(xs, ys, where) of `xs.extend(ys)`, `xs += ys`, `d.update(e)`, `d |= e`, and `for y in ys: xs.append(y)`.

    What a list or dict takes over, it shares. A loop that puts other elements into a list, too, is none of these.
    """
    into, value = None, None
    if type(node) is cst.Call and ex.called_name(node) in {"extend", "update"} and len(node.args) == 1:
        into, value = ex.receiver(node), node.args[0].value
    elif type(node) is cst.AugAssign and type(node.operator) in {cst.AddAssign, cst.BitOrAssign}:
        into, value = node.target, node.value
    elif type(node) is cst.For and type(node.target) is cst.Name:
        yield from ((base, iterated(node.iter), call) for base, call in _collecting(node.body, node.target.value))
    if isinstance(into, cst.Name) and value is not None:
        yield into, iterated(value), node


def put_away(node: cst.CSTNode | None) -> Iterator[tuple[cst.BaseExpression, cst.Name]]:
    """(where to, what) of `self.talk.append(m)`, `seen[key] = m`, `self.last = m`."""
    if type(node) is cst.Assign and type(node.value) is cst.Name:
        yield from ((target, node.value) for target in ex.targets(node) if type(target) is not cst.Name)
    call = node.value if type(node) is cst.Expr else None
    base = ex.receiver(call) if type(call) is cst.Call and ex.called_name(call) in PUTTING else None
    if type(call) is cst.Call and base is not None:
        yield from ((base, arg.value) for arg in call.args if type(arg.value) is cst.Name)


def _collecting(body: cst.CSTNode, name: str) -> Iterator[tuple[cst.Name, cst.Call]]:
    """The lists to which nothing else is appended than what a name stands for that is not bound again."""
    found: dict[str, list[tuple[cst.Name, cst.Call]]] = {}
    for node in walk_scope(body):
        if isinstance(node, (cst.Assign, cst.AnnAssign, cst.NamedExpr)):
            if name in [bound for target in ex.targets(node) for bound in ex.target_names(target)]:
                return
        elif type(node) is cst.Call and ex.called_name(node) == "append" and len(node.args) == 1:
            base = ex.receiver(node)
            if isinstance(base, cst.Name):
                found.setdefault(base.value, []).append((base, node))
    yield from (puts[0] for puts in found.values() if all(ex.dotted(put.args[0].value) == name for _, put in puts))


def _unfolds(node: cst.List | cst.Dict, kind: type[cst.CSTNode]) -> bool:
    return kind in [type(element) for element in node.elements]


def _unpacks(node: cst.Assign) -> bool:
    kinds = [type(target.target) for target in node.targets]
    return cst.Tuple in kinds or cst.List in kinds


class Copies:
    """Evaluates what expressions of one function share with originals, given the state before them."""

    def __init__(self, facts: Facts, function: Scope, lasts: Callable[[Slot], bool] = lambda _: False) -> None:
        """`lasts` tells of a slot whether it stands for what is there when the function has ended."""
        self.facts = facts
        self.function = function
        self._lasts = lasts
        self._made: dict[cst.CSTNode, Copy] = {}
        self._taking: dict[cst.CSTNode, list[tuple[cst.Name, cst.BaseExpression, cst.CSTNode]]] = {}

    def may_make(self, node: cst.CSTNode) -> bool:
        """Whether a node of the function, a copy by its form, may copy messages that others see."""
        for source in self._sources(node):
            if self._evidence(node, source) is not None:
                if type(node) is cst.Assign or self.is_kept(source, node):
                    return True
        return False

    def _sources(self, node: cst.CSTNode) -> list[cst.BaseExpression]:
        if type(node) is cst.Dict:
            return [element.value for element in node.elements if type(element) is cst.StarredDictElement]
        if type(node) is cst.Assign:
            return [node.value]
        taken = [source for _, source, _ in taken_over(node)]
        if taken:
            return taken
        copied = self._copied(node)
        return [copied[0]] if copied is not None else []

    def hands_through(self, call: cst.Call) -> bool:
        """Whether what a call gives may be, hold or copy one of its arguments, or what its method belongs to."""
        known = ex.called_name(call) in _THROUGH or self._copying_call(call) is not None
        return known or self.facts.slots.callee(call) is not None

    def part(self, node: cst.BaseExpression, state: State) -> Part:
        """What the value of `node` shares; empty when nothing is known."""
        node = ex.inner(node)
        path = path_of(node)
        if path is not None and not isinstance(node, cst.BooleanOperation):
            return self._alias(path, state)
        if isinstance(node, (cst.IfExp, cst.BooleanOperation)):
            parts = [self.part(option, state) for option in ex.alternatives(node)]
            return next((part for part in parts if any(part.values())), {})
        if isinstance(node, cst.Dict):
            return self._dict(node, state)
        listed = picked_from(node)
        if listed is not None:
            return below(self.part(listed, state))
        copied = self._copied(node)
        if copied is None:
            return {}
        source, fresh, replaced = copied
        made = self._copy(node, source, fresh, state)
        part: Part = {(): Ref(made, 0)} if made is not None else {}
        for key, value in _ends_of(node).items() if made is not None else ():
            part.update(self._keyed(key, value, state))
        for key, value in replaced.items() if made is not None else ():
            part.update(self._keyed(key, value, state))
        return part

    def _alias(self, path: Path, state: State) -> Part:
        part: Part = {known[len(path) :]: ref for known, ref in state.items() if known[: len(path)] == path}
        if () not in part:
            ref = lookup(state, path)
            if ref is not None:
                part[()] = ref
        return part

    def _keyed(self, key: str, value: cst.BaseExpression, state: State) -> Part:
        inside = self.part(value, state)
        return {(key, *suffix): ref for suffix, ref in inside.items()} or {(key,): None}

    def _copy(self, node: cst.CSTNode, source: cst.BaseExpression, fresh: int, state: State) -> Copy | None:
        """A copy, when what is copied is part of an agent's messages and somebody else still holds it.

        A copy of a copy is new at least as far down as the first one was: also of one that has no name.
        """
        if is_owned(state, path_of(source)):
            return None
        if self._is_copy(source):
            first = self.part(source, state).get(())
            if first is None:
                return None
            deeper = max(fresh, first.copy.fresh - first.depth)
            known = Copy(node, first.copy.source, deeper, first.copy.evidence, self.function)
            return self._made.setdefault(node, known)
        evidence = self._evidence(node, source)
        shared = lookup(state, path_of(source))
        if evidence is None and shared is not None:
            evidence = shared.copy.evidence
        if evidence is None or (shared is None and not self.is_kept(source, node)):
            return None
        if shared is not None:
            fresh = max(fresh, shared.copy.fresh - shared.depth)
        return self._made.setdefault(node, Copy(node, source, fresh, evidence, self.function))

    def _evidence(self, node: cst.CSTNode, source: cst.BaseExpression) -> Evidence | None:
        """Why what is copied is a part of an agent's messages, or holds a history: that of the copy is known as one."""
        kinds = self.facts.kinds(source)
        found = next((kinds[kind] for kind in _KINDS if kind in kinds), None)
        statement = self.facts.module.parent[node] if found is None else None
        targets = ex.assigned(statement)
        return next(filter(None, (self.facts.held_history(self.facts.slots.of(target)) for target in targets)), found)

    def _is_copy(self, node: cst.BaseExpression) -> bool:
        """Whether an expression is a copy by its form."""
        return path_of(node) is None and self._copied(ex.inner(node)) is not None

    def rest(self, node: cst.CSTNode, source: cst.BaseExpression, state: State) -> Part:
        """`first, *rest = xs`: rest is a new list of the same elements."""
        made = self._copy(node, source, 1, state)
        return {(): Ref(made, 0)} if made is not None else {}

    def taken(self, node: cst.CSTNode, state: State) -> State:
        """The state after a list or dict that was made here has taken over what lies in another, which others hold."""
        if node not in self._taking:
            self._taking[node] = [each for each in taken_over(node) if self._is_made_here(each[0])]
        for into, source, where in self._taking[node]:
            if lookup(state, (into.value,)) is None:
                made = self._copy(where, source, 1, state)
                if made is not None and self.is_kept(made.source, where, later=False):
                    own = {path: ref for path, ref in state.items() if path[0] == into.value and path[1:] != (LAST,)}
                    state = assign(state, (into.value,), {(FIRST,): None, (): Ref(made, 0)})
                    state = {**own, **state}
        return state

    def _is_made_here(self, name: cst.Name) -> bool:
        """Whether a local stands for lists and dicts that are written here, or copied."""
        slot = self.facts.slots.of(name)
        values = self.facts.assigned(slot) if slot is not None and slot[:2] == ("var", self.function) else []
        made = all(isinstance(value, _DISPLAYS) or self._is_copy(value) for value in map(ex.inner, values))
        return made and bool(values) and name.value not in parameter_names(self.function)

    def renamed(self, target: cst.Name, value: cst.Name) -> Part:
        """`shown = entry`, and shown goes into a list of its own: meant as a copy, but it is the same message."""
        slot = self.facts.slots.of(target)
        alone = slot is not None and len(self.facts.assigned(slot)) == 1
        if not alone or Kind.MESSAGE not in self.facts.kinds(value) or not self.is_kept(value, value):
            return {}
        for node in self.function.nodes_of(cst.Call):
            if ex.called_name(node) in {"append", "insert"}:
                given = ex.positional(node)
                if given and isinstance(given[-1], cst.Name) and given[-1].value == target.value:
                    made = self._copy(value, value, 0, {})
                    return {(): Ref(made, 0)} if made is not None else {}
        return {}

    def is_used_as_list(self, name: str, store: cst.CSTNode) -> bool:
        """Whether a copied list goes anywhere (sent, returned, handed on), or is there only to loop over and count.

        It goes where something is made of its elements, too, after the `store` into one of them.
        """
        module = self.facts.module
        for node in self.function.named(name):
            parent = module.parent.get(node)
            is_later = module.scope_of[store].function is self.function and module.before(store, node)
            if isinstance(parent, cst.CompFor) and parent.iter is node and is_later:
                parent = module.parent[module.parent[parent]]
                if not isinstance(parent, cst.Arg):
                    return True
            if isinstance(parent, cst.Arg):
                call = module.parent.get(parent)
                if isinstance(call, cst.Call) and ex.called_name(call) not in _LOOKERS:
                    return True
            elif isinstance(
                parent,
                (
                    cst.Return,
                    cst.Yield,
                    cst.StarredElement,
                    cst.BinaryOperation,
                    cst.Element,
                    cst.DictElement,
                    cst.Assign,
                ),
            ):
                return True
        return False

    def _dict(self, node: cst.Dict, state: State) -> Part:
        """`{**m, "content": x}` copies m; `{"role": "tool", "tool_calls": m["tool_calls"]}` shares that one part."""
        part: Part = {(): None}
        for element in node.elements:
            if isinstance(element, cst.StarredDictElement):
                made = self._copy(node, element.value, 1, state)
                if made is not None:
                    part = {(): Ref(made, 0)}
            elif isinstance(element, cst.DictElement):
                key = ex.text(element.key)
                if key is not None:
                    part.update(self._keyed(key, element.value, state))
        return part

    def _copied(self, node: cst.CSTNode) -> tuple[cst.BaseExpression, int, dict[str, cst.BaseExpression]] | None:
        """(what is copied, how many levels are new, keys that get new values) for a copying expression."""
        if type(node) is cst.Call:
            return self._copying_call(node)
        if ex.slice_of(node) is not None and type(node) is cst.Subscript:
            return node.value, 1, {}
        if type(node) is cst.ListComp:
            return self._comprehension(node)
        if type(node) is cst.DictComp:
            source = node.for_in.iter
            if type(source) is cst.Call and ex.called_name(source) == "items" and type(node.value) is cst.Name:
                base = ex.receiver(source)
                return (base, 1, {}) if base is not None else None
            keys = ex.target_names(node.for_in.target)
            at = ex.index(node.value)
            if type(node.value) is cst.Subscript and type(at) is cst.Name and at.value in keys:
                return node.value.value, 1, {}
        if type(node) is cst.List:
            starred = [e.value for e in node.elements if type(e) is cst.StarredElement]
            return (starred[0], 1, {}) if starred else None
        if type(node) is cst.BinaryOperation and type(node.operator) is cst.Add:
            for side in (node.left, node.right):
                if Kind.HISTORY in self.facts.kinds(side) and path_of(side) is not None:
                    return side, 1, {}
        return None

    def _copying_call(self, node: cst.Call) -> tuple[cst.BaseExpression, int, dict[str, cst.BaseExpression]] | None:
        name = ex.called_name(node)
        if name not in _COPIERS and self.facts.module.imports.full.get(name) not in _IMPORTED_COPIERS:
            return None
        base, given = ex.receiver(node), ex.positional(node)
        full = self.facts.module.full_name(node.func)
        replaced = ex.keywords(node)
        if full == "copy.copy" and given:
            return given[0], 1, {}
        if name == "copy" and base is not None and not given:
            return base, 1, {}
        if name == "model_copy" and base is not None:
            return None if ex.dotted(replaced.get("deep", node)) == "True" else (base, 1, {})
        if isinstance(node.func, cst.Name) and name == "dict" and given:
            return given[0], 1, replaced
        if isinstance(node.func, cst.Name) and name in _LISTERS and len(given) == 1:
            listed = given[0] if self._is_copy(given[0]) else iterated(given[0])
            slot = self.facts.slots.of(listed)
            named = path_of(listed) is not None or (slot is not None and slot[0] == "return" and self._lasts(slot))
            named = named and not self._is_run(listed)
            return (listed, 1, {}) if named or self._is_copy(listed) else None
        if (full == "dataclasses.replace" or name == "_replace") and (given or base is not None):
            source = given[0] if given else base
            return (source, 1, replaced) if source is not None else None
        return None

    def _is_run(self, source: cst.BaseExpression) -> bool:
        """Whether a name is a run of `groupby`, an iterator: `list(run)` makes a list of it, and copies nothing."""
        return isinstance(source, cst.Name) and any(
            isinstance(node.iter, cst.Call) and ex.called_name(node.iter) == "groupby"
            and isinstance(node.target, cst.Tuple) and source.value in ex.target_names(node.target.elements[-1].value)
            for node in self.function.nodes_of(cst.For, cst.CompFor)
        )  # fmt: skip

    def _comprehension(
        self, node: cst.ListComp
    ) -> tuple[cst.BaseExpression, int, dict[str, cst.BaseExpression]] | None:
        """`[m for m in h]` is new down to the list, `[dict(m) for m in h]` down to the messages."""
        if node.for_in.inner_for_in is not None or not isinstance(node.for_in.target, cst.Name):
            return None
        name, source = node.for_in.target.value, node.for_in.iter
        levels = [self._levels(option, name) for option in ex.alternatives(node.elt)]
        if None in levels:
            return None
        return source, 1 + min(level for level in levels if level is not None), {}

    def _levels(self, node: cst.BaseExpression, name: str) -> int | None:
        """How many levels of the element `name` an expression renews; None for anything but a plain copy of it."""
        if isinstance(node, cst.Name) and node.value == name:
            return 0
        if isinstance(node, cst.Dict):
            starred = [e for e in node.elements if isinstance(e, cst.StarredDictElement)]
            alone = len(node.elements) == 1 and len(starred) == 1
            return 1 if alone and isinstance(starred[0].value, cst.Name) and starred[0].value.value == name else None
        if isinstance(node, cst.Call):
            copied = self._copying_call(node)
            if copied is not None and isinstance(copied[0], cst.Name) and copied[0].value == name and not copied[2]:
                return 1
        return None

    # -- who else holds the original ---------------------------------------------------------------------------

    def is_kept(self, source: cst.BaseExpression, since: cst.CSTNode, depth: int = 0, later: bool = True) -> bool:
        """Whether somebody still sees the original: a caller, an object, the module, or code further down (`later`)."""
        slot = self.facts.slots.of(source)
        if slot is None or depth > 4:
            inside = next((n for n in [ex.inner(source)] if isinstance(n, cst.Subscript)), None)
            return inside is not None and depth <= 4 and self.is_kept(inside.value, since, depth + 1, later)
        if self._lasts(slot):
            return True
        slot = root_object(slot)
        if slot[0] == "attr":
            return True
        if slot[0] == "call" or slot[0] == "return":
            return False
        scope, name = slot[1], slot[2]
        if scope is not self.function or name in parameter_names(scope):
            return True
        held = (
            self.is_kept(value, since, depth + 1, later) for value in [*self._bound_to(name), *self._put_into(name)]
        )
        return any(held) or (later and self._read_after(name, since))

    def _bound_to(self, name: str) -> Iterator[cst.BaseExpression]:
        """What a local is bound to: assigned values that are names of something else, and what loops iterate over."""
        for node in self.function.nodes_of(cst.For, cst.CompFor, cst.Assign):
            if type(node) is not cst.Assign:
                assert type(node) is cst.For or type(node) is cst.CompFor
                if name not in ex.target_names(node.target):
                    continue
                iterable = node.iter
                if isinstance(iterable, cst.Call) and iterable.args and ex.called_name(iterable) in {
                    "enumerate", "reversed", "zip", "list",
                }:  # fmt: skip
                    iterable = iterable.args[0].value
                yield iterable
            else:
                if name in [n for target in node.targets for n in ex.target_names(target.target)]:
                    for value in [node.value, *sources(node.value)]:
                        if path_of(value) not in (None, (name,)):
                            yield value

    def _put_into(self, name: str) -> Iterator[cst.BaseExpression]:
        """What a local is put into, or made a part of."""
        statements = self.function.nodes_of(cst.Assign, cst.Expr)
        return (into for node in statements for into, value in put_away(node) if value.value == name)

    def _read_after(self, name: str, since: cst.CSTNode) -> bool:
        """Whether a name is read further down, or in the next round of a loop that does not bind it."""
        module = self.facts.module
        bound: list[cst.CSTNode] = []
        for each in self.function.nodes_of(cst.Assign, cst.AnnAssign, cst.NamedExpr, cst.For):
            assert isinstance(each, (cst.Assign, cst.AnnAssign, cst.NamedExpr, cst.For))
            bound += [each for target in ex.targets(each) if name in ex.target_names(target)]
        rounds = [outer for outer in self.function.nodes_of(cst.While, cst.For) if module.inside(since, outer)]
        again = [outer for outer in rounds if not any(module.inside(node, outer) for node in bound)]
        return any(
            (module.before(since, node) or any(module.inside(node, outer) for outer in again))
            and type(module.parent[node]) is not cst.AssignTarget
            and type(module.parent[node]) is not cst.Param
            and not module.inside(node, since)
            for node in self.function.named(name)
        )


def _ends_of(node: cst.BaseExpression) -> dict[str, cst.BaseExpression]:
    """The first and the last element of `[s, *h, m]` and `[s] + h + [m]`, which are no parts of h."""
    if isinstance(node, cst.BinaryOperation) and isinstance(node.operator, cst.Add):
        first, last = _ends_of(ex.inner(node.left)).get(FIRST), _ends_of(ex.inner(node.right)).get(LAST)
        return {key: value for key, value in ((FIRST, first), (LAST, last)) if value is not None}
    ends = ((FIRST, node.elements[:1]), (LAST, node.elements[-1:])) if isinstance(node, cst.List) else ()
    return {key: e.value for key, found in ends for e in found if not isinstance(e, cst.StarredElement)}
