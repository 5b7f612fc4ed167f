"""Stores into what a copy shares with its original, found by running the copies' data-flow through a function."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.program.call_graph import CallSite
from lint_rules.anatomy.values.copies import (
    ELEMENT,
    LAST,
    Copies,
    Copy,
    Part,
    Path,
    Ref,
    State,
    assign,
    below,
    forms_of_copies,
    is_owned,
    iterated,
    join,
    lookup,
    path_of,
    put_away,
    taken_over,
)
from lint_rules.anatomy.values.kinds import Kind
from lint_rules.anatomy.values.slots import Slot
from lint_rules.anatomy.values.trails import MUTATORS, Trails
from lint_rules.syntax import control_flow
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.control_flow import Point
from lint_rules.syntax.memo import DEEPEST
from lint_rules.syntax.module import Scope, parameters
from lint_rules.syntax.record import record
from lint_rules.syntax.walk import nodes_below, walk_scope


@record
class SharedStore:
    """A store at `node` into `target`, an object that `copy` shares with its original."""

    node: cst.CSTNode
    target: cst.BaseExpression
    copy: Copy


class Stores:
    """Finds the shared stores of a file. Functions are entered again for each copy that is handed to them."""

    def __init__(self, anatomy: Anatomy) -> None:
        self.facts = anatomy.facts
        self._flow = anatomy.flow
        self._calls = anatomy.calls
        self._writes = anatomy.writes
        self._aliases = anatomy.aliases
        self._copies: dict[Scope, Copies] = {}
        self._returned: dict[Scope, Part] = {}
        self._editing: dict[Scope, bool] = {}
        self._entered: set[tuple[Scope, str, int, cst.CSTNode]] = set()
        self._given_back: dict[tuple[Scope, str, Ref], Part] = {}
        self._on_purpose = False

    def all(self) -> Iterator[SharedStore]:
        """Every shared store of the file; a store that several copies reach comes once for each."""
        self._entered.clear()
        for function in self.facts.module.functions:
            fields = self._fields(function) if function.owner in self._kept else {}
            if function.kind not in {"class", "lambda"} and (function in self._copying or fields):
                yield from self._run(function, fields, 0)

    def into(self, function: Scope, name: str, copy: Copy) -> Iterator[SharedStore]:
        """The stores that `function` itself does into what `name` holds at its start, taken for `copy`.

        Those into a selection of its elements are among them, where the selection is no copy by intent.
        """
        self._on_purpose = True
        for store in self._run(function, {(name,): Ref(copy, 0)}, DEEPEST):
            selected = (path_of(store.copy.source) or ("",))[0] == name and store.copy.function is function
            if store.copy is copy or (selected and not self._matters(store.copy, store.node)):
                yield store
        self._on_purpose = False

    @cached_property
    def _copying(self) -> dict[Scope, list[cst.CSTNode]]:
        """The functions that copy something known, or run one that does: where their copies come from."""
        found: dict[Scope, list[cst.CSTNode]] = {}
        for node in self._first():
            found.setdefault(self.facts.module.scope_of[node].function, []).append(node)
        queue = list(found)
        while queue:
            for site in self._calls.sites[queue.pop()]:
                if site.caller not in found:
                    queue.append(site.caller)
                found.setdefault(site.caller, []).append(site.node)
        return found

    def _first(self) -> Iterator[cst.CSTNode]:
        """The expressions that copy something known."""
        module = self.facts.module
        for node in forms_of_copies(module):
            if self._of(module.scope_of[node].function).may_make(node):
                taken: list[cst.CSTNode] = [source for _, source, _ in taken_over(node)]
                yield from taken or [node.value if type(node) is cst.Assign else node]

    def _fields(self, method: Scope) -> State:
        """What the object of a method has shared with others since it was made, if nobody else changes it there."""
        own, found = self.facts.module.self_name(method), State()
        for slot, init, ref in self._kept[method.owner] if own is not None and method.owner is not None else ():
            writers = {write.function for write in self._writes.by_slot[slot]}
            if method is not init and writers <= {init, method}:
                found[own, slot[2]] = ref  # type: ignore[index]
        return found

    @cached_property
    def _kept(self) -> dict[Scope | None, list[tuple[Slot, Scope, Ref]]]:
        """By class, the attributes that `__init__` alone sets, to a copy of what it is handed and others hold, too."""
        found: dict[Scope | None, list[tuple[Slot, Scope, Ref]]] = {}
        for init, made in self._copying.items():
            copies = self._of(init)
            for node in init.nodes_of(cst.Assign) if init.name == "__init__" else ():
                slot, value = self.facts.slots.of(node.targets[0].target), ex.inner(node.value)
                ref = copies.part(value, {}).get(()) if value in made else None
                if slot is None or ref is None or slot[0] != "attr" or self.facts.assigned(slot) != [node.value]:
                    continue
                if self._is_held_by_callers(init, ref.copy.source):
                    found.setdefault(init.owner, []).append((slot, init, ref))
        return found

    def _is_held_by_callers(self, function: Scope, source: cst.BaseExpression) -> bool:
        """Whether a caller of this file still holds what it hands to a parameter."""
        slot = self.facts.slots.of(source)
        return any(
            parameter == slot and self._of(site.caller).is_kept(value, site.node)
            for site in self._calls.sites[function]
            for parameter, value in self.facts.slots.bindings(site.node, function)
        )

    def _may_find(self, function: Scope, initial: State, depth: int) -> bool:
        """A cheap look before the data-flow: whether it could find a store."""
        made = () if self._on_purpose else self._copying.get(function, ())
        return self._meet_store(function, [path[0] for path in initial], made, depth)

    def _meet_store(self, function: Scope, names: list[str], made: Sequence[cst.CSTNode], depth: int) -> bool:
        def enters(call: cst.Call) -> bool:
            callee = self.facts.slots.callee(call)
            return callee not in {None, function} and depth < DEEPEST and self._edits(callee)

        return Trails(self._of(function), enters).meet_store(names, made)

    def _edits(self, function: Scope) -> bool:
        """Whether a function may store into what it gets, itself or in those that it calls."""
        if function not in self._editing:
            self._editing[function] = True
            names = [param.name.value for param in parameters(function)]
            self._editing[function] = self._meet_store(function, names, (), 0)
        return self._editing[function]

    def _of(self, function: Scope) -> Copies:
        if function not in self._copies:
            self._copies[function] = Copies(self.facts, function, self._aliases.lasts)
        return self._copies[function]

    def _run(self, function: Scope, initial: State, depth: int) -> Iterator[SharedStore]:
        if not self._may_find(function, initial, depth):
            return
        copies = self._of(function)
        flow = self._flow(function)
        states = control_flow.solve(flow, initial, lambda point, state: self._after(copies, point, state), join)
        seen: set[tuple[cst.CSTNode, cst.CSTNode]] = set()
        for point, state in states.items():
            for store in self._at(point, state) if any(state.values()) else ():
                if (store.node, store.copy.node) not in seen:
                    seen.add((store.node, store.copy.node))
                    yield store
            yield from self._handed_on(copies, point, state, depth)

    # -- how the state changes --------------------------------------------------------------------------------

    def _after(self, copies: Copies, point: Point, state: State) -> State:
        node = point.statement
        for into, name in put_away(node):
            if is_owned(state, (name.value,)) and copies.is_kept(into, name):
                state = assign(state, (name.value,), {})
        if type(node) is cst.Assign:
            for target in node.targets:
                state = self._bind(copies, target.target, node.value, state)
        elif type(node) is cst.AnnAssign and node.value is not None:
            state = self._bind(copies, node.target, node.value, state)
        elif type(node) is cst.For:
            state = copies.taken(node, self._iterate(copies, node, state))
        elif (grown := _appended(node)) is not None:
            base, value = grown
            state = assign(state, (*base, LAST), copies.part(value, state) or {(): None})
        elif type(node) is cst.AugAssign or (type(node) is cst.Expr and any(taken_over(node.value))):
            state = copies.taken(node.value if type(node) is cst.Expr else node, state)
        elif copies.function.nodes_of(cst.NamedExpr):
            for inside in (n for e in point.expressions() for n in walk_scope(e)):
                if type(inside) is cst.NamedExpr:
                    state = self._bind(copies, inside.target, inside.value, state)
        return state

    def _bind(self, copies: Copies, target: cst.BaseExpression, value: cst.BaseExpression, state: State) -> State:
        if isinstance(target, (cst.Tuple, cst.List)):
            for number, element in enumerate(target.elements):
                path = path_of(element.value)
                if path is None:
                    continue
                if isinstance(element, cst.StarredElement):
                    state = assign(state, path, copies.rest(element, value, state))
                else:
                    state = assign(state, path, self._element_of(copies, value, number, state))
            return state
        path = path_of(target)
        if path is None:
            return state
        alone = len(path) == 1 and path_of(value) is None
        part = copies.part(value, state) or self._made_by(value, alone) or self._handed_back(copies, value, state)
        if not part and isinstance(target, cst.Name) and isinstance(value, cst.Name):
            part = copies.renamed(target, value)
        if not part and (alone or lookup(state, path) is not None):
            part = {(): None}
        replaces = len(path) > 1 and lookup(state, path) is None
        if replaces and any(ref and path_of(ref.copy.source) == path for ref in part.values()):
            part = {}  # `self.h = self.h[-9:]`: the copy takes the original's place
        return assign(state, path, part)

    def _element_of(self, copies: Copies, value: cst.BaseExpression, number: int, state: State) -> Part:
        value = ex.inner(value)
        if isinstance(value, (cst.Tuple, cst.List)) and number < len(value.elements):
            return copies.part(value.elements[number].value, state)
        return below(copies.part(value, state))

    def _iterate(self, copies: Copies, node: cst.For, state: State) -> State:
        iterable, target = ex.inner(node.iter), node.target
        values: cst.BaseAssignTargetExpression = target
        if isinstance(iterable, cst.Call):
            name, base = ex.called_name(iterable), ex.receiver(iterable)
            second = target.elements[1].value if isinstance(target, cst.Tuple) and len(target.elements) == 2 else None
            if name == "enumerate" and iterable.args and second is not None:
                iterable, values = iterable.args[0].value, second  # type: ignore[assignment]
            elif name in {"items", "values"} and base is not None:
                iterable, values = base, second or target  # type: ignore[assignment]
        iterable = iterated(iterable)  # a copy without a name is only there to loop over
        for name in ex.target_names(target):
            state = assign(state, (name,), {})
        path = path_of(values)
        if path is None or path_of(iterable) is None:
            return state
        return assign(state, path, below(copies.part(iterable, state)))

    def _made_by(self, value: cst.BaseExpression, named: bool = False) -> Part:
        """What the result of a function of this file shares with what the function got: a helper that copies.

        What else a function gives is nobody's, once it is `named`: it need not be known how it is made.
        """
        value = ex.inner(value)
        if isinstance(value, cst.ListComp):
            return {(ELEMENT, *path): ref for path, ref in self._made_by(value.elt).items()}
        callee = self.facts.slots.callee(value)
        if callee is None or callee.name == "__init__" or (named and callee not in self._copying):
            return {}
        if callee not in self._returned:
            self._returned[callee] = {}
            self._returned[callee] = self._gives(callee, {})
        return self._returned[callee]

    def _gives(self, function: Scope, start: State) -> Part:
        """What the results of a function share, where its parameters hold what `start` says."""
        copies, part = self._of(function), dict[Path, Ref | None]()
        states = control_flow.solve(
            self._flow(function), start, lambda point, state: self._after(copies, point, state), join
        )
        for point, state in states.items():
            if isinstance(point.statement, cst.Return) and point.statement.value is not None:
                part = join(part, copies.part(point.statement.value, state))
        return part

    def _handed_back(self, copies: Copies, value: cst.BaseExpression, state: State) -> Part:
        """What a function of this file gives back of what it got: one message of a list, say."""
        value = ex.inner(value)
        callee = self.facts.slots.callee(value)
        if callee is None or callee is copies.function or not callee.nodes_of(cst.Return):
            return {}
        found: Part = {}
        for slot, given in self.facts.slots.bindings(value, callee):  # type: ignore[arg-type]
            ref = copies.part(given, state).get(())
            if ref is not None:
                found = join(found, self._back(callee, slot[2], ref))
        return found

    def _back(self, callee: Scope, name: str, ref: Ref) -> Part:
        key = callee, name, ref
        if key not in self._given_back:
            self._given_back[key] = {}  # a function that runs itself
            part = self._gives(callee, {(name,): ref})
            self._given_back[key] = {path: r for path, r in part.items() if r is None or r.copy is ref.copy}
        return self._given_back[key]

    # -- stores -----------------------------------------------------------------------------------------------

    def _at(self, point: Point, state: State) -> Iterator[SharedStore]:
        for container, node in stores_at(point):
            ref = lookup(state, path_of(container))
            if ref is not None and ref.shared and (self._on_purpose or self._matters(ref.copy, node)):
                yield SharedStore(node, container, ref.copy)

    def _handed_on(self, copies: Copies, point: Point, state: State, depth: int) -> Iterator[SharedStore]:
        """A copy that is passed to a function of this file, which stores into its nested parts."""
        if depth >= DEEPEST:
            return
        for call in (call for e in point.expressions() for call in nodes_below(e, cst.Call)):
            callee = self.facts.slots.callee(call)
            if callee is None or callee.kind == "lambda":
                continue
            for slot, value in self.facts.slots.bindings(call, callee):
                part = copies.part(value, state)
                ref = part.get(())
                if ref is None or ref.copy.function is callee:
                    continue
                key = (callee, slot[2], ref.depth, ref.copy.node)
                if key not in self._entered:
                    self._entered.add(key)
                    yield from self._run(callee, {(slot[2], *path): each for path, each in part.items()}, depth + 1)

    def _matters(self, copy: Copy, store: cst.CSTNode) -> bool:
        """Not a selection of messages to edit: a copied list that is only looped over changes them on purpose."""
        if Kind.HISTORY not in self.facts.kinds(copy.source) or copy.fresh == 0:
            return True
        statement = self.facts.module.statement(copy.node)
        if isinstance(statement, (cst.Expr, cst.AugAssign)):
            into = statement.target if isinstance(statement, cst.AugAssign) else ex.receiver(statement.value)
            return not isinstance(into, cst.Name) or not self._replaces_original([into.value], copy)
        if not isinstance(statement, (cst.Assign, cst.AnnAssign)):
            return True
        targets = ex.targets(statement)
        names = [name for target in targets for name in ex.target_names(target)]
        names += [e.value.value for t in targets if isinstance(t, (cst.Tuple, cst.List)) for e in t.elements
                  if isinstance(e, cst.StarredElement) and isinstance(e.value, cst.Name)]  # fmt: skip
        copies = self._of(copy.function)
        if self._replaces_original(names, copy):
            return False
        return not names or any(
            copies.is_used_as_list(name, store) or self._moves_elements(name, copy) for name in names
        )

    def _replaces_original(self, names: list[str], copy: Copy) -> bool:
        """`kept = [m for m in self.h]` ... `self.h = kept`: the copy takes the original's place, or for all callers."""
        original = path_of(copy.source)
        if self._is_given_up(copy):
            return True
        return original is not None and len(original) > 1 and any(
            isinstance(node, cst.Assign) and isinstance(node.value, cst.Name) and node.value.value in names
            and any(path_of(target.target) == original for target in node.targets)
            for node in copy.function.nodes
        )  # fmt: skip

    def _is_given_up(self, copy: Copy) -> bool:
        """Whether each caller puts the result where it had what it handed over, or has made that for the call."""
        slots, parameter = self.facts.slots, self.facts.slots.of(copy.source)
        handed = [
            (site, value)
            for site in self._calls.sites[copy.function]
            for slot, value in slots.bindings(site.node, copy.function)
            if slot == parameter
        ]
        return bool(handed) and all(self._gives_up(site, value) for site, value in handed)

    def _gives_up(self, site: CallSite, value: cst.BaseExpression) -> bool:
        """`self.h = merged(self.h)`; `h = merged(h)`, where h was made here; `merged(render(h))`."""
        slot, statement = self.facts.slots.of(value), self.facts.module.statement(site.node)
        targets = ex.targets(statement) if isinstance(statement, cst.Assign) else []
        is_put_back = slot is not None and slot in map(self.facts.slots.of, targets)
        is_kept = self._of(site.caller).is_kept(value, site.node, later=not is_put_back)
        return not is_kept or (is_put_back and slot is not None and slot[0] != "var")

    def _moves_elements(self, name: str, copy: Copy) -> bool:
        """Whether elements of the copied list are put into another list: the copy is a step to a new history."""
        moved: set[str] = set()
        for node in copy.function.nodes:
            if isinstance(node, cst.For) and _names(node.iter, name):
                moved.update(ex.target_names(node.target))
            elif isinstance(node, cst.Assign) and (path_of(node.value) or ("",))[0] == name:
                moved.update(n for target in node.targets for n in ex.target_names(target.target))
        for call in copy.function.nodes:
            if isinstance(call, cst.Call) and ex.called_name(call) in {"append", "insert"}:
                given = ex.positional(call)
                if given and isinstance(given[-1], cst.Name) and given[-1].value in moved:
                    return True
        return False


def _appended(node: cst.CSTNode | None) -> tuple[Path, cst.BaseExpression] | None:
    """(path of xs, m) for the statement `xs.append(m)` with a value made there: `xs[-1]` is then m."""
    call = node.value if type(node) is cst.Expr else None
    if type(call) is not cst.Call or ex.called_name(call) != "append" or len(call.args) != 1:
        return None
    base = ex.receiver(call)
    path = path_of(base) if base is not None else None
    return (path, call.args[0].value) if path is not None and path_of(call.args[0].value) is None else None


def _names(node: cst.CSTNode, name: str) -> bool:
    return any(inside.value == name for inside in nodes_below(node, cst.Name))


def stores_at(point: Point) -> Iterator[tuple[cst.BaseExpression, cst.CSTNode]]:
    """(container, node) of every store at a point: `c["k"] = x`, `del c.k`, `c["k"] += x`, `c["k"].append(x)`."""
    node = point.statement
    targets: list[cst.BaseExpression] = []
    if type(node) is cst.Assign:
        targets = [target.target for target in node.targets]
    elif type(node) is cst.AugAssign or type(node) is cst.AnnAssign:
        targets = [node.target]
        if type(node) is cst.AugAssign and type(node.value) in {cst.List, cst.ListComp}:
            yield node.target, node
    elif type(node) is cst.Del:
        targets = ex.several(node.target)
    while targets:
        target = targets.pop()
        if isinstance(target, (cst.Tuple, cst.List)):
            targets.extend(element.value for element in target.elements)
        elif isinstance(target, (cst.Subscript, cst.Attribute)) and node is not None:
            yield target.value, node
    for call in (call for e in point.expressions() for call in nodes_below(e, cst.Call)):
        base = ex.receiver(call) if ex.called_name(call) in MUTATORS else None
        if base is not None and path_of(base) is not None:
            yield base, call
