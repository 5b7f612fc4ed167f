"""Where a reply is shown or handed out, and the turn then ends past all that could store it."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from types import MappingProxyType

import libcst as cst

from lint_rules.anatomy.messages.classes import body
from lint_rules.anatomy.program.told import Told, outcome
from lint_rules.anatomy.turns.refusals import Refusals
from lint_rules.anatomy.turns.reply_places import SHOWING, ReplyPlaces, is_read_in, reads, roots
from lint_rules.syntax import conditions
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.graph import AnyOf, Point
from lint_rules.syntax.module import Scope
from lint_rules.syntax.truth import evaluate
from lint_rules.syntax.ways import Says


class ShownReplies(ReplyPlaces):
    """Questions of the rule alone about where a reply goes."""

    def forgotten(
        self,
        function: Scope,
        call: cst.Call,
        ends: Collection[Point],
        barred: Collection[Point],
        told: Told = MappingProxyType({}),
    ) -> Iterator[cst.CSTNode]:
        """Where the reply is shown, yielded or returned, on a way from the request to an end past all barred points.

        Last ones first. Where the request was refused, what is shown is no reply. `told`: what the function is told by
        constants.
        """
        taken, asks = self.derived(function, call), self.anatomy.points(function, [call])
        held = self.held(function, call, barred, told)
        refused = Refusals(self.anatomy.module, lambda response: reads(response, taken))
        said = self._said_parts(function, taken)
        ways, says = self.anatomy.ways(function), self._is_there(taken, refused, told, said)
        decodes = self._decoding(function, taken)
        for leaves in (node for node in self._leaving(function, call, taken) if node not in refused):
            points = [
                point
                for point in self.anatomy.points(function, [leaves])
                if point not in barred
                and (names := frozenset[str]() if leaves is call else held.get(point)) is not None
                and self._goes(leaves, call, names | self._bound_at(function, point, call, names))
            ]  # fmt: skip
            over = AnyOf(barred, set(self.anatomy.points(function, self._given_up(function, leaves, call, taken))))
            comes = any(point in asks for point in points) or (
                bool(points) and ways.path(asks, points, barred, fails=decodes.__contains__, says=says) is not None
            )
            if comes and ways.path(points, ends, over, says=says) is not None:
                yield leaves

    def _given_up(self, function: Scope, leaves: cst.CSTNode, call: cst.Call, taken: set[str]) -> Iterator[cst.CSTNode]:
        """Where a stream of which a piece leaves is not read to its end: a jump under a test that no piece is asked.

        Or an error that is raised there: what came until then is no reply.
        """
        module = self.anatomy.module
        for loop in module.ancestors(leaves):
            if not isinstance(loop, cst.For) or not (module.inside(call, loop.iter) or reads(loop.iter, taken)):
                continue
            yield from module.nodes_inside(loop.body, function, cst.Raise)
            for jump in module.nodes_inside(loop.body, function, cst.Break, cst.Return):
                tests = [tested.test for tested, _ in conditions.passed(module, jump, loop)]
                if jump is not leaves and tests and not any(is_read_in(test, taken) for test in tests):
                    yield jump

    def _said_parts(self, function: Scope, taken: set[str]) -> set[tuple[str | None, str]]:
        """The parts of a reply that are stored as what the model has said: `text` of `said = reply["text"]`."""
        stored = (one.message.content for one in self.anatomy.transcript.stored(function)
                  if one.role == "assistant" and one.message is not None)  # fmt: skip
        values = (each for content in stored if content is not None
                  for each in (content, *self.anatomy.facts.values_of(content)))  # fmt: skip
        pairs = (pair for value in values if (pair := ex.member(ex.inner(value))) is not None)
        return {(ex.dotted(base), key) for base, key in pairs if not taken.isdisjoint(roots(base))}

    def _is_there(self, taken: set[str], refused: Refusals, told: Told, said: set[tuple[str | None, str]]) -> Says:
        """What a test gives where there is a reply: not `if reply is None`; a list of calls may well be empty.

        Nor `if not reply.get("text")`, where that is what is stored of it otherwise.
        """

        def atom(part: cst.BaseExpression) -> bool | None:
            pair = ex.member(part) if said else None
            if pair is not None and (ex.dotted(pair[0]), pair[1]) in said:
                return True
            return True if isinstance(part, cst.Name) and part.value in taken else refused.served(part)

        def says(node: cst.CSTNode) -> bool | None:
            if not isinstance(node, (cst.If, cst.While)):
                return None
            known = outcome(node.test, told)
            return known if known is not None or self.about_calls(node) else evaluate(node.test, atom)

        return says

    def _leaving(self, function: Scope, call: cst.Call, taken: set[str]) -> Iterator[cst.CSTNode]:
        """Where the reply is shown or yielded, last first, then where it is returned; a log shows nothing to a user."""
        module = self.anatomy.module
        views = {
            name
            for node in function.nodes
            if type(node) is cst.Call and self._shows(node) and self._handed(node, call, taken)
            for name in roots(ex.receiver(node) or node)
        }
        if self._shows_itself(call):
            yield call
        backwards = function.nodes[::-1]
        for node in sorted(backwards, key=lambda n: type(n) is cst.Return):
            if type(node) is cst.Return or type(node) is cst.Yield:
                value = node.value
                if isinstance(value, cst.From):
                    value = value.item
                if value is not None and (module.inside(call, value) or reads(value, taken)):
                    yield node
            elif type(node) is cst.Call and self._shows(node) and self._handed(node, call, taken):
                yield node
            elif type(node) is cst.Call and ex.called_name(node) in {"update", "send"} and not node.args:
                base = ex.receiver(node)
                if isinstance(base, cst.Name) and base.value in views | taken:
                    yield node  # the message object that was filled piece by piece is complete

    def _shows_itself(self, call: cst.Call) -> bool:
        """Whether the function that a request runs shows what comes itself, piece by piece."""
        there, callee = body(self.anatomy, call) or (None, None)
        if there is None or callee is None:
            return False
        places, calls = ShownReplies(there), callee.nodes_of(cst.Call)
        asks = (ask for ask in calls if any(there.is_history(arg.value) for arg in ask.args))
        each = ((ask, places.derived(callee, ask)) for ask in asks)
        return any(self._shows(node) and places._handed(node, ask, taken) for ask, taken in each for node in calls)

    def _goes(self, leaves: cst.CSTNode, call: cst.Call, names: frozenset[str]) -> bool:
        """Whether it is the reply that leaves, where these names hold it: another value may have their place."""
        if isinstance(leaves, cst.Call):
            return leaves is call or not leaves.args or bool(self._handed(leaves, call, names))
        return self.anatomy.module.inside(call, leaves) or reads(leaves, names)

    def _shows(self, node: cst.Call) -> bool:
        if self.anatomy.storage.writes_log(node):
            return False
        full = ex.dotted(node.func) or ""
        return ex.called_name(node) in SHOWING or "print" in full.rpartition(".")[2] or full.startswith("st.")
