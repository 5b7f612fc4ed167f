"""The anatomy of one file: everything the rules may ask, built on first use."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Container, Iterable, Iterator
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import libcst as cst

from lint_rules.anatomy.guards.guards import Guards
from lint_rules.anatomy.messages.messages import Messages
from lint_rules.anatomy.messages.transcript import Transcript
from lint_rules.anatomy.messages.writes import Writes
from lint_rules.anatomy.program.aliases import Aliases
from lint_rules.anatomy.program.call_graph import CallGraph
from lint_rules.anatomy.rounds.rounds import RoundLoop, round_loops
from lint_rules.anatomy.values.facts import Facts
from lint_rules.anatomy.values.kinds import Kind
from lint_rules.anatomy.values.slots import Slot
from lint_rules.anatomy.vocabulary import Vocabulary
from lint_rules.syntax import control_flow
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.memo import kept
from lint_rules.syntax.module import Scope, SourceModule, decorators, fields, is_protocol, parameter_names
from lint_rules.syntax.reaching import Definition, Reaching
from lint_rules.syntax.reexports import definitions, home, promised
from lint_rules.syntax.ways import Ways, reaching_in, ways_through

if TYPE_CHECKING:
    from lint_rules.anatomy.cuts.cuts import Cut
    from lint_rules.anatomy.cuts.handed import Handed, Placed
    from lint_rules.anatomy.cuts.mending import Mending
    from lint_rules.anatomy.cuts.trimming import Trimming
    from lint_rules.anatomy.messages.classes import Elements
    from lint_rules.anatomy.messages.contents import Contents
    from lint_rules.anatomy.messages.message_texts import Said
    from lint_rules.anatomy.program.concurrency import Caller
    from lint_rules.anatomy.turns.conversations import Conversations
    from lint_rules.anatomy.turns.handed_starts import Takers
    from lint_rules.anatomy.turns.kept_elsewhere import KeptElsewhere
    from lint_rules.anatomy.turns.races import Races
    from lint_rules.anatomy.turns.resources import Resources
    from lint_rules.anatomy.turns.storage import Storage
    from lint_rules.anatomy.turns.stored_turns import StoredTurns
    from lint_rules.anatomy.turns.turns import Turns
    from lint_rules.anatomy.turns.unguarded import Unguarded
    from lint_rules.anatomy.values.sharing import Stores


class Looks(NamedTuple):
    """What can be told of a file without its analysis; each is asked when it is needed."""

    may_ask: Callable[[], bool]
    starts_runs: Callable[[], bool]


class Neighbour:
    """A file that another one imports: analysed when something is asked for that it defines."""

    def __init__(self, module: str, path: str, source: bytes, looks: Looks, read: Callable[[], Anatomy | None]) -> None:
        """`module` is its name where it is imported, `read` analyses it."""
        self.module = module
        self.path = path
        self.source = source
        self._looks = looks
        self._read = read

    def defines(self, keyword: str, name: str) -> bool:
        """Whether `class Name` or `def name` stands in it, without a keyword `name = `."""
        return (keyword, name) in definitions(self.source)

    def inherits(self, cls: str) -> bool:
        """Whether a class in it derives from any other."""
        return re.search(rb"^[ \t]*class[ \t]+%s[ \t]*\(" % cls.encode(), self.source, re.MULTILINE) is not None

    @cached_property
    def may_ask(self) -> bool:
        """Whether any call in it may ask a model."""
        return self._looks.may_ask()

    @cached_property
    def starts_runs(self) -> bool:
        """Whether it may start something that runs beside other things."""
        return self._looks.starts_runs()

    @cached_property
    def anatomy(self) -> Anatomy | None:
        """None for what cannot be analysed."""
        return self._read()


class Anatomy:
    """What the parts of an agent in one file are. `module` is the file, `facts` what each value is."""

    def __init__(
        self,
        module: SourceModule,
        vocabulary: Vocabulary,
        neighbour: Callable[[str, str], Neighbour | None] | None = None,
        callers: Callable[[], list[Caller]] | None = None,
        handed: Callable[[], list[Handed]] | None = None,
        valued: Callable[[], list[Handed]] | None = None,
        tools: Callable[[], dict[str, frozenset[str] | None]] | None = None,
        serves: Callable[[], bool] = lambda: True,
        said: Callable[[str], bool] = lambda text: True,
        said_of: Callable[[], list[Said]] = list,
        tells: Callable[[str], bool] = lambda path: False,
        placed: Callable[[str], list[Placed]] = lambda name: [],
        derived: Callable[[str, frozenset[str]], list[tuple[Neighbour, str]]] = lambda cls, methods: [],
    ) -> None:
        """`neighbour` finds what the file imports; of those that import it, `callers` tell what they run, `handed` what
        they hand to it, and `valued` of which kinds and classes that is, `tools` what they tell a model of it, `serves`
        whether one serves others, `said` whether a text may stand there, `said_of` what they put into messages, and
        `placed` what they put under a name into objects of frameworks. Without, it is unknown. `tells` says whether the
        file at a path is told so of this one, and `derived` finds classes of other files that derive from one of this.
        """
        self.module = module
        self.vocabulary = vocabulary
        self._neighbour = neighbour
        self._callers = callers
        self._handed = handed
        self._valued = valued
        self._tools = tools
        self._serves = serves
        self.said = said
        self.tells = tells
        self._said_of = said_of
        self._placed = placed
        self._derived = derived
        self._readers: dict[tuple[Scope, Slot], dict[cst.CSTNode, list[cst.Name]]] = {}
        self._neighbours: dict[tuple[str, str], Neighbour | None] = {}

    def close(self) -> None:
        """Unties the knot of what was found here: its memory is free at once, without a garbage collection.

        Nothing can be asked afterwards. Its module, and what lies nearby, others may share.
        """
        vars(self).clear()

    @cached_property
    def facts(self) -> Facts:
        from lint_rules.anatomy.messages import wrappers as w

        facts = vars(self)["facts"] = Facts(self.module, self.vocabulary)  # those that look elsewhere ask it already
        known = set(vars(self))
        try:
            unasked, more = [*w.no_requests(self)], True
            while more:
                more = facts.learn_wrapped(
                    [*w.wrapped_requests(self)],
                    lambda: [*w.parts_elsewhere(self), *w.parts_handed(self), *w.models_elsewhere(self)],
                )
                if facts.has_learned:
                    self._forget(known)
            if unasked:
                self._forget(known)
            for call in unasked:
                del facts.calls[call]
        except BaseException:
            del vars(self)["facts"]  # who asks next shall not take half of them for all
            raise
        return facts

    def _forget(self, known: Collection[str]) -> None:
        """What was built of the facts before all requests were known."""
        for early in vars(self).keys() - known:
            del vars(self)[early]

    @cached_property
    def callers(self) -> list[Caller]:
        """The calls by which files that import this one run functions of others beside each other; not only of this."""
        return self._callers() if self._callers is not None else []

    @cached_property
    def handed(self) -> list[Handed]:
        """What files that import this one hand to its functions, and put into its objects."""
        return self._handed() if self._handed is not None else []

    @cached_property
    def brought(self) -> list[Handed]:
        """The objects of known classes that the files which import this one hand to its functions."""
        return [each for each in self._values if each.what == "instance"]

    @cached_property
    def told(self) -> list[Handed]:
        """Of which kinds the values are that the files which import this one hand to its functions."""
        return [each for each in self._values if each.what == "value"]

    @cached_property
    def _values(self) -> list[Handed]:
        return self._valued() if self._valued is not None else []

    @cached_property
    def said_of(self) -> list[Said]:
        """The functions of this file of which others that import it put the results into messages and requests."""
        return self._said_of()

    @kept
    def placed(self, name: str) -> list[Placed]:
        """What files that import this one, or its importers, put under a name into objects of frameworks."""
        return self._placed(name)

    @kept
    def derived(self, cls: Scope) -> list[tuple[Anatomy, Scope]]:
        """The classes of other files that derive from one of this file, and their files: those first that may ask.

        So do those that have all methods of a protocol.
        """
        methods = frozenset(cls.methods) if is_protocol(cls) else frozenset()
        near = sorted(self._derived(cls.name, methods), key=lambda each: not each[0].may_ask)
        read = ((each.anatomy, name) for each, name in near)
        found = ((there, there.module.class_named(name)) for there, name in read if there is not None)
        return [(there, other) for there, other in found if other is not None]

    @cached_property
    def serves(self) -> bool:
        """Whether a file that imports this one may run it for others, who come and go; or none is known."""
        return self._serves()

    @cached_property
    def tools(self) -> list[Scope]:
        """The functions of which a model reads the result; no handlers of a framework, whatever is told of them."""
        named = self._named_tools
        return [f for f in self.module.functions if f.qualname in named and f not in self.calls.servings]

    @cached_property
    def _named_tools(self) -> dict[str, frozenset[str] | None]:
        return self._tools() if self._tools is not None else {}

    def written_for(self, function: Scope) -> Collection[str]:
        """The parameters of a tool that get what a model has written; all of any other function."""
        written = self._named_tools.get(function.qualname)
        return written if written is not None else parameter_names(function)

    def names(self, key: str) -> bool:
        """Whether a key may be asked for in files that import this one, or in what they import; not in a display."""
        return any(self.said(f"{quote}{key}{quote}{end}") for quote in "\"'" for end in ("]", ")", ",", " in"))

    @kept
    def is_left_alone(self, method: Scope) -> bool:
        """Whether nobody calls a method, though others of its object are called, in files that import this one."""
        cls = method.owner
        if cls is None or ex.bases(cls.node) or decorators(method) or self.calls.sites[method]:
            return False
        if self.calls.references[method] or self.said(method.name):
            return False
        others = (name for name, other in cls.methods.items() if other is not method and not name.startswith("_"))
        return any(map(self.said, others))

    @property
    def knows_agent(self) -> bool:
        """Whether any value of the file is known to be part of an agent, or any model is asked in it."""
        return bool(self.facts.all_known() or self.facts.calls)

    @cached_property
    def made(self) -> list[tuple[cst.Dict | cst.Call, dict[str, cst.BaseExpression]]]:
        """The dict displays and constructors of the file with what they are made of: of keys, keywords or fields."""
        nodes = self.module.nodes_of(cst.Dict, cst.Call)
        return [(node, parts) for node in nodes if (parts := self.parts_of(node))]

    def parts_of(self, node: cst.Dict | cst.Call) -> dict[str, cst.BaseExpression]:
        """What a display or a constructor is made of: by key, keyword or field."""
        return {**self._by_place(node), **ex.made_of(node)}

    def _by_place(self, node: cst.Dict | cst.Call) -> dict[str, cst.BaseExpression]:
        """What the fields of an own class get by their places: `Turn("user", text)`."""
        if not isinstance(node, cst.Call) or (cls := self.facts.slots.constructed(node)) is None:
            return {}
        return dict(zip(fields(cls), ex.positional(node), strict=False))

    @cached_property
    def calls(self) -> CallGraph:
        return CallGraph(self.facts)

    @cached_property
    def aliases(self) -> Aliases:
        return Aliases(self.calls, self._given_elsewhere, self._is_for_many)

    def _is_for_many(self, parameter: Slot) -> bool:
        from lint_rules.anatomy.messages.classes import is_for_many

        return is_for_many(self, parameter)

    def _given_elsewhere(self, node: cst.BaseExpression) -> Slot | None:
        from lint_rules.anatomy.messages.classes import given_elsewhere

        return given_elsewhere(self, node)

    @cached_property
    def writes(self) -> Writes:
        return Writes(self.facts, self.calls, self.aliases)

    @cached_property
    def _loops(self) -> tuple[list[RoundLoop], list[RoundLoop]]:
        return round_loops(self.calls, self.writes, self.flow)

    @property
    def rounds(self) -> list[RoundLoop]:
        return self._loops[0]

    @property
    def loops_of_turns(self) -> list[RoundLoop]:
        """Loops around rounds: of what a person says, of texts in a list, of replies that are not what was wanted."""
        return self._loops[1]

    @cached_property
    def round_at(self) -> dict[cst.CSTNode, RoundLoop]:
        """The round loops by their nodes."""
        return {loop.node: loop for loop in self.rounds}

    @cached_property
    def transcript(self) -> Transcript:
        from lint_rules.anatomy.messages.classes import run_elsewhere

        def elsewhere(call: cst.Call) -> tuple[Messages, Scope] | None:
            found = run_elsewhere(self, call)
            return (found[0].transcript.messages, found[1]) if found is not None else None

        return Transcript(
            self.writes, self.calls, lambda function: self.kept_elsewhere.of(function), elsewhere, self.past
        )

    @cached_property
    def contents(self) -> Contents:
        from lint_rules.anatomy.messages.contents import Contents

        return Contents(self)

    @cached_property
    def elements(self) -> Elements:
        from lint_rules.anatomy.messages.classes import Elements

        return Elements(self)

    @cached_property
    def single_calls(self) -> tuple[bool, frozenset[Scope]]:
        """Whether requests forbid parallel calls; the functions with one that forces a certain tool."""
        from lint_rules.anatomy.calls.remaining_calls import single_calls

        return single_calls(self)

    @cached_property
    def cuts(self) -> list[Cut]:
        from lint_rules.anatomy.cuts.cuts import cuts

        return list(cuts(self.module))

    @cached_property
    def mending(self) -> Mending:
        from lint_rules.anatomy.cuts.mending import Mending

        return Mending(self)

    @cached_property
    def trimming(self) -> Trimming:
        from lint_rules.anatomy.cuts.trimming import Trimming

        return Trimming(self)

    @cached_property
    def shared_stores(self) -> Stores:
        from lint_rules.anatomy.values.sharing import Stores

        return Stores(self)

    @cached_property
    def storage(self) -> Storage:
        from lint_rules.anatomy.turns.storage import Storage

        return Storage(self)

    @cached_property
    def takers(self) -> Takers:
        from lint_rules.anatomy.turns.handed_starts import Takers

        return Takers(self)

    @cached_property
    def races(self) -> Races:
        from lint_rules.anatomy.turns.races import Races

        return Races(self)

    @cached_property
    def turns(self) -> Turns:
        from lint_rules.anatomy.turns.turns import Turns

        return Turns(self.races)

    @cached_property
    def resources(self) -> Resources:
        from lint_rules.anatomy.turns.resources import Resources

        return Resources(self)

    @cached_property
    def givers(self) -> set[Slot]:
        """The objects of which a method gives a history."""
        from lint_rules.anatomy.turns.keepers import givers

        return givers(self)

    @cached_property
    def conversations(self) -> Conversations:
        from lint_rules.anatomy.turns.conversations import Conversations

        return Conversations(self)

    @cached_property
    def stored_turns(self) -> StoredTurns:
        from lint_rules.anatomy.turns.stored_turns import StoredTurns

        return StoredTurns(self)

    @cached_property
    def kept_elsewhere(self) -> KeptElsewhere:
        from lint_rules.anatomy.turns.kept_elsewhere import KeptElsewhere

        return KeptElsewhere(self)

    def keeps(self, call: cst.Call) -> bool:
        """Whether a call stores what it gets, so that it is there afterwards."""
        from lint_rules.anatomy.turns.keeping import keeps

        return keeps(self, call)

    @cached_property
    def unguarded(self) -> Unguarded:
        from lint_rules.anatomy.turns.unguarded import Unguarded

        return Unguarded(self)

    @cached_property
    def guards(self) -> Guards:
        return Guards(self.calls)

    def flow(self, function: Scope) -> control_flow.Graph:
        """The control-flow graph of a function, lambda, module or class body: its tests agree with each other."""
        return self.ways(function).graph

    def ways(self, function: Scope) -> Ways:
        """The ways through a function, lambda, module or class body, with what its tests have told on them."""
        return ways_through(self.module, function)

    def points(self, function: Scope, nodes: Iterable[cst.CSTNode]) -> list[control_flow.Point]:
        """The points of a function's statements that hold these nodes."""
        flow = self.flow(function)
        return [point for node in nodes for point in flow.enclosing(node, self.module.parent)]

    def leads(
        self,
        function: Scope,
        first: Iterable[cst.CSTNode],
        then: Iterable[cst.CSTNode],
        avoiding: Container[control_flow.Point] = (),
    ) -> bool:
        """Whether control may go from one of these nodes of a function to one of those."""
        return self.flow(function).reaches(self.points(function, first), self.points(function, then), avoiding)

    def reaching(self, function: Scope) -> Reaching:
        """Which definitions of its names reach which points of a function."""
        return reaching_in(self.module, function)

    def definitions(self, name: cst.Name) -> list[Definition]:
        """Which definitions may have given a name the value that it has where it stands."""
        function = self.module.scope_of[name].function
        if function.kind == "class":
            return []
        found = (d for point in self.points(function, [name]) for d in self.reaching(function).at(point, name.value))
        return list(dict.fromkeys(found))

    def past(self, name: cst.Name) -> set[cst.BaseExpression]:
        """What a name is bound to elsewhere in its function, and does not hold where it stands."""
        here = self.definitions(name)
        function = self.module.scope_of[name].function
        all_of_it = self.reaching(function).by_name.get(name.value, []) if here else []
        kept = {definition.value for definition in here}
        return {d.value for d in all_of_it if d.value is not None and d.value not in kept}

    def assigned(self, name: cst.Name) -> cst.BaseExpression | None:
        """What a name was assigned, where no other definition reaches it."""
        found = self.definitions(name)
        return found[0].value if len(found) == 1 and found[0].kind == "assign" else None

    def readers(self, function: Scope, slot: Slot) -> dict[cst.CSTNode, list[cst.Name]]:
        """Where in a function a name may hold what a statement has bound it to: the names by statement."""
        found = self._readers.get((function, slot))
        if found is None:
            found = self._readers[function, slot] = self._find_readers(function, slot)
        return found

    def _find_readers(self, function: Scope, slot: Slot) -> dict[cst.CSTNode, list[cst.Name]]:
        found: dict[cst.CSTNode, list[cst.Name]] = {}
        module = self.module
        names = [
            name
            for name in self.facts.names.get(slot, ())
            if module.scope_of[name].function is function and not _is_target(module, name)
        ]
        reaching, graph = self.reaching(function), self.flow(function)
        for name in names:
            points = graph.enclosing(name, self.module.parent)
            bound = {d.point.statement: None for point in points for d in reaching.at(point, name.value)}
            for statement in bound:
                if statement is not None:
                    found.setdefault(statement, []).append(name)
        return found

    def imported_class(self, name: str, *, asking: bool = False) -> tuple[Anatomy, Scope] | None:
        """The class that is imported under a (dotted) name, with the anatomy of its file; None where that is unknown.

        `asking` as for functions.
        """
        found = self._imported(name, "class", asking)
        cls = found[0].module.class_named(found[1]) if found is not None else None
        return (found[0], cls) if found is not None and cls is not None else None

    def imported_function(self, name: str, *, asking: bool = False) -> tuple[Anatomy, Scope] | None:
        """The function imported under a (dotted) name, with the anatomy of its file; None where that is unknown.

        With `asking`, also None where no model may be asked in that file, which costs less than its anatomy.
        """
        found = self._imported(name, "def", asking)
        if found is None:
            return None
        anatomy, there = found
        top = anatomy.module.top
        functions = (f for f in anatomy.module.functions if f.name == there and f.parent is top)
        function = next((f for f in functions if f.kind == "function"), None)
        return None if function is None else (anatomy, function)

    def imported_value(self, name: str) -> tuple[Anatomy, Slot] | None:
        """Where what is imported under a (dotted) name is set, with the anatomy of its file; None where unknown."""
        found = self._imported(name, "")
        return (found[0], ("var", found[0].module.top, found[1])) if found is not None else None

    def _imported(self, name: str, keyword: str, asking: bool = False) -> tuple[Anatomy, str] | None:
        """The anatomy of the file that `name` is imported from, and its name there, if that is what is defined so."""
        found = self.defined_elsewhere(name, keyword)
        if found is None or (asking and not found[0].may_ask) or found[0].anatomy is None:
            return None
        return found[0].anatomy, found[1]

    def defined_elsewhere(self, name: str, keyword: str) -> tuple[Neighbour, str] | None:
        """The file that defines what is imported under a (dotted) name, and its name there; before it is analysed.

        By `keyword`: a `class`, a `def`, or what is set.
        """
        return self._defined_elsewhere((name, keyword))

    @kept
    def _defined_elsewhere(self, asked: tuple[str, str]) -> tuple[Neighbour, str] | None:
        name, keyword = asked
        origin = self.module.imports.whence(name)
        for module, there in [origin] if origin is not None else self._perhaps(name):
            module, there = home(self._source_of, module, there)
            found = self._near(module)
            if found is not None and found.defines(keyword, there):
                return found, there
        return None

    @cached_property
    def protocols(self) -> list[tuple[Neighbour, str, frozenset[str]]]:
        """The protocols of files from which this one imports, and the methods that each asks for."""
        near = map(self._near, dict.fromkeys(module for module, _ in self.module.imports.origin.values()))
        return [(each, name, methods) for each in near if each for name, methods in promised(each.source).items()]

    def imports_module(self, name: str) -> bool:
        """Whether a name stands for a module of the project."""
        full = self.module.imports.full.get(name)
        origin = self.module.imports.origin.get(name)
        written = full if origin is None or origin[1] is None else f"{origin[0].rstrip('.')}.{origin[1]}"
        if origin is not None and origin[0].endswith("."):
            written = f"{origin[0]}{origin[1] or ''}"
        return written is not None and self._near(written) is not None

    def _perhaps(self, name: str) -> list[tuple[str, str]]:
        """The modules of which all names are imported, where the file itself does not bind the name.

        `store.memory` may stand in a file that has only imported from `store`: what it runs there was put here, and
        what that had imported, by the whole path of its module.
        """
        head, _, rest = name.partition(".")
        if head in (self._bound if rest else self.module.top.bound):
            return []
        path, _, last = name.rpartition(".")
        if not last.isidentifier():
            return []
        if not rest:
            return [(module, head) for module in self.module.imports.whole]
        known = dict.fromkeys(module for module, _ in self.module.imports.origin.values())
        modules = [module for module in known if module.rpartition(".")[2] == head] if path == head else []
        return [(module, last) for module in dict.fromkeys((*modules, path))]

    @cached_property
    def _bound(self) -> set[str]:
        """The names that the file binds, in whatever function."""
        return {name for scope in (self.module.top, *self.module.functions) for name in scope.bound}

    def class_elsewhere(self, path: str, module: str, name: str, *, asking: bool) -> Iterator[tuple[Anatomy, Scope]]:
        """A class of a module that the file at `path` imports; none of this file itself. `asking` as for functions."""
        found = self._near(module, path)
        if found is not None and found.path != self.module.path and (found.may_ask or not asking):
            cls = found.anatomy.module.class_named(name) if found.anatomy is not None else None
            yield from [(found.anatomy, cls)] if found.anatomy is not None and cls is not None else ()

    def _near(self, module: str, path: str = "") -> Neighbour | None:
        """A module that this file imports, or another one at a `path`."""
        key = path or self.module.path, module
        if key not in self._neighbours and self._neighbour is not None:
            self._neighbours[key] = self._neighbour(*key)
        return self._neighbours.get(key)

    def _source_of(self, module: str) -> bytes | None:
        found = self._near(module)
        return found.source if found is not None else None

    def line(self, node: cst.CSTNode) -> int:
        """The 1-based line of a node. Asked only for what is reported: positions cost a rendering of the file."""
        return self.module.positions.span(node).line

    def is_history(self, node: cst.BaseExpression) -> bool:
        """Whether the value of an expression is a message history."""
        return self.facts.is_kind(node, Kind.HISTORY)


def _is_target(module: SourceModule, name: cst.Name) -> bool:
    """Whether a statement binds the name, also with others: what may reach it there, no reader sees."""
    here: cst.CSTNode = name
    outer = module.parent[name]
    while isinstance(outer, (cst.Element, cst.StarredElement, cst.Tuple, cst.List)):
        here, outer = outer, module.parent[outer]
    return type(outer) is cst.AssignTarget or (type(outer) is cst.For and outer.target is here)
