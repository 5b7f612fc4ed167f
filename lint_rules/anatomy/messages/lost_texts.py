"""Which heads are a loss: texts of some length, that a program has got by itself, and cuts by itself."""

from __future__ import annotations

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.messages.heads import LABEL, TEXTS, Head, cleaned, handed_by, names_in
from lint_rules.anatomy.values.kinds import Kind
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.conditions import passed
from lint_rules.syntax.truth import evaluate
from lint_rules.syntax.walk import walk

_SNIPPET = 201
"""Characters: what is cut to less is a snippet, where it is no whole result of a tool."""
_SUCCESS = 200
"""The first status of HTTP that says so (RFC 9110); a process that has failed never gives as much."""
_FEW = 20
"""Lines: fewer of them are a choice."""


class Lost:
    """Answers for one file."""

    def __init__(self, anatomy: Anatomy) -> None:
        self.anatomy = anatomy
        self.module = anatomy.module
        self.facts = anatomy.facts

    def matters(self, head: Head, *, result: bool = True) -> bool:
        """Whether it is a text of some length that a program has got by itself, and cuts by itself.

        It is no label and no list, no error, nothing that a tool was given, nor as long as somebody wants it. `result`:
        that in which it stands is what a tool gives back.
        """
        alone = result and not (head.each or self.module.in_handler(head.node))
        asked = self._written_for(head)
        sizes = self._values(head.size, head.calls) if head.calls else [head.size]
        values = self._values(head.text, head.calls)
        if self._is_under(head, LABEL if alone or any(map(self._is_of_message, values)) else _SNIPPET):
            return False
        if any(not asked.isdisjoint(names_in(size)) for size in sizes):
            return False
        if self._is_error(head):
            return False
        return not self._gives_lists(head)

    def _is_of_message(self, value: cst.BaseExpression) -> bool:
        """Whether it is what a message says, or a block of that: nothing that was found, of which a snippet will do."""
        pair = ex.member(value)
        if pair is None or pair[1] not in TEXTS:
            return False
        slot = self.facts.slots.of_name(pair[0])
        blocks = (each for listed in self.facts.gone_through(slot) for each in self._values(listed)) if slot else ()
        return Kind.MESSAGE in self.facts.kinds(pair[0]) or any(map(self._is_of_message, blocks))

    def _gives_lists(self, head: Head) -> bool:
        """Whether it is what a function gives back that gives a list in other ways; alone, or in a tuple."""
        returned = head.function.returned
        whole = [e.value for v in returned if isinstance(v, cst.Tuple) for e in v.elements] + returned
        given = [part for each in whole for value in self._values(each) for part in ex.alternatives(value)]
        return head.node in given and any(type(part) in {cst.List, cst.ListComp} for part in given)

    def is_label(self, head: Head) -> bool:
        """Whether it is one of several texts that stand together, and too short to say something: a date, a hash."""
        return head.each and self._is_under(head, LABEL)

    def is_known(self, head: Head) -> bool:
        """Whether it is what the model has written to call the tool, the whole of which it has, or a refusal."""
        given = self._written_for(head)
        return self._is_refusal(head) or any(self._is_given(part, given, head.calls) for part in self._all_of(head))

    def _all_of(self, head: Head) -> list[cst.BaseExpression]:
        """What is cut: `asked.text`, whatever its class begins it with, too."""
        values = [ex.inner(value) for value in self._values(head.text, head.calls)]
        return values if head.calls else [head.text, *values]

    def _written_for(self, head: Head) -> set[str]:
        """Where a tool says the text, its parameters that get what the model has written."""
        function = self.module.scope_of[head.calls[0]].function if head.calls else head.function
        return {*self.anatomy.written_for(function)} if function in self.anatomy.tools else set()

    def _is_under(self, head: Head, most: int) -> bool:
        most = _FEW if head.lines else most
        sizes = (ex.integer(value) for value in self._values(head.size, head.calls))
        return any(size is not None and size < most for size in sizes)

    def _is_given(
        self, text: cst.BaseExpression, given: set[str], calls: tuple[cst.Call, ...], seen: set[str] | None = None
    ) -> bool:
        """`path`, `args["path"]`, `str(args).strip()` of parameters, and names for these, also of who hands them on.

        Or of what is known as the arguments of a call.
        """
        queue, seen = [*ex.alternatives(text)], set() if seen is None else seen
        for value in map(ex.inner, queue):
            if not self.facts.kinds(value).keys().isdisjoint({Kind.ARGUMENTS, Kind.ARGUMENTS_TEXT}):
                return True
            if isinstance(value, cst.Call) and (inside := cleaned(value)) is not None:
                queue += ex.alternatives(inside)
            elif isinstance(value, cst.Call) and (
                self.facts.encoder(value) or self.facts.decoder(value) or ex.dotted(value.func) in {"str", "repr"}
            ):
                queue += [part for arg in value.args[:1] for part in ex.alternatives(arg.value)]
            elif isinstance(value, cst.FormattedString):
                parts = [part.expression for part in value.parts if isinstance(part, cst.FormattedStringExpression)]
                if parts and all(self._is_given(part, given, calls, {*seen}) for part in parts):
                    return True
            elif (pair := ex.member(value)) is not None:
                queue.append(pair[0])
            elif isinstance(value, cst.Subscript):  # a line of it
                queue.append(value.value)
            elif isinstance(value, cst.Name) and value.value in given:
                return True
            elif isinstance(value, cst.Name) and value.value not in seen:
                seen.add(value.value)
                made = (each for each in self._values(value, calls) if each is not value)
                queue += [part for each in made for part in ex.alternatives(each)]
        return False

    def _values(self, node: cst.BaseExpression, calls: tuple[cst.Call, ...] = ()) -> list[cst.BaseExpression]:
        """What a name stands for, through the calls by which a text comes; else the expression itself."""
        slot = self.facts.slots.of_name(node)
        if slot is not None and calls and slot[0] == "var" and (handed := list(handed_by(self.facts, slot, calls))):
            return [value for _, bound in handed for value in self._values(bound, calls[:-1])]
        return self.facts.values_of(node) or [node]

    def _is_error(self, head: Head) -> bool:
        places = [outer for node in (head.node, *head.calls) for outer in self.module.ancestors(node)]
        handlers = (outer for outer in places if isinstance(outer, cst.ExceptHandler))
        caught = {name for outer in handlers if outer.name is not None for name in ex.target_names(outer.name.name)}
        values = self._values(head.text, head.calls)
        return not caught.isdisjoint(name for value in values for name in names_in(value))

    def _is_refusal(self, head: Head) -> bool:
        """`f"{page.status}: {page.text()[:n]}"` under `if page.status >= 400`: the status says what has failed."""
        bases = (ex.receiver(v) if isinstance(v, cst.Call) else (ex.member(v) or [None])[0] for v in self._all_of(head))
        wholes = {ex.dotted(base) for base in bases if base is not None}
        beside = {ex.dotted(part) for part in walk(self.module.statement(head.node)) if isinstance(part, cst.Attribute)}

        def of_success(test: cst.BaseExpression) -> bool | None:
            """What a test of the status gives where that is the least one of success."""
            if not isinstance(test, cst.Comparison) or len(test.comparisons) != 1:
                return None
            left, operator, right = ex.compared(test)
            of_it = isinstance(left, cst.Attribute) and ex.dotted(left.value) in wholes and ex.dotted(left) in beside
            status = ex.integer(right) if of_it else None
            return ex.holds(operator, _SUCCESS, status) if status is not None and status >= _SUCCESS else None

        return bool(wholes) and any(
            evaluate(tested.test, of_success) is (not holds) for tested, holds in passed(self.module, head.node)
        )
