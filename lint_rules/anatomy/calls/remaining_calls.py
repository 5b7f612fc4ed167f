"""What is done with the other calls of a list when one of them was picked: run, refused, cut off, or nothing."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.calls.picks import Pick, calls_of
from lint_rules.anatomy.calls.stored_calls import StoredCalls
from lint_rules.anatomy.calls.uses import answered, handed_on, may_run
from lint_rules.anatomy.guards.outcomes import only_shows
from lint_rules.anatomy.messages.classes import body
from lint_rules.anatomy.values.identity import Identity, starts_with
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.elements import counted
from lint_rules.syntax.module import Scope, SourceModule
from lint_rules.syntax.walk import walk

_FORBIDS = {"parallel_tool_calls": "False", "disable_parallel_tool_use": "True"}
_LISTS = frozenset({"tool_calls", "content", "parts"})
_TAKERS = frozenset({"pop", "popleft", "remove"})
_RUNNER = re.compile("tool|exec|handle|process|run|dispatch|calls")
_TAKEN = frozenset({cst.Name, cst.Attribute, cst.Subscript, cst.Call, cst.GeneratorExp, cst.ListComp})


class Rest:
    """What is done with the other calls of the list that one was picked from."""

    def __init__(
        self, anatomy: Anatomy, identity: Identity, stored: StoredCalls, pick: Pick, used: cst.CSTNode
    ) -> None:
        """`used` is what becomes of the one that was picked."""
        self._used = used
        self._anatomy = anatomy
        self._identity = identity
        self._stored = stored
        self._pick = pick

    def is_seen_to(self) -> bool:
        """Whether there is no rest, or something else is done with it."""
        of = self._anatomy.module.nodes_of
        return (
            one_at_a_time(self._anatomy, self._pick.function)
            or any(map(self._runs_each, of(cst.For, cst.CompFor)))
            or any(map(self._counts, of(cst.Comparison)))
            or any(map(self._hands_over, of(cst.Call)))
            or any(map(self._cuts, of(cst.Subscript)))
            or any(map(self._replaces, of(cst.Assign)))
            or any(map(self._deletes, of(cst.Del)))
        )

    def _cuts(self, node: cst.Subscript) -> bool:
        return ex.slice_of(node) is not None and node is not self._pick.node and self._is_list(node.value)

    def _replaces(self, node: cst.Assign) -> bool:
        targets = (target.target for target in node.targets)
        replaced = any(not isinstance(target, cst.Name) and self._is_list(target) for target in targets)
        return replaced and not self._is_led_past(node)

    def _is_led_past(self, node: cst.CSTNode) -> bool:
        """Whether the list may be as it came all along: a way leads from the pick to its use, and never to a node."""
        anatomy, function = self._anatomy, self._pick.function
        if anatomy.module.scope_of[node].function is not function:
            return False
        flow = anatomy.flow(function)
        stops = [[flow.entry], *(anatomy.points(function, [n]) for n in (self._pick.node, self._used)), [flow.exit]]
        there = anatomy.points(function, [node])
        return all(flow.reaches(start, goal, there) for start, goal in itertools.pairwise(stops))

    def _deletes(self, node: cst.Del) -> bool:
        return any(self._is_list(part) for part in walk(node) if isinstance(part, cst.BaseExpression))

    def _is_list(self, value: cst.BaseExpression) -> bool:
        value = counted(value)
        if type(value) not in _TAKEN:
            return False
        way = self._identity.of(value)
        return way is not None and self._pick.way in self._stored.ways(way)

    def _runs_each(self, loop: cst.For | cst.CompFor) -> bool:
        """Whether a loop over the list does something with each call but to show or to rebuild it."""
        module = self._anatomy.module
        if loop is self._pick.loop or module.inside(loop, self._pick.node) or not self._is_list(loop.iter):
            return False
        elements = calls_of(self._anatomy, loop)
        region = loop.body if isinstance(loop, cst.For) else module.parent[loop]
        if isinstance(loop, cst.CompFor) and self._rebuilds(region):
            return False
        uses = {n for n in walk(region) if type(n) is cst.Name and self._anatomy.facts.slots.of(n) in elements}
        if any(handed_on(self._anatomy, node) is not None for node in uses):
            return True
        return answered(self._anatomy, module.scope_of[loop].function, uses) is not None

    def _rebuilds(self, comprehension: cst.CSTNode) -> bool:
        """Whether a comprehension only filters the list, or gives the calls of a message."""
        if isinstance(comprehension, cst.BaseExpression) and self._identity.of(comprehension) is not None:
            return True
        parent = self._anatomy.module.parent.get(comprehension)
        if isinstance(parent, cst.DictElement):
            return ex.text(parent.key) in _LISTS
        return isinstance(parent, cst.Arg) and parent.keyword is not None and parent.keyword.value in _LISTS

    def _counts(self, node: cst.Comparison) -> bool:
        """`len(calls) != 1`, `len(calls) > 1`, where more is done about it than to show that."""
        sides = [node.left, *(target.comparator for target in node.comparisons)]
        measured = any(
            isinstance(s, cst.Call) and ex.dotted(s.func) == "len" and s.args and self._is_list(s.args[0].value)
            for s in sides
        )
        if not measured or not any(ex.integer(side) in {1, 2} for side in sides):
            return False
        branch = self._anatomy.module.parent.get(node)
        shows = isinstance(branch, cst.If) and branch.orelse is None and only_shows(self._anatomy, branch.body)
        return not shows

    def _hands_over(self, node: cst.Call) -> bool:
        """Whether the whole list is handed to a function that may run its calls, or taken from one by one."""
        name = ex.called_name(node)
        base = ex.receiver(node)
        if name in _TAKERS and base is not None and self._is_list(base):
            return True
        callee = self._anatomy.facts.slots.callee(node)
        if callee is self._pick.function or not may_run(node) or node in self._anatomy.facts.calls:
            return False
        if any(write.node is node for write in self._anatomy.writes.all):
            return False
        for arg in node.args:
            if arg.value is self._pick.node:
                continue  # it is the whole list that was picked, to be handed over here
            if self._is_list(arg.value):
                return arg.keyword is None or arg.keyword.value not in _LISTS
            if callee is None and _RUNNER.search(name) and type(arg.value) in _TAKEN:
                way = self._identity.of(arg.value)
                if way is not None and starts_with(self._pick.way, way):
                    return True
        return False


def one_at_a_time(anatomy: Anatomy, function: Scope) -> bool:
    """Whether requests forbid parallel calls, or force a certain tool."""
    everywhere, forced = anatomy.single_calls
    return everywhere or function in forced


def one_call_known(anatomy: Anatomy, function: Scope, lists: Iterable[cst.BaseExpression]) -> bool:
    """Whether a list is known to hold one call: its length is compared with 1, or requests forbid parallel calls."""
    written = {ex.source(one) for one in lists}
    for node in function.nodes_of(cst.Comparison) if written else ():
        sides = [node.left, *(target.comparator for target in node.comparisons)]
        measured = (s.args[0].value for s in sides if isinstance(s, cst.Call) and ex.dotted(s.func) == "len" and s.args)
        if any(ex.integer(side) == 1 for side in sides) and any(ex.source(one) in written for one in measured):
            return True
    return anatomy.single_calls[0]


def single_calls(anatomy: Anatomy) -> tuple[bool, frozenset[Scope]]:
    """Whether some request of a file, or of what asks for it, forbids parallel calls; the functions with one that
    forces a certain tool."""
    forbidden, forced = _single_calls(anatomy.module)
    for call in anatomy.facts.calls:
        asked = body(anatomy, call)
        there = _single_calls(asked[0].module) if asked is not None else (False, frozenset[Scope]())
        forbidden |= there[0]
        forced |= {anatomy.module.scope_of[call].function} if asked is not None and asked[1] in there[1] else set()
    return forbidden, forced


def _single_calls(module: SourceModule) -> tuple[bool, frozenset[Scope]]:
    forced: set[Scope] = set()
    for node in module.nodes_of(cst.Arg, cst.DictElement):
        if type(node) is cst.Arg:
            key = node.keyword.value if node.keyword is not None else None
        else:
            key = ex.text(node.key) if type(node) is cst.DictElement else None
        if key in _FORBIDS and ex.dotted(node.value) == _FORBIDS[key]:
            return True, frozenset()
        if key == "tool_choice" and ex.dict_items(node.value).keys() & {"function", "name"}:
            if type(node.value) is cst.Dict:
                forced.add(module.scope_of[node].function)
    return False, frozenset(forced)
