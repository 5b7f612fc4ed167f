"""Who calls whom in one file, and which functions reach a model through calls of any depth."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from typing import TYPE_CHECKING

import libcst as cst

from lint_rules.anatomy import vocabulary as words
from lint_rules.anatomy.values.facts import Facts
from lint_rules.anatomy.values.kinds import Kind
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.module import Scope, SourceModule
from lint_rules.syntax.record import record
from lint_rules.syntax.walk import walk

if TYPE_CHECKING:
    from lint_rules.anatomy.program.serving import Serving


@record
class CallSite:
    """A call of a function of this file, in the function (or module body) `caller`."""

    node: cst.Call
    caller: Scope
    callee: Scope


class CallGraph:
    """Call sites by caller and by callee; `references` are uses of a function as a value (callbacks, targets)."""

    def __init__(self, facts: Facts) -> None:
        self.facts = facts
        self.calls: dict[Scope, list[CallSite]] = defaultdict(list)
        self.sites: dict[Scope, list[CallSite]] = defaultdict(list)
        self.references: dict[Scope, list[cst.BaseExpression]] = defaultdict(list)
        self.llm_calls: dict[Scope, list[cst.Call]] = defaultdict(list)
        self._last: tuple[Scope, frozenset[Scope]] | None = None
        module = facts.module
        for node in module.nodes_of(cst.Call):
            if node in facts.calls:
                self.llm_calls[module.scope_of[node].function].append(node)
            callee = facts.slots.callee(node)
            if callee is not None:
                caller = module.scope_of[node].function
                site = CallSite(node, caller, callee)
                self.calls[caller].append(site)
                self.sites[callee].append(site)
        names = {function.name for function in module.functions} - {"__init__"}
        named: list[cst.BaseExpression] = [node for node in module.nodes_of(cst.Name) if node.value in names]
        named += [node for node in module.nodes_of(cst.Attribute) if node.attr.value in names]
        for reference in named:
            function = facts.slots.function(reference) if _is_value(module, reference) else None
            if function is not None and function.name != "__init__":
                self.references[function].append(reference)
        for references in self.references.values():
            if type(references[0]) is not type(references[-1]):  # names come first, then attributes
                references.sort(key=module.order.__getitem__)
        self._running: set[cst.Call] = set()
        """Calls that are handed a function which reaches a model."""
        self._reaching = self._closure()

    @cached_property
    def servings(self) -> dict[Scope, Serving]:
        """The functions that a framework calls for its users."""
        from lint_rules.anatomy.program.serving import servings

        return servings(self)

    def _closure(self) -> dict[Scope, cst.Call]:
        """Functions that reach a model, each with the call in it that leads there."""
        reaching = {function: calls[0] for function, calls in self.llm_calls.items()}
        queue = list(reaching)
        while queue:
            function = queue.pop()
            for site in self.sites[function]:
                if site.caller not in reaching:
                    reaching[site.caller] = site.node
                    queue.append(site.caller)
            for call in self._handed_to(function):
                self._running.add(call)
                caller = self.facts.module.scope_of[call].function
                if caller not in reaching:
                    reaching[caller] = call
                    queue.append(caller)
        return reaching

    def _handed_to(self, function: Scope) -> Iterator[cst.Call]:
        """The calls that may well run a function: `traced(lambda: ask(talk))`, `await to_thread(partial(ask, talk))`.

        One that is named must give something, or be waited for: else it is put down for later, as a callback.
        """
        parent = self.facts.module.parent
        written = [function.node] if function.kind == "lambda" else []
        for node in (*written, *self.references[function]):
            arg = parent[node]
            call = parent[arg] if isinstance(arg, cst.Arg) else None
            if isinstance(call, cst.Call) and ex.called_name(call) == "partial":
                arg = parent[call]
                call = parent[arg] if isinstance(arg, cst.Arg) else None
            if isinstance(call, cst.Call) and (node in written or self._is_waited_for(call)):
                yield call

    def _is_waited_for(self, call: cst.Call) -> bool:
        """Whether a call is awaited, or gives something, and neither makes an object nor begins a thread or a task."""
        module, name = self.facts.module, ex.called_name(call)
        for outer in module.ancestors(call):
            if isinstance(outer, cst.Await):
                return True
            if isinstance(outer, (cst.BaseSmallStatement, cst.BaseCompoundStatement)):
                break
        if name in words.THREADS:
            return self._gives_its_result(call)
        return name not in words.TASKS and not name[:1].isupper() and not module.is_statement(call)

    def _gives_its_result(self, call: cst.Call) -> bool:
        """`pool.submit(ask, talk).result()`; `done = pool.submit(ask, talk)`, and `done.result(9)` or `await done`."""
        module = self.facts.module
        outer = module.parent[call]
        if isinstance(outer, cst.Attribute):
            return outer.attr.value == "result"
        names = {t.value for t in ex.targets(outer) if isinstance(t, cst.Name)} if isinstance(outer, cst.Assign) else ()
        function = module.scope_of[call].function
        asked = (ex.receiver(node) for node in function.nodes_of(cst.Call) if ex.called_name(node) == "result")
        waited = (part for node in function.nodes_of(cst.Await) for part in walk(node))
        return any(isinstance(node, cst.Name) and node.value in names for node in (*asked, *waited))

    def with_callers(self, functions: Iterable[Scope]) -> set[Scope]:
        """Some functions, and those of this file that run one of them by calls."""
        return _with_all_before(functions, lambda function: {site.caller for site in self.sites[function]})

    def reaches_llm(self, function: Scope) -> bool:
        """Whether running `function` asks a model, directly or through functions of this file."""
        return function in self._reaching

    def asks(self, call: cst.Call) -> bool:
        """Whether a call asks a model: itself, or in a function of this file that it runs, or is handed."""
        if call in self.facts.calls or call in self._running:
            return True
        callee = self.facts.slots.callee(call)
        return callee is not None and self.reaches_llm(callee)

    def asks_here(self, call: cst.Call) -> bool:
        """The same, but for functions that only run an object which they make: the talk of an agent under this one."""
        callee = self.facts.slots.callee(call)
        own = callee is None or call in self.facts.calls or call in self._running
        return self.asks(call) and (own or callee in self._reaching_here or self._is_of_another(call))

    @cached_property
    def _reaching_here(self) -> set[Scope]:
        """The functions that reach a model otherwise than by a run on an object that they, or others, make for it."""

        def callers(function: Scope) -> set[Scope]:
            return {site.caller for site in self.sites[function] if not self._is_of_another(site.node)}

        handed = {call: self.facts.module.scope_of[call].function for call in self._running}
        return _with_all_before([*self.llm_calls, *handed.values()], callers)

    def _is_of_another(self, call: cst.Call) -> bool:
        """Whether a call runs an object that is made for it, and handed no history: its talk is another one."""
        made = self.made_for(call)
        given = (arg.value for each in (call, *made) for arg in each.args)
        return bool(made) and not any(Kind.HISTORY in self.facts.kinds(value) for value in given)

    def made_for(self, call: cst.Call) -> list[cst.Call]:
        """What makes the object of a method, `Agent().run(text)`, also by a local name; [] where others may make it."""
        base, slots, function = ex.receiver(call), self.facts.slots, self.facts.module.scope_of[call].function
        slot = slots.of(base) if base is not None and not isinstance(base, cst.Call) else None
        own = slot is not None and slot[0] == "var" and slot[1] is function and function.kind != "module"
        values = self.facts.assigned(slot) if own else [base]
        made = [value for value in values if isinstance(value, cst.Call) and slots.constructed(value) is not None]
        return made if len(made) == len(values) else []

    def in_lambdas(self, call: cst.Call) -> list[cst.Call]:
        """The calls in lambdas that are written for a call, which may well run them."""
        lambdas = (arg.value for arg in call.args if type(arg.value) is cst.Lambda)
        return [node for each in lambdas for node in walk(each.body) if type(node) is cst.Call]

    def reachable(self, function: Scope) -> frozenset[Scope]:
        """`function` and every function of this file it runs: what it calls, and what it hands to a call that runs it.

        The last answer is kept: it is asked for each loop of a function.
        """
        if self._last is None or self._last[0] is not function:
            seen = {function}
            queue = [function]
            while queue:
                for run in self._runs[queue.pop()]:
                    if run not in seen:
                        seen.add(run)
                        queue.append(run)
            self._last = function, frozenset(seen)
        return self._last[1]

    @cached_property
    def _runs(self) -> dict[Scope, list[Scope]]:
        """By function: those that it calls, or hands to calls which may well run them: `return in_session(read)`."""
        module, found = self.facts.module, defaultdict[Scope, list[Scope]](list)
        for caller, sites in self.calls.items():
            found[caller] += [site.callee for site in sites]
        lambdas = [function for function in module.functions if function.kind == "lambda"]
        for function in (*self.references, *lambdas):
            for call in self._handed_to(function):
                found[module.scope_of[call].function].append(function)
        return found

    def may_run(self, function: Scope) -> set[Scope]:
        """What running `function` may set off: what it calls, defines, or hands on as a callback, thread or task."""
        seen = {function}
        queue = [function]
        while queue:
            here = queue.pop()
            for target in self._sets_off.get(here, ()):
                if target not in seen:
                    seen.add(target)
                    queue.append(target)
        return seen

    @cached_property
    def _sets_off(self) -> dict[Scope, list[Scope]]:
        """By function: what it calls, and what it defines or mentions."""
        functions = {*self.calls, *self._handed_on}
        return {
            each: [*(site.callee for site in self.calls.get(each, ())), *self._handed_on.get(each, ())]
            for each in functions
        }

    def may_come_to(self, functions: Iterable[Scope]) -> set[Scope]:
        """Some functions, and all that may set one of them off."""
        return _with_all_before(functions, lambda function: set(self._run_by[function]))

    @cached_property
    def _run_by(self) -> dict[Scope, list[Scope]]:
        """By function: those that call, define or mention it."""
        found: dict[Scope, list[Scope]] = defaultdict(list)
        for function, targets in self._sets_off.items():
            for target in targets:
                found[target].append(function)
        return found

    @cached_property
    def _handed_on(self) -> dict[Scope, list[Scope]]:
        """The functions that each function defines or mentions, besides those it calls."""
        found: dict[Scope, list[Scope]] = defaultdict(list)
        module = self.facts.module
        for function in module.functions:
            if function.kind in {"function", "lambda"} and function.parent is not None:
                found[function.parent.function].append(function)
        for function, references in self.references.items():
            for reference in references:
                found[module.scope_of[reference].function].append(function)
        return found

    def calls_within(self, region: cst.CSTNode, function: Scope) -> list[cst.Call]:
        """The calls of `function` that stand inside `region`, in source order."""
        return self.facts.module.nodes_inside(region, function, cst.Call)


def _with_all_before(functions: Iterable[Scope], before: Callable[[Scope], set[Scope]]) -> set[Scope]:
    """Some functions, what stands `before` them, what stands before that, and so on."""
    found = set(functions)
    queue = list(found)
    while queue:
        new = before(queue.pop()) - found
        found |= new
        queue += new
    return found


def _is_value(module: SourceModule, name: cst.CSTNode) -> bool:
    """Whether a name stands for its value: it is not called, nor the one that a `def` or `class` gives."""
    parent = module.parent.get(name)
    if type(parent) is cst.Call:
        return parent.func is not name
    return type(parent) not in {cst.FunctionDef, cst.ClassDef} or parent.name is not name  # type: ignore[union-attr]
