"""Objects that nobody else has: a function has just made them, or they are made anew for a concurrent start."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.messages.classes import body, given_when_made, made_class
from lint_rules.anatomy.messages.writes import HistoryWrite
from lint_rules.anatomy.program.aliases import dependency
from lint_rules.anatomy.program.call_graph import CallSite
from lint_rules.anatomy.program.concurrency import Start
from lint_rules.anatomy.program.told import leaves_out, told_by
from lint_rules.anatomy.values.handed_along import handed_with
from lint_rules.anatomy.values.kinds import Kind
from lint_rules.anatomy.values.known import sources
from lint_rules.anatomy.values.slots import Slot, is_parameter, root_object
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.memo import DEEPEST, once
from lint_rules.syntax.module import Scope, SourceModule, decorators, parameters
from lint_rules.syntax.walk import walk

_UNIQUE = frozenset({"uuid.uuid1", "uuid.uuid4", "secrets.token_hex", "secrets.token_urlsafe", "secrets.token_bytes"})
"""Functions of the standard library that never give the same twice."""
_FACTORIES = frozenset({"default_factory", "factory"})
"""Keywords by which a field of a class is told how it is made. Source: dataclasses, pydantic, attrs."""
_LOOPS = (cst.For, cst.While, cst.ListComp, cst.GeneratorExp, cst.SetComp, cst.DictComp)


class Ownership:
    """Tells them in one file, with its concurrent starts."""

    def __init__(self, anatomy: Anatomy, starts: list[Start]) -> None:
        self.anatomy = anatomy
        self.facts = anatomy.facts
        self.module = anatomy.module
        self.starts = starts

    def is_own_write(self, write: HistoryWrite) -> bool:
        """A write to an object that the function has just made."""
        base: cst.BaseExpression | None = None
        if isinstance(write.node, cst.Call):
            base = ex.receiver(write.node)
        elif isinstance(write.node, cst.Assign):
            target = write.node.targets[0].target  # `h[:] = new` writes to `h`
            base = ex.unsliced(target)
        return base is not None and self.is_own(base, write.function)

    def is_connection(self, function: Scope, name: str) -> bool:
        """Whether a parameter is a WebSocket: each connection has one, and a handler of its own."""
        given = (param for param in parameters(function) if param.name.value == name and param.annotation is not None)
        return any(ex.last_name(param.annotation.annotation) == "WebSocket" for param in given if param.annotation)

    def kept_beyond(self, first: Scope, function: Scope, slot: Slot) -> bool:
        """Whether a history that `function` writes may be there when the run of `first`, which comes to it, has ended.

        It ends with an object that the run has for itself, where all that the attribute gets is made for the object.
        """
        if slot[0] != "attr" or not self._is_begun_with_object(slot):
            return function in self.anatomy.calls.reachable(first)
        seen, queue = {first}, [first]
        while queue:
            here = queue.pop()
            shared = {s.callee for s in self.anatomy.calls.calls[here] if not self.on_own_object(s.node, here)} - seen
            seen |= shared
            queue += shared
        return function in seen

    def _is_begun_with_object(self, slot: Slot) -> bool:
        """Whether all that an attribute gets is made for it; a field that only a framework fills is so, too."""
        values = self.facts.assigned(slot)
        if values:
            return all(self.anatomy.aliases.is_new(part) for value in values for part in ex.alternatives(value))
        made = {self.facts.slots.constructed(call) for call in self.module.nodes_of(cst.Call) if call.args} - {None}
        return not any(slot[1] in self.module.lineage(cls) for cls in made)

    def on_own_object(self, call: cst.Call, function: Scope) -> bool:
        """A call on an object that the running function has made for itself; of a plain function, with its history."""
        base = ex.receiver(call)
        if base is not None:
            return self.is_own(base, function)
        given = [arg.value for arg in call.args if self.facts.is_kind(arg.value, Kind.HISTORY)]
        return bool(given) and all(self.is_own(value, function) for value in given)

    def is_own(self, node: cst.BaseExpression, function: Scope) -> bool:
        """Whether a value is an object of this run alone, or none: made by it, or by a caller or a framework for it."""
        parts = [part for part in ex.alternatives(node) if ex.dotted(part) != "None"] or [node]
        return all(self._is_own_part((part, function)) for part in parts)

    @once(circular=False)
    def _is_own_part(self, asked: tuple[cst.BaseExpression, Scope]) -> bool:
        node, function = asked
        if isinstance(node, (cst.List, cst.ListComp)) or sources(node) or self._is_under_new_key(node):
            return True
        if isinstance(node, cst.Call):
            return self._is_made(node)
        return not self._is_in_common(node) and not self._is_of_class(node) and self._is_held(ex.owner(node), function)

    def _is_in_common(self, node: cst.BaseExpression) -> bool:
        """Whether a value is a part of what a framework hands to all: `self.server.clerk` of a view."""
        while isinstance(node, (cst.Attribute, cst.Subscript)):
            slot, node = self.facts.slots.of(node), node.value
            if slot is not None and self.anatomy.aliases.is_in_common(slot):
                return True
        return False

    def _is_of_class(self, node: cst.BaseExpression) -> bool:
        """Whether a value is, or is a part of, what the body of a class has made: all objects have it in common.

        Not what says how each object gets one: `field(default_factory=list)`.
        """
        slot = self.facts.slots.of(node)
        made = self.facts.assigned(root_object(slot)) if slot is not None and root_object(slot)[0] == "attr" else []
        made = [v for v in made if not (isinstance(v, cst.Call) and _FACTORIES & {*ex.keywords(v)})]
        return any(self.module.scope_of[value].kind == "class" for value in made)

    def _is_under_new_key(self, node: cst.BaseExpression) -> bool:
        """`drafts[uuid4().hex]`: an entry that nobody else knows of yet."""
        key = ex.index(node) if isinstance(node, cst.Subscript) else None
        if isinstance(node, cst.Call) and ex.called_name(node) in {"get", "setdefault"} and node.args:
            key = node.args[0].value
        if key is None:
            return False
        return self._is_unique(key)

    def has_new_key(self, call: cst.Call) -> bool:
        """`core.answer(text, session=uuid4().hex)`: whether a call tells the new key of the talk it runs."""
        found = body(self.anatomy, call)
        given = found[0].facts.slots.bindings(call, found[1]) if found is not None else ()
        return found is not None and any(self._is_unique(value) and _is_key(found[0], slot) for slot, value in given)

    def _is_unique(self, key: cst.BaseExpression, seen: frozenset[Slot] = frozenset()) -> bool:
        """Whether nobody else knows a key: on each way it is made here, or of one that is."""
        return all(any(self._is_new(node, seen) for node in walk(part)) for part in ex.alternatives(key))

    def _is_new(self, node: cst.CSTNode, seen: frozenset[Slot]) -> bool:
        """Whether a call gives what it never gave before, or a name holds only such."""
        if type(node) is cst.Call:
            return self.module.full_name(node.func) in _UNIQUE or self.gives_new_key(node)
        slot = self.facts.slots.of_name(node)
        if slot is None or slot in seen or slot[0] != "var" or is_parameter(slot) or slot[1].kind == "module":
            return False  # `key = key or uuid4().hex`: a caller may have told one; one of a module is made once
        made = [value for value in self.facts.assigned(slot) if ex.dotted(value) != "None"]
        return bool(made) and all(self._is_unique(value, seen | {slot}) for value in made)

    @once(circular=False)
    def gives_new_key(self, call: cst.Call) -> bool:
        """Whether a function of the project makes all keys that it gives to a call that tells it no old one.

        `begin()`, of `def begin(key=None)`, which gives back `key` only `if key`.
        """
        there, function = body(self.anatomy, call) or (self.anatomy, None)
        given = function.nodes_of(cst.Return) if function is not None else []
        told = told_by(there, call, function) if function is not None and given else {}
        met = [node.value for node in given if function and not leaves_out(there, function, told, [node])]
        return bool(met) and all(value and there.races.ownership._is_unique(value) for value in met)

    def _is_made(self, call: cst.Call) -> bool:
        """Whether a call makes a new object: of a class of this file, also in a function that gives nothing else."""
        callee = self.facts.slots.callee(call)
        if self.facts.slots.constructed(call) is not None or ex.dotted(call.func) in {"cls", "type(self)"}:
            return True
        return callee is not None and self._makes(callee)

    def _makes(self, function: Scope) -> bool:
        """Whether all that a function gives back are new objects; decorated, it may keep what it made."""
        if any(ex.dotted(decorator) not in {"staticmethod", "classmethod"} for decorator in decorators(function)):
            return False
        values = [node.value for node in function.nodes_of(cst.Return) if node.value is not None]
        given = [value for value in values if ex.dotted(value) != "None"]
        return bool(given) and all(self.is_own(value, function) for value in given)

    def _is_held(self, node: cst.BaseExpression, function: Scope) -> bool:
        """Whether a local name only holds such objects, as a parameter from all callers."""
        slot = self.facts.slots.of_name(node)
        if slot is None or slot[0] != "var" or not self._is_in_run_of(slot[1], function):
            return False
        home, values = slot[1], self.facts.assigned(slot)
        param = next((param for param in parameters(home) if param.name.value == slot[2]), None)
        anew = [value for value in values if not self._is_handed(value, slot)]
        if param is not None:
            return not anew and self._is_given(param, slot, home)
        return bool(values) and all(self.is_own(value, home) for value in anew) and not self._is_let_out(node, slot)

    def _is_in_run_of(self, outer: Scope, function: Scope) -> bool:
        """Whether a function is in a run of `outer`: it is that, or stands in it, and nothing begun there runs it."""
        if outer is function or outer.kind != "function" or not function.within(outer):
            return outer is function
        begun = (start for start in self.starts if self.module.scope_of[start.node].function.within(outer))
        return not any(function in self.anatomy.calls.reachable(start.function) for start in begun)

    def _is_let_out(self, node: cst.BaseExpression, slot: Slot) -> bool:
        """Whether the function has handed a local to what it has begun, and that may run beside `node`."""
        joins, module = self.anatomy.races.joins, self.module
        begun = (each for each in self.starts if module.scope_of[each.node].function is slot[1])
        handed = (each for each in begun if self.facts.slots.names_any(each.node, {slot}))
        return any(module.before(each.node, node) and joins.runs_beside(each, node) for each in handed)

    def _is_handed(self, value: cst.BaseExpression, slot: Slot) -> bool:
        """`body = await completed(body)`: what a function gives back that is handed no more than the object itself."""
        value = ex.inner(value)
        return isinstance(value, cst.Call) and [self.facts.slots.of(arg.value) for arg in value.args] == [slot]

    def _is_given(self, param: cst.Param, slot: Slot, function: Scope) -> bool:
        """Whether what a function gets is made for the call: by each caller, or by a framework for each request."""
        graph = self.anatomy.calls
        serving = graph.servings.get(function)
        if serving is not None and param.name.value == self.module.self_name(function):
            return serving.keeper is None  # a view is made for each request
        if serving is not None:
            return self._is_of_request(param, slot) or _is_parsed(serving.framework, param, self.module)
        sites = graph.sites[function]
        if graph.references[function] or any(start.function is function for start in self.starts):
            return self.goes_along_anew(slot) or (not sites and self._goes_along(slot, function))
        if not sites:
            return False
        if param.name.value == self.module.self_name(function):
            return all(self._is_of_own_view(site) for site in sites)
        given = [
            (v, site.caller) for site in sites for s, v in self.facts.slots.bindings(site.node, function) if s == slot
        ]
        return len(given) == len(sites) and all(self.is_own(value, caller) for value, caller in given)

    def _goes_along(self, slot: Slot, function: Scope) -> bool:
        """Whether a function that is only begun, each time once for a request, is handed a part of what that gets."""
        handed = [
            (reference, handed_with(self.module, reference)) for reference in self.anatomy.calls.references[function]
        ]
        bound = [(self.facts.slots.bound(given, function), named) for named, given in handed if given is not None]
        found = [(value, named) for pairs, named in bound for place, value in pairs if place == slot]
        return 0 < len(found) == len(handed) and all(
            isinstance(root := ex.owner(value), cst.Name)
            and is_parameter(("var", self.module.scope_of[named].function, root.value))
            and self.is_own(value, self.module.scope_of[named].function)
            and not any(isinstance(outer, _LOOPS) for outer in self.module.ancestors(named))
            for value, named in found
        )

    def goes_along_anew(self, slot: Slot) -> bool:
        """Whether what a parameter gets was made for the one call or start of its function, and is in no other."""
        function, slots = slot[1], self.facts.slots
        begun = self.anatomy.calls.references[function]
        given = [dict(slots.bound(handed_with(self.module, each) or (), function)) for each in begun]
        given += [dict(slots.bindings(site.node, function)) for site in self.anatomy.calls.sites[function]]
        at = given[0].get(slot) if len(given) == 1 else None
        if at is None or not self.is_made_for(at, at):
            return False
        made = slots.of(at)
        others = (start.node for start in self.starts if not self.module.inside(at, start.node))
        return (
            made is not None and not self._used_after(made, at) and not any(slots.names_any(o, {made}) for o in others)
        )

    def is_made_for(self, value: cst.BaseExpression, node: cst.CSTNode) -> bool:
        """Whether a name holds an object that was made in the round of a loop, or the run, in which a node gets it."""
        bound = self.anatomy.definitions(value) if isinstance(value, cst.Name) else []
        made = [each.value for each in bound if each.kind == "assign" and isinstance(each.value, cst.Call)]
        around = self.module.loop_around
        return 0 < len(made) == len(bound) and all(
            made_class(self.anatomy, each) is not None and around(each) is around(node) for each in made
        )

    def _is_of_own_view(self, site: CallSite) -> bool:
        """`self.answer(text)` in a view that a framework makes for each request."""
        base = ex.receiver(site.node)
        is_self = isinstance(base, cst.Name) and base.value == self.module.self_name(site.caller)
        return is_self and base is not None and self.is_own(base, site.caller)

    def _is_of_request(self, param: cst.Param, slot: Slot) -> bool:
        """The body of a request, read into a model, and what `Depends` has a function or class make."""
        needed = dependency(slot)
        if needed is not None:
            maker = self.facts.slots.function(needed)
            return maker is not None and (maker.name == "__init__" or self._makes(maker))
        cls = self.facts.slots.classes.get(slot)
        named = [ex.last_name(base) for each in self.module.lineage(cls) for base in ex.bases(each.node)]
        return param.default is None and "BaseModel" in named

    # -- what an object of one run is made of -------------------------------------------------------------------

    def shared_parts(self, node: cst.BaseExpression, function: Scope) -> Iterator[tuple[Slot, Slot]]:
        """What an object, which a run has made for itself, was given of what others have, too.

        The attribute of its class that keeps it, and the lasting place: `memory` of `Desk(memory).answer(text)`.
        """
        for made in self._making(node, function, 0):
            where = self.module.scope_of[made].function
            for _, attribute, value in given_when_made(self.anatomy, made):
                place = self.anatomy.aliases.lasting_at(value, where)
                if place is not None:
                    yield attribute, place

    def _making(self, node: cst.BaseExpression, function: Scope, depth: int) -> Iterator[cst.Call]:
        """The calls that make what an expression stands for, also in a function that gives it."""
        for part in ex.alternatives(node) if depth <= DEEPEST else ():
            callee = self.facts.slots.callee(part)
            slot = self.facts.slots.of_name(part)
            if isinstance(part, cst.Call) and self.facts.slots.constructed(part) is None and callee is not None:
                yield from self._given_by(callee, depth)
            elif isinstance(part, cst.Call):
                yield part
            elif slot is not None and slot[:2] == ("var", function):
                maker = dependency(slot) if is_parameter(slot) else None
                callee = self.facts.slots.function(maker) if maker is not None else None
                yield from self._given_by(callee, depth) if callee is not None else ()
                for value in self.facts.assigned(slot):
                    yield from self._making(value, function, depth + 1)

    def _given_by(self, maker: Scope, depth: int) -> Iterator[cst.Call]:
        for node in maker.nodes_of(cst.Return):
            yield from self._making(node.value, maker, depth + 1) if node.value is not None else ()

    def is_owned(self, start: Start) -> bool:
        """A start on an object that is made anew for it: `for x in xs: Thread(target=Agent(x).run)`."""
        if start.caller is not None:
            return start.caller.own and start.function.owner is not None
        target = start.target
        if not isinstance(target, cst.Attribute):
            return False
        base = ex.inner(target.value)
        if isinstance(base, cst.Call):
            return self._is_made(base)
        slot = self.facts.slots.of_name(base)
        if slot is None or slot[0] != "var":
            return False
        loops = [o for o in self.module.ancestors(target) if isinstance(o, _LOOPS)]
        if self.anatomy.aliases.lasting_at(base, slot[1]) is not None:
            return False  # `talks.setdefault(key, Talk())`
        made = [v for v in self.facts.assigned(slot) if isinstance(v, cst.Call)]
        if loops and made:
            return all(self.module.inside(value, loops[0]) for value in made)
        same = slot[1] is self.module.scope_of[start.node].function
        if same and made and not loops:
            return not any(
                s is not start and isinstance(s.target, cst.Attribute) and self.facts.slots.of(s.target.value) == slot
                for s in self.starts
            ) and not self._used_after(slot, start.node)
        return False

    def _used_after(self, slot: Slot, node: cst.CSTNode) -> bool:
        """Whether the function that starts a run goes on using the object itself."""
        function = self.module.scope_of[node].function
        return any(
            self.module.before(node, n)
            and any(self.facts.slots.of(given) == slot for given in ex.handed(n))
            and (callee := self.facts.slots.callee(n)) is not None
            and self.anatomy.writes.does_write(callee)
            for n in function.nodes_of(cst.Call)
        )

    def before_sharing(self, call: cst.Call, caller: Scope) -> bool:
        """A call on an object that `caller` has just made, before it starts anything."""
        base = ex.receiver(call)
        if not isinstance(base, cst.Name):
            return False
        slot = self.facts.slots.of(base)
        values = [v for v in self.facts.assigned(slot) if type(v) is cst.Call] if slot is not None else []
        if not any(self.facts.slots.constructed(value) is not None for value in values):
            return False
        begun: list[cst.CSTNode] = [s.node for s in self.starts if self.module.scope_of[s.node].function is caller]
        begun += [
            n for n in caller.nodes_of(cst.Call) if ex.called_name(n) in {"start", "run", "serve"}
            and (b := ex.receiver(n)) is not None and self.facts.slots.of(b) == slot
        ]  # fmt: skip
        return bool(begun) and all(self.module.before(call, node) for node in begun)


def _is_parsed(framework: str, param: cst.Param, module: SourceModule) -> bool:
    """Whether FastAPI reads a parameter out of the request: it is of a class that is not its own, nor Starlette's."""
    said = param.annotation.annotation if param.annotation is not None and param.default is None else None
    full = module.imports.resolve(said.value) if isinstance(said, cst.Name) else ""
    return framework == "fastapi" and "." in full and full.partition(".")[0] not in {"fastapi", "starlette"}


@once(circular=False)
def _is_key(anatomy: Anatomy, slot: Slot) -> bool:
    """Whether what a parameter or name holds is the key by which something is looked up, here or where it is handed."""
    module = anatomy.module
    for name in anatomy.facts.names.get(slot, ()):
        outer = module.parent[name]
        if isinstance(outer, cst.Index) or name in anatomy.conversations.keys or _picks_rows(module, outer):
            return True
        call = module.parent[outer] if isinstance(outer, cst.Arg) else None
        if isinstance(call, cst.Call):
            found = body(anatomy, call)
            if found is None and ex.called_name(call) in {"get", "setdefault"}:
                return True
            bound = found[0].facts.slots.bindings(call, found[1]) if found is not None else ()
            if found is not None and any(value is name and _is_key(found[0], inner) for inner, value in bound):
                return True
        targets = ex.assigned(module.statement(name))
        held = {anatomy.facts.slots.of(target) for target in targets} - {None, slot}
        if any(_is_key(anatomy, each) for each in held if each is not None):
            return True
    return False


def _picks_rows(module: SourceModule, node: cst.CSTNode) -> bool:
    """`filter(Line.talk == key)`: what is compared in what a query is handed."""
    outer = module.parent[node] if isinstance(node, cst.ComparisonTarget) else None
    return isinstance(outer, cst.Comparison) and isinstance(module.parent[outer], cst.Arg)
