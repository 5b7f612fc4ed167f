"""What runs beside itself: starts of which several may run at once, and what each reaches that nothing keeps apart.

A walk over the call graph, from the function that is started, that ends at calls under a lock or behind a busy flag,
and at calls on objects that the running function has made for itself.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from functools import cached_property
from itertools import takewhile

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.messages.classes import body, made_class, run_elsewhere
from lint_rules.anatomy.program.call_graph import CallSite
from lint_rules.anatomy.program.concurrency import Begun, Start, starts_several
from lint_rules.anatomy.program.serving import is_of_library, is_streamed
from lint_rules.anatomy.turns.handed_starts import is_run_in_turn
from lint_rules.anatomy.values.constants import constant
from lint_rules.anatomy.values.handed_along import handed_along
from lint_rules.anatomy.values.slots import Slot, root_object
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.memo import once
from lint_rules.syntax.module import Scope, parameters
from lint_rules.syntax.walk import walk

LOOPS = (cst.For, cst.While, cst.ListComp, cst.GeneratorExp, cst.SetComp, cst.DictComp)

Reach = dict[Scope, bool]
"""The functions that run without lock or flag, and whether in a thread of their own."""


OnOwn = tuple[Scope, bool, frozenset[Slot]]
"""A function, whether it runs in a thread of its own, and what its object was given, as attributes of the class."""


class Unguarded:
    """The concurrent starts of a file, and what they reach unguarded."""

    def __init__(self, anatomy: Anatomy) -> None:
        self.anatomy = anatomy
        self.races = anatomy.races
        self.module = anatomy.module
        self.facts = anatomy.facts
        self.graph = anatomy.calls
        self._reached: dict[tuple[Scope, bool], Reach] = {}
        self._on_own: dict[Start, list[OnOwn]] = {}

    @cached_property
    def starts(self) -> list[Start]:
        """The starts on objects that others have, too."""
        return [s for s in self.races.starts if not self.races.ownership.is_owned(s) and not self.is_for_each(s)]

    def repeating(self) -> Iterator[tuple[Start, Reach]]:
        """The starts of which several may run at once, with what they reach unguarded, on objects that they share."""
        for start in self.starts:
            if not self.races.joins.is_joined(start) and (start.kind == "handler" or self.is_many(start)):
                yield start, self.reach(start.function, start)

    # -- what a start reaches ---------------------------------------------------------------------------------

    def reach(self, first: Scope, start: Start | None) -> Reach:
        """The functions that run without lock or flag, and whether in a thread of their own."""
        thread = start is not None and not start.on_loop
        if (first, thread) not in self._reached:
            self._reached[first, thread] = self._worked_out(first, in_thread=thread)
        return self._reached[first, thread]

    def reach_on_own(self, start: Start) -> list[OnOwn]:
        """What a start comes to by objects of its own, and what those were given that others have, too."""
        if start not in self._on_own:
            self._on_own[start] = list(self._find_on_own(start))
        return self._on_own[start]

    def _find_on_own(self, start: Start) -> Iterator[OnOwn]:
        reach, parts = self.reach(start.function, start), self.races.ownership.shared_parts
        queue = [
            (site.callee, thread, frozenset(attribute for attribute, _ in parts(base, here)))
            for here, thread in reach.items()
            for site in self.graph.calls[here]
            if (base := ex.receiver(site.node)) is not None
            and site.callee not in reach
            and not self.is_guarded(site.node, here)
        ]
        seen = set(reach)
        while queue:
            function, thread, shared = queue.pop()
            if function not in seen:
                seen.add(function)
                yield function, thread, shared
                queue += [
                    (callee, thread or apart, shared)
                    for callee, node, apart in self.steps(function)
                    if node is None or not self.is_guarded(node, function)
                ]

    def _worked_out(self, first: Scope, *, in_thread: bool) -> Reach:
        found = {first: in_thread}
        queue = [first]
        while queue:
            here = queue.pop()
            for callee, node, thread in self.steps(here):
                if callee in found and (found[callee] or not (thread or found[here])):
                    continue
                if node is not None and self.is_guarded(node, here):
                    continue
                found[callee] = thread or found[here]
                queue.append(callee)
        return found

    def steps(self, here: Scope) -> Iterator[tuple[Scope, cst.CSTNode | None, bool]]:
        """What a function runs on objects that it shares, by which node, and whether in a thread of its own."""
        for site in self.graph.calls[here]:
            if site.callee in self.races.apart:  # a call begins it, and does not wait
                continue
            base = ex.receiver(site.node)  # a function that gets a list of the run's own may store elsewhere, too
            if base is not None and ex.dotted(base) == self.module.self_name(here):
                base = None  # so may other methods of a view
            if (base is None or not self.races.ownership.is_own(base, here)) and not self.races.is_held_back(
                site.node, here
            ):
                yield site.callee, site.node, self._is_read_in_thread(site)
        for function in self._nested.get(here, ()):
            yield function, None, False
        for start in self.races.joined_in(here):
            yield start.function, start.node, start.kind == "thread"

    def _is_read_in_thread(self, site: CallSite) -> bool:
        plain = site.callee.is_generator and not site.callee.is_async
        return plain and is_streamed(self.module, site.node)

    @cached_property
    def _nested(self) -> dict[Scope, list[Scope]]:
        """The functions that each function defines, but for those that are started or served by themselves."""
        apart = {start.function for start in self.races.starts} | self._served
        found: dict[Scope, list[Scope]] = defaultdict(list)
        for function in self.module.functions:
            if function.kind in {"function", "lambda"} and function.parent is not None and function not in apart:
                if not self._are_run_in_turn(self.graph.references[function]) or self.graph.sites[function]:
                    found[function.parent.function].append(function)
        return found

    def _are_run_in_turn(self, references: list[cst.BaseExpression]) -> bool:
        """Whether a function is only handed to others of the project, which run one when the one before is over."""
        return bool(references) and all(map(self._is_run_in_turn, references))

    def _is_run_in_turn(self, value: cst.CSTNode) -> bool:
        arg = self.module.parent.get(value)
        call = self.module.parent[arg] if isinstance(arg, cst.Arg) else None
        run = body(self.anatomy, value)
        made = isinstance(value, cst.Call) and (run is None or not run[1].is_async)
        return isinstance(call, cst.Call) and not made and is_run_in_turn(self.anatomy, call, value)

    def _is_queued(self, node: cst.CSTNode) -> bool:
        """Whether a node stands in a lambda, or is a coroutine, that is handed so."""
        outers = takewhile(lambda each: isinstance(each, cst.BaseExpression | cst.Arg), self.module.ancestors(node))
        return any(map(self._is_run_in_turn, (node, *(each for each in outers if isinstance(each, cst.Lambda)))))

    def is_guarded(self, node: cst.CSTNode, function: Scope) -> bool:
        """Whether a lock or a busy flag keeps others away from a node."""
        locks = self.races.locks
        return (
            bool(self.guarding(node, function))
            or locks.is_chosen(node, function)
            or self.races.flags.guard(node, function)
            or self._is_queued(node)
        )

    def guarding(self, node: cst.CSTNode, function: Scope) -> frozenset[Slot]:
        """The locks around a node, but for those that no other run can take: each has made its own."""
        around = self.races.locks.around(node, function)
        return frozenset(lock for lock in around if not self._is_of_one_run(lock))

    @once(circular=False)
    def _is_of_one_run(self, lock: Slot) -> bool:
        """Whether each run makes a lock for itself: in a local that goes no further, or on an object of its own."""
        place = root_object(lock)
        if not self.races.locks.are_made_at(place):
            return False
        if place[0] == "attr":
            in_class = any(self.module.scope_of[value].kind == "class" for value in self.facts.assigned(place))
            return not in_class and self._is_made_for_events(place[1])
        if place[0] != "var" or place[1].kind != "function":
            return False
        begins = any(self.module.scope_of[start.node].function is place[1] for start in self.races.starts)
        uses = (self.module.parent[name] for name in self.facts.names.get(place, ()))
        return not begins and not any(isinstance(use, (cst.Arg, cst.Return)) for use in uses)

    def _is_made_for_events(self, cls: Scope) -> bool:
        """Whether handlers make an object of a class for each event, and that begins nothing that it runs beside."""
        methods = {each for each in cls.methods.values() if not self.races.is_setup(each)}
        sites = [s for each in methods for s in self.graph.sites[each] if s.caller.owner is not cls]
        callers = [c for c in self.anatomy.callers if c.passing.function in {each.qualname for each in methods}]
        served = any(s.caller in self.graph.may_run(handler) for s in sites for handler in self._served)
        begins = any(self.module.scope_of[start.node].function.owner is cls for start in self.races.starts)
        own = all(self.races.ownership.on_own_object(s.node, s.caller) for s in sites) and all(c.own for c in callers)
        return own and not begins and (served or any(c.kind == "handler" for c in callers))

    @cached_property
    def _served(self) -> set[Scope]:
        return set(self.graph.servings) if self.races.starts else set()

    # -- several at once --------------------------------------------------------------------------------------

    @once(circular=False)
    def is_many(self, start: Start) -> bool:
        """Whether a task or thread is started again and again, with no flag that keeps the next one back."""
        if start.begun is not None:
            there, taken = start.begun
            return start.many or (there.unguarded.is_many(taken) and not there.races.joins.is_joined(taken))
        if start.target is None:
            return start.many
        where = self.module.scope_of[start.node].function
        joins = self.races.joins
        kept_back = self.races.flags.guard(start.node, where) and not joins.lets_go(start)
        if kept_back or self._has_one_worker(start) or joins.follows_its_last(start):
            return False
        loops = [
            outer
            for outer in self.module.ancestors(start.node)
            if isinstance(outer, (*LOOPS, cst.CompFor))
            and (where.kind == "module" or self.module.inside(outer, where.node))
        ]
        is_element = not self.module.inside(start.target, start.node)  # of what the innermost loop goes through
        looped = len(loops) > is_element
        return looped or starts_several(start) or self._per_event(where, set()) or self.is_called_back(start, where)

    def is_begun_again(self, begun: Begun) -> bool:
        """Whether several runs of what a file begins may be under way, which is no function of it.

        Not with one worker, nor on one object each, or one by one.
        """
        start = self._start(begun)
        return self.races.alone(start).many and self.is_many(start) and not self.is_for_each(start)

    def is_waited_for(self, begun: Begun) -> bool:
        """Whether what a file begins is over before the function goes on that has begun it."""
        return self.races.joins.is_joined(self._start(begun))

    def _start(self, begun: Begun) -> Start:
        return Start(self.module.scope_of[begun.node].function, begun.node, begun.kind, True, begun.target)

    def is_called_back(self, start: Start, where: Scope) -> bool:
        """A function starts a task for what it is given, and does not wait; and it is called again and again."""
        if start.begun is not None:
            there, taken = start.begun
            return there.unguarded.is_called_back(taken, there.module.scope_of[taken.node].function)
        given = {p.name.value for p in parameters(where)[where.owner is not None :]}
        begun = start.function if start.function.parent is where else None  # defined there, it sees what that gets
        seen = [start.node, begun.node] if begun is not None else [start.node]
        used = [*dict.fromkeys(part.value for node in seen for part in _names(node))]
        for name in used:  # and what these are made of
            made = self.facts.assigned(("var", where, name)) if name not in given else []
            used += {part.value for value in made for part in _names(value)}.difference(used)
        return (
            not given.isdisjoint(used)
            and self._comes_again(where, start, set())
            and not self.races.joins.is_joined(start)
        )

    def _is_run_once(self, method: Scope) -> bool:
        """Whether all who are seen to call a method, in other files, do so once for an object that they make."""
        known = [caller for caller in self.races.anatomy.callers if caller.passing.function == method.qualname]
        return bool(known) and all(caller.own for caller in known)

    def _comes_again(self, where: Scope, start: Start, seen: set[Scope]) -> bool:
        """Whether a function is called in a loop, or by one that is; or by others.

        By others, if it is a public method that nobody here calls, or is handed to who is not of the project.
        """
        seen.add(where)
        sites = self.graph.sites[where]
        if not sites:
            is_public = where.owner is not None and self.races.is_public(where) and not self._is_run_once(where)
            return is_public or any(map(self._is_taken, self.graph.references[where]))
        return any(
            self._is_repeated(site, start)
            or (
                site.caller not in seen
                and not self.races.flags.guard(site.node, site.caller)
                and not self.races.ownership.on_own_object(site.node, site.caller)
                and self._comes_again(site.caller, start, seen)
            )
            for site in sites
        )

    def _is_taken(self, reference: cst.BaseExpression) -> bool:
        """Whether a function is handed to a library, for it to call: `Socket(url, on_message=heard)`."""
        arg = self.module.parent[reference]
        call = self.module.parent[arg] if isinstance(arg, cst.Arg) else None
        if not isinstance(call, cst.Call) or handed_along(call) is not None or not is_of_library(self.graph, call):
            return False
        return run_elsewhere(self.anatomy, call) is None and made_class(self.anatomy, call) is None

    def _is_repeated(self, site: CallSite, start: Start) -> bool:
        """A call in a loop, on the same object each time, with nothing in the loop that waits for what it starts."""
        loop = self.module.loop_around(site.node, own=True)
        if loop is None or self.races.flags.guard(site.node, site.caller):
            return False
        return not self._is_other_each_time(ex.receiver(site.node), site.node) and not self.races.joins.ends_in(
            loop, start
        )

    def _per_event(self, function: Scope, seen: set[Scope]) -> bool:
        """A handler, what handlers call without a guard, or what is begun again and again by one of these."""
        if function in seen:
            return False
        seen.add(function)
        if function in self._served or any(map(self.is_many, self._begun_as.get(function, ()))):
            return True
        return any(
            not self.races.flags.guard(site.node, site.caller)
            and not self.races.ownership.on_own_object(site.node, site.caller)
            and self._per_event(site.caller, seen)
            for site in self.graph.sites[function]
        )

    @cached_property
    def _begun_as(self) -> dict[Scope, list[Start]]:
        """The starts of which several may run, by their function."""
        found: dict[Scope, list[Start]] = defaultdict(list)
        for start in self.races.starts:
            if (
                start.many
                and start.kind != "handler"
                and self.module.scope_of[start.node].function is not start.function
            ):
                found[start.function].append(start)
        return found

    def _has_one_worker(self, start: Start) -> bool:
        slot = self.facts.slots.of(ex.receiver(start.node))
        made = [*self.facts.assigned(slot), *self.facts.entered(slot)] if slot is not None else []
        pools = (value for value in made if isinstance(value, cst.Call))
        return any(constant(self.anatomy, ex.argument(pool, "max_workers", 0)) == 1 for pool in pools)

    def is_for_each(self, start: Start) -> bool:
        """`for agent in agents: create_task(agent.run())`: another object each time."""
        base = start.target.value if isinstance(start.target, cst.Attribute) else None
        return self._is_other_each_time(base, start.node)

    def _is_other_each_time(self, root: cst.BaseExpression | None, node: cst.CSTNode) -> bool:
        """Whether an object is another one in each round of the loops around a node."""
        while isinstance(root, (cst.Attribute, cst.Subscript)):
            root = root.value
        return isinstance(root, cst.Name) and root.value in self._loop_names(node)

    def _loop_names(self, node: cst.CSTNode) -> set[str]:
        """The names that loops around a node bind, and what their bodies bind before it."""
        names: set[str] = set()
        for outer in self.module.ancestors(node):
            if isinstance(outer, cst.For):
                names.update(ex.target_names(outer.target))
                inner = (n for n in walk(outer.body) if isinstance(n, cst.AssignTarget))
                names.update(name for n in inner for name in ex.target_names(n.target))
            elif isinstance(outer, (cst.ListComp, cst.GeneratorExp, cst.SetComp, cst.DictComp)):
                names.update(ex.target_names(outer.for_in.target))
        return names


def _names(node: cst.CSTNode) -> Iterator[cst.Name]:
    return (part for part in walk(node) if isinstance(part, cst.Name))
