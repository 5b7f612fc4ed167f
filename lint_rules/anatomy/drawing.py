"""From the anatomy of a file to the model of its picture: the parts of each loop of rounds, and what leads to what."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import cached_property
from itertools import product

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.calls.answers import is_answer
from lint_rules.anatomy.messages.transcript import Stored
from lint_rules.anatomy.messages.views import Views
from lint_rules.anatomy.outline import asks, known, reaching, shared, starts
from lint_rules.anatomy.program.concurrency import Start
from lint_rules.anatomy.rounds.executions import call_loops, runs_tool
from lint_rules.anatomy.rounds.limits import Cause, Limits
from lint_rules.anatomy.rounds.rounds import RoundLoop
from lint_rules.anatomy.values.copies import Copies, forms_of_copies
from lint_rules.anatomy.values.kinds import Kind, LLMCall
from lint_rules.anatomy.values.slots import Slot, describe
from lint_rules.finding import Finding, Span
from lint_rules.lines import lines_of
from lint_rules.picture import ROUND, Edge, Loop, Part, PartKind, Place, Sheet
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.module import Scope, parameters
from lint_rules.syntax.walk import walk

__all__ = ["draw"]

_OF_A_CALL = frozenset({Kind.CALL, Kind.FUNCTION})
_LINES = 4
"""What is shown of the code of a part."""
_WIDTH = 160
_NAME = 60
_BLOCKS = (cst.For, cst.While, cst.With, cst.FunctionDef, cst.If, cst.Try)
_ORDER: tuple[PartKind, ...] = (
    "start", "history", "copy", "cut", "ask", "reply", "end", "limit", "guard", "parse", "run", "answer", "write",
    "lock", "code",
)  # fmt: skip
_RUNS = {
    "thread": "in a thread",
    "task": "as a task",
    "handler": "for each request",
    "serial": "for each event",
    "process": "in a process",
}
_STORES = {
    "append": "stores", "insert": "stores", "extend": "stores", "cut": "takes messages out of",
    "replace": "writes over messages of", "rebind": "replaces", "set": "writes over a message of",
}  # fmt: skip


def draw(anatomy: Anatomy, findings: tuple[Finding, ...]) -> Sheet:
    """The picture of a file, with what the rules have found in it, in order of place."""
    paper = _Paper(anatomy)
    loops = [_Round(paper, loop, findings).drawn() for loop in anatomy.rounds]
    return Sheet(
        path=anatomy.module.path,
        loops=tuple(replace(loop, id=f"{loop.id}-{number}") for number, loop in enumerate(loops, 1)),
        asks=tuple(asks(anatomy)),
        reaching=tuple(reaching(anatomy)),
        starts=tuple(starts(anatomy)),
        shared=tuple(shared(anatomy)),
        known=tuple(known(anatomy)),
        findings=findings,
    )


class _Paper:
    """The text of a file, and where things stand in it."""

    def __init__(self, anatomy: Anatomy) -> None:
        self.anatomy = anatomy
        self.module = anatomy.module
        self.lines = lines_of(anatomy.module.text)

    def place(self, node: cst.CSTNode) -> Place:
        """Of what has a block, that of its head."""
        span = self.module.positions.span(node)
        if isinstance(node, _BLOCKS) and isinstance(node.body, cst.IndentedBlock) and node.body.body:
            last = max(span.line, self.module.positions.span(node.body.body[0]).line - 1)
            while last > span.line and not self.lines[last - 1].partition("#")[0].strip():
                last -= 1
            span = span._replace(end_line=last, end_column=len(self.lines[last - 1]) + 1)
        return Place(*span)

    def code(self, place: Place) -> str:
        """The lines of a place, without what indents them all, and not more than can be taken in at a glance."""
        lines = self.lines[place.line - 1 : place.end_line]
        indent = min((len(line) - len(line.lstrip()) for line in lines if line.strip()), default=0)
        shown = [_short(line[indent:].rstrip().expandtabs(4), _WIDTH) for line in lines[:_LINES]]
        more = len(lines) - len(shown)
        return "\n".join([*shown, f"… {more} more line{'s' * (more > 1)}"] if more else shown)

    @cached_property
    def _functions(self) -> list[tuple[Span, Scope]]:
        functions = [f for f in self.module.functions if isinstance(f.node, cst.FunctionDef)]
        return [(self.module.positions.span(function.node), function) for function in functions]

    def function_at(self, line: int) -> Scope:
        """The function around a line, the innermost one; else the module."""
        around = [(s.end_line - s.line, n) for n, (s, _) in enumerate(self._functions) if s.line <= line <= s.end_line]
        return self._functions[min(around)[1]][1] if around else self.module.top


class _Round:
    """One loop of rounds while it is drawn. `inside` are the functions of the file that it runs."""

    def __init__(self, paper: _Paper, loop: RoundLoop, findings: tuple[Finding, ...]) -> None:
        self.paper = paper
        self.anatomy = paper.anatomy
        self.module = paper.module
        self.facts = self.anatomy.facts
        self.graph = self.anatomy.calls
        self.loop = loop
        self.findings = findings
        self.parts: dict[str, Part] = {}
        self.nodes: dict[str, cst.CSTNode] = {}
        self.edges: dict[tuple[str, str], Edge] = {}
        self.inside = self._functions_inside()

    def drawn(self) -> Loop:
        """All of it. The limit comes first, for nothing else is said of the loop itself."""
        limit = self._limit()
        self._main()
        self._beside()
        self._pin()
        self._connect()
        place = self.paper.place(self.loop.node)
        listed = sorted(self.parts.values(), key=lambda part: (_ORDER.index(part.kind), part.place.line))
        return Loop(
            id=f"loop-{place.line}",
            function=self.loop.function.qualname,
            place=place,
            statement=self.paper.code(place),
            limit=limit,
            parts=tuple(listed),
            edges=tuple(self.edges.values()),
        )

    # -- what the loop runs -----------------------------------------------------------------------------------

    def _functions_inside(self) -> list[Scope]:
        found: dict[Scope, None] = {}
        queue = [self.graph.calls_within(self.loop.node.body, self.loop.function)]
        while queue:
            for call in queue.pop(0):
                callee = self.facts.slots.callee(call)
                if callee is not None and callee is not self.loop.function and callee not in found:
                    found[callee] = None
                    queue.append(callee.nodes_of(cst.Call))
        return list(found)

    def _runs(self, node: cst.CSTNode) -> bool:
        """Whether a node is run by the loop."""
        function = self.module.scope_of[node].function
        return function in self.inside or (
            function is self.loop.function and self.module.inside(node, self.loop.node.body)
        )

    def _near(self, nodes: Iterable[tuple[Scope, cst.CSTNode]]) -> list[cst.CSTNode]:
        """Of nodes in functions, those of the loop's own, or else of the nearest one that it runs."""
        found: dict[Scope, list[cst.CSTNode]] = {}
        for function, node in nodes:
            if self._runs(node):
                found.setdefault(function, []).append(node)
        return next((found[function] for function in (self.loop.function, *self.inside) if function in found), [])

    @cached_property
    def _around(self) -> list[Scope]:
        return [self.loop.function, *self.inside]

    # -- the round --------------------------------------------------------------------------------------------

    def _main(self) -> None:
        """History, ask, reply, tool run, answers."""
        self._history()
        request = self._request
        asks = self.loop.asks
        through = request is not None and request.node is not asks
        says = "sends the history to the model"
        if through and request is not None:
            says = f"asks the model, by `{ex.source(request.node.func, _NAME)}` in {self.paper.place(request.node)}"
        self._add("ask", asks, ex.source(asks.func, _NAME), says)
        self._reply()
        for call in self._near((f, node) for f in self._around for node in self._executions(f)):
            assert isinstance(call, cst.Call)
            self._add("run", call, ex.source(call.func, _NAME), "runs a tool call of the reply")
        self._stored()

    @cached_property
    def _request(self) -> LLMCall | None:
        """The call that asks the model in the end."""
        if self.loop.asks in self.facts.calls:
            return self.facts.calls[self.loop.asks]
        callee = self.facts.slots.callee(self.loop.asks)
        inner = [call for f in self.inside if callee is not None for call in self.graph.llm_calls[f]]
        return self.facts.calls[inner[0]] if inner else None

    @cached_property
    def _sent(self) -> cst.BaseExpression | None:
        """What the loop sends, or hands to the function that sends it."""
        request, asks = self._request, self.loop.asks
        handed = [arg.value for arg in asks.args if self.facts.is_kind(arg.value, Kind.HISTORY)]
        if request is not None and request.node is asks and request.history is not None:
            return request.history
        return handed[0] if handed else request.history if request is not None else None

    @cached_property
    def _snapshots(self) -> list[cst.BaseExpression]:
        """The copies or views of a history that are sent."""
        sent = self._sent
        values = [sent, *self.facts.values_of(sent)] if sent is not None else []
        views = Views(self.anatomy)
        return [value for value in values if views.made_of(value) is not None]

    @cached_property
    def _slots(self) -> list[Slot]:
        """The histories of the loop: what the sent one was made of comes first."""
        views = Views(self.anatomy)
        made = [views.made_of(value) for value in self._snapshots]
        found = [origin[0] for origin in made if origin is not None]
        sent = self.facts.slots.of(self._sent)
        found += [sent] if sent is not None else []
        found += [
            stored.slot
            for stored in self.anatomy.transcript.stored(self.loop.function)
            if stored.slot is not None and self._runs(stored.node) and Kind.HISTORY in self.facts.of(stored.slot)
        ]
        return [slot for slot in dict.fromkeys(found) if slot[0] not in {"call", "return"}]

    def _history(self) -> None:
        slots = self._slots[:1]
        for slot in slots:
            evidence = self.facts.of(slot).get(Kind.HISTORY)
            says = evidence.clause if evidence is not None else "what the model is sent"
            self._add("history", self._origin(slot), describe(slot), says)
        if not slots and self._sent is not None:
            self._add("history", self._sent, ex.source(self._sent, _NAME), "what the model is sent")
        for value in self._snapshots:
            made_in = "in each round" if self._runs(value) else "once, before the rounds"
            self._add("copy", value, ex.source(value, _NAME), f"what is sent is made of the history {made_in}")

    def _origin(self, slot: Slot) -> cst.CSTNode:
        """Where a history begins: first bound, a parameter, or first seen."""
        for write in self.anatomy.writes.by_slot.get(slot, ()):
            if write.kind == "rebind":
                return write.node
        if slot[0] == "var":
            for parameter in parameters(slot[1]):
                if parameter.name.value == slot[2]:
                    return parameter.name
        return self._sent if self._sent is not None else self.loop.asks

    def _reply(self) -> None:
        """Where the calls of the reply are gone through, or else what the reply is bound to."""
        loops = [(f, loop.calls) for f in self._around for loop in call_loops(self.facts, f)]
        for calls in self._near(loops):
            self._add("reply", calls, ex.source(calls, _NAME), "the tool calls that the model asks for")
            return
        statement = self.module.statement(self.loop.asks)
        for target in ex.assigned(statement):
            self._add("reply", target, ex.source(target, _NAME), "what the model says")
            return

    def _executions(self, function: Scope) -> Iterator[cst.Call]:
        """What gets a call or its arguments and runs them, and what is looked up by the name of a call."""
        for call in function.nodes_of(cst.Call):
            if not self.graph.asks(call) and not is_answer(call):
                if runs_tool(self.facts, self.anatomy.transcript, call) or self._is_looked_up(call.func):
                    yield call

    def _is_looked_up(self, func: cst.BaseExpression) -> bool:
        """`tools[call.function.name]`, `TOOLS.get(call.name)`."""
        key = func.slice if isinstance(func, cst.Subscript) else func.args if isinstance(func, cst.Call) else ()
        nodes = (node for part in key for node in walk(part) if isinstance(node, (cst.Name, cst.Attribute)))
        return any(_OF_A_CALL & self.facts.kinds(node).keys() for node in nodes)

    def _stored(self) -> None:
        """What the loop puts into histories: the answers to tool calls, and all else."""
        stored = [s for s in self.anatomy.transcript.stored(self.loop.function) if self._runs(s.node)]
        if not any(s.answers for s in stored):
            for function in self.inside:
                there = self.anatomy.transcript.stored(function)
                stored += there if any(s.answers for s in there) else ()
        for each in stored:
            if self._is_of_history(each):
                name = describe(each.slot) if each.slot is not None else ex.source(each.node, _NAME)
                if each.answers:
                    self._add("answer", each.node, name, f"the result of a tool call goes into `{name}`")
                else:
                    self._add("write", each.node, name, self._says(each))
        if not any(part.kind == "answer" for part in self.parts.values()):
            made = ((f, node) for f in self._around for node in f.nodes if is_answer(node))
            for node in self._near(made):
                self._add("answer", node, ex.source(node, _NAME), "the result of a tool call")

    def _is_of_history(self, stored: Stored) -> bool:
        """Not what is only collected, or bound anew in each round."""
        return stored.answers or (stored.slot in self._slots and stored.kind != "rebind")

    def _says(self, stored: Stored) -> str:
        name = describe(stored.slot) if stored.slot is not None else "the history"
        if stored.kind in {"append", "insert", "extend"}:
            what = {"assistant": "the reply", "user": "a user's message", "system": "a system message"}
            return f"stores {what.get(stored.role or '', 'a message')} in `{name}`"
        return f"{_STORES[stored.kind]} `{name}`"

    # -- beside it --------------------------------------------------------------------------------------------

    def _limit(self) -> str:
        """What bounds the rounds, as code; "" if nothing does."""
        limits = Limits(self.anatomy, self.loop.node, self.loop.function)
        limit = limits.limit
        name = ex.source(limit, _NAME) if limit is not None else ""
        if limit is not None:
            self._add("limit", limit, name, "bounds the rounds")
        elif limits.waits is not None:
            name = ex.source(limits.waits, _NAME)
            self._add("limit", limits.waits, name, "waits for somebody in each round")
        else:
            self._add("limit", self.loop.node, "no limit", "nothing bounds the rounds", missing=True)
        said = {
            Cause.REPLY: "ends the rounds, by what the model replied",
            Cause.OUTSIDE: "ends the rounds, as somebody outside says",
        }
        for decision in limits.decisions:
            if decision.cause in said and decision.node is not self.loop.node:
                self._add("end", decision.node, self._head(decision.node), said[decision.cause])
        return name

    def _head(self, node: cst.CSTNode) -> str:
        test = getattr(node, "test", None)
        return ex.source(test, _NAME) if isinstance(test, cst.BaseExpression) else ""

    def _beside(self) -> None:
        trims = [trim for trim in self.anatomy.trimming.trims if self._runs(trim.node) or self._cuts_sent(trim.node)]
        for trim in trims:
            base = ex.source(trim.cut.base, _NAME)
            what = {"sent": "and sends the rest", "stored": "for good", "returned": "and gives back the rest"}
            self._add("cut", trim.node, base, f"cuts the front off `{base}`, {what[trim.fate]}")
        self._copies({trim.node for trim in trims})
        for function in self._around:
            for call in function.nodes_of(cst.Call):
                if call.args and self._runs(call) and self.facts.decoder(call) is not None:
                    if self.facts.is_kind(call.args[0].value, Kind.ARGUMENTS_TEXT):
                        name = ex.source(call, _NAME)
                        self._add("parse", call, name, "reads the arguments that the model wrote, which may be no JSON")
        for guard in self.anatomy.guards.all:
            if guard.carried and self._runs(guard.node):
                self._add("guard", guard.node, ex.source(guard.node, _NAME), "looks for calls that come again")
        self._outside()
        self._locks()

    def _cuts_sent(self, node: cst.CSTNode) -> bool:
        return any(self.module.inside(node, value) for value in self._snapshots)

    def _copies(self, cuts: set[cst.CSTNode]) -> None:
        makers: dict[Scope, Copies] = {}
        functions = {*self._around, *(f for value in self._snapshots for f in self._called_in(value))}
        for node in forms_of_copies(self.module):
            function = self.module.scope_of[node].function
            if function not in functions or isinstance(node, cst.Assign) or node in cuts or self._is_gone_through(node):
                continue
            if function is self.loop.function and not self._runs(node):
                continue
            maker = makers.setdefault(function, Copies(self.facts, function))
            if maker.may_make(node):
                self._add("copy", node, ex.source(node, _NAME), "")

    def _is_gone_through(self, node: cst.CSTNode) -> bool:
        """Whether a copy is there for a loop over it only."""
        around = self.module.parent[node]
        return isinstance(around, (cst.For, cst.CompFor)) and around.iter is node

    def _called_in(self, node: cst.CSTNode) -> Iterator[Scope]:
        function = self.module.scope_of[node].function
        around = self.module.statement(node)
        for call in function.nodes_of(cst.Call):
            callee = self.facts.slots.callee(call) if self.module.inside(call, around) else None
            if callee is not None:
                yield from self.graph.reachable(callee)

    def _outside(self) -> None:
        """What others write into the histories of the loop, and what starts them, or the loop, beside it."""
        races = self.anatomy.races
        before = [s for s in self.anatomy.transcript.stored(self.loop.function) if not self._runs(s.node)]
        for stored in before:
            if stored.slot in self._slots and stored.kind != "rebind":
                self._add("write", stored.node, describe(stored.slot), f"{self._says(stored)}, outside the rounds")
        for write in [w for slot in self._slots for w in self.anatomy.writes.by_slot.get(slot, ())]:
            if not self._runs(write.node) and write.function is not self.loop.function:
                if not races.is_setup(write.function) and not self._is_in_helper_of(write.function, before):
                    says = f"{_STORES[write.kind]} `{describe(write.slot)}`, outside the rounds"
                    self._add("write", write.node, describe(write.slot), says)
        for start in races.starts:
            if self._concerns(start):
                run = _RUNS[start.kind]
                many = ", several at once" * start.many
                self._add("start", start.node, start.function.qualname, f"runs {run}{many}, beside others")

    def _is_in_helper_of(self, function: Scope, stored: Iterable[Stored]) -> bool:
        """Whether a write stands for one that is told where the helper is called."""
        return any(s.write is not None and s.write.function is function and s.node is not s.write.node for s in stored)

    def _concerns(self, start: Start) -> bool:
        reached = self.graph.reachable(start.function)
        writers = {write.function for slot in self._slots for write in self.anatomy.writes.by_slot.get(slot, ())}
        return self.loop.function in reached or any(function in writers for function in reached)

    def _locks(self) -> None:
        """The locks that are held where the loop's histories are written, each with the parts it guards."""
        locks = self.anatomy.races.locks
        for slot in self._slots:
            for write in self.anatomy.writes.by_slot.get(slot, ()):
                for lock in sorted(self.anatomy.races.held(write), key=_lock_name):
                    region = locks.region(write.node, write.function) or write.node
                    part = self._add("lock", region, _lock_name(lock), f"held while `{describe(slot)}` is written")
                    for name, node in self.nodes.items():
                        if self.parts[name].kind in {"answer", "write"} and self._leads_to(node, write.node):
                            self._edge(part, name, "beside")

    def _leads_to(self, node: cst.CSTNode, target: cst.CSTNode) -> bool:
        """Whether a node is another, or calls the function that it stands in."""
        if node is target:
            return True
        wanted = self.module.scope_of[target].function
        callee = self.facts.slots.callee(node)
        return callee is not None and wanted in self.graph.reachable(callee)

    # -- findings ---------------------------------------------------------------------------------------------

    def _pin(self) -> None:
        """Puts each finding on the part where it stands, or makes one where the loop runs what is found."""
        loop = self.module.positions.span(self.loop.node)
        for number, finding in enumerate(self.findings):
            names = self._parts_at(finding.span)
            if not names:
                function = self.paper.function_at(finding.span.line)
                is_own = function is self.loop.function and loop.line <= finding.span.line <= loop.end_line
                if is_own or function in self._run_somehow:
                    names = [self._add_code(finding, function)]
            for name in names[:1]:
                self.parts[name] = replace(self.parts[name], findings=(*self.parts[name].findings, number))

    @cached_property
    def _run_somehow(self) -> set[Scope]:
        """The functions that the loop, or what makes the history that it sends, runs."""
        return {*self.inside, *(f for value in self._snapshots for f in self._called_in(value))}

    def _parts_at(self, span: Span) -> list[str]:
        """The parts that a finding stands on: the one that begins where it does first, those of its line last."""
        begin, end = (span.line, span.column), (span.end_line, span.end_column)
        found = []
        for name, part in self.parts.items():
            first, last = (part.place.line, part.place.column), (part.place.end_line, part.place.end_column)
            overlaps = first < end and begin < last
            if overlaps or part.place.line == span.line:
                distances = [abs(ours - its) for ours, its in zip((*first, *last), (*begin, *end), strict=True)]
                found.append((not overlaps, distances, name))
        return [name for _, _, name in sorted(found)]

    def _add_code(self, finding: Finding, function: Scope) -> str:
        place = Place(*finding.span)
        code = self.paper.code(place)
        name = f"code-{place.line}"
        says = f"in `{function.qualname}`, which the loop runs"
        part = Part(name, "code", f"{function.qualname}()", says, function.qualname, place, code)
        self.parts.setdefault(name, part)
        for leading in self._leading(function):
            self._edge(leading, name, "beside")
        return name

    def _leading(self, function: Scope) -> list[str]:
        """The part that runs a function, by what it calls; none for the loop's own."""
        leading = [name for name, node in self.nodes.items() if function in {*self._called_in(node)}]
        return sorted(leading, key=lambda name: _ORDER.index(self.parts[name].kind))[:1]

    # -- edges ------------------------------------------------------------------------------------------------

    def _of(self, *kinds: PartKind) -> list[str]:
        return [name for name, part in self.parts.items() if part.kind in kinds]

    def _connect(self) -> None:
        stations = [self._of(kind) for kind in ROUND]
        stations.insert(1, [name for name in self._of("copy") if self.nodes[name] in self._snapshots])
        stations = [station for station in stations if station]
        for here, there in zip(stations, [*stations[1:], stations[0]], strict=True):
            for source, target in product(here, there):
                if source != target:
                    self._edge(source, target, "round")
        for source, target in self._branches():
            if source != target and (target, source) not in self.edges:
                self._edge(source, target, "beside")

    def _branches(self) -> Iterator[tuple[str, str]]:
        """What stands beside the round, with the part of the round it belongs to."""
        history, ask = (self._of("history") or self._of("ask"))[0], self._of("ask")[0]
        reply, run = (self._of("reply") or [ask])[0], (self._of("run") or self._of("reply") or [ask])[0]
        for name in self._of("limit"):
            yield name, ask
        for name in self._of("end"):
            yield reply, name
        for name in self._of("parse", "guard"):
            yield (name, run) if self._leads_to_part(name, run) else (reply, name)
        for name in self._of("write"):
            if self._runs(self.nodes[name]):
                yield reply, name
            yield name, history
        for name in self._of("copy", "cut"):
            if all(name not in ends for ends in self.edges):
                leading = self._leading(self.module.scope_of[self.nodes[name]].function)
                yield (leading or [history])[0], name
        for name in self._of("start"):
            written = [w for w in self._of("write") if self._starts(name, w)]
            for target in written or [history]:
                yield name, target
        for name in self._of("lock"):
            if all(name not in ends for ends in self.edges):
                yield name, history
        for name in self._of("code"):
            if all(name not in ends for ends in self.edges):
                yield run, name

    def _leads_to_part(self, name: str, other: str) -> bool:
        return self._leads_to(self.nodes[other], self.nodes[name])

    def _starts(self, name: str, write: str) -> bool:
        node = self.nodes[write]
        return any(
            start.node is self.nodes[name]
            and self.module.scope_of[node].function in self.graph.reachable(start.function)
            for start in self.anatomy.races.starts
        )

    # -- making -----------------------------------------------------------------------------------------------

    def _add(self, kind: PartKind, node: cst.CSTNode, name: str, says: str, *, missing: bool = False) -> str:
        """The id of a part, which is made unless there is one of its kind in its line."""
        place = self.paper.place(node)
        key = f"{kind}-{place.line}"
        if key not in self.parts:
            function = self.module.scope_of[node].function
            self.parts[key] = Part(
                key, kind, name, says, function.qualname, place, self.paper.code(place), missing=missing
            )
            self.nodes[key] = node
        return key

    def _edge(self, source: str, target: str, kind: str) -> None:
        made = Edge(source, target, "round" if kind == "round" else "beside")
        self.edges.setdefault((source, target), made)


def _lock_name(lock: Slot) -> str:
    """The lock as a person writes it; one that has no name is called so."""
    return "a lock" if lock[0] == "lock" else describe(lock)


def _short(text: str, width: int) -> str:
    return text if len(text) <= width else f"{text[: width - 1]}…"
