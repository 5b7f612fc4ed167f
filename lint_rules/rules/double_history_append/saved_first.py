"""What a program saves before it loads the history: the message is in what the store gives, and is sent beside it.

`store.add(key, "user", text)`, `past = store.messages(key)`, `[*past, {"role": "user", "content": text}]`. That both
mean one table, key or file is read in their bodies, in statements of SQL and in the classes of rows.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.messages.messages import Message
from lint_rules.anatomy.messages.transcript import Stored
from lint_rules.anatomy.messages.writes import GROWING
from lint_rules.anatomy.program.handlers import is_logging
from lint_rules.anatomy.turns.resources import Resources, Touched
from lint_rules.rules.double_history_append.joined import Joined, loaded_by
from lint_rules.rules.double_history_append.put_there import puts
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.module import Scope
from lint_rules.syntax.walk import walk

_OTHERS = frozenset({"assistant", "system", "tool", "model", "bot", "ai"})
_RELATED = re.compile(r"related_name\s*=\s*[\"'](\w+)")
"""What Django calls the rows that refer to an object, as an attribute of that. Source: Django, related objects."""
_LEAVING_OUT = frozenset({"exclude", "offset", "pop"})
_EXCEPT = re.compile(r"exclu|before|until|offset|skip|except")
"""Words of queries that leave out what came last."""


class SavedFirst:
    """Finds the saves of one file."""

    def __init__(self, anatomy: Anatomy) -> None:
        self.anatomy = anatomy
        self.facts = anatomy.facts
        self.slots = anatomy.facts.slots
        self.module = anatomy.module
        self._resources = anatomy.resources

    def before(self, function: Scope, joined: Joined) -> Iterator[Stored]:
        """What `function` saves before it loads what the message is joined with, from where it saves to."""
        found = loaded_by(self.anatomy, function, joined)
        if found is None:
            return
        load, there = found
        loading = there.resources
        keys = {ex.source(arg.value) for arg in load.args}
        for call in function.nodes_of(cst.Call):
            if call is load or self.module.inside(call, load) or call is joined.node:
                continue
            told = [said for held, said in self._said(call) if self._is_read_by(loading, load, call, held)]
            said = [value for value in told if there is not self.anatomy or ex.source(value) not in keys] or told
            rows = self._rows(function, call) if said else []
            if rows and not self._tells_apart(loading, load, {name for _, names in rows for name in names}):
                for node, _ in rows:
                    messages = (Message(call, "user", content=value) for value in said)
                    yield from (Stored(node, function, joined.slot, "append", message, None) for message in messages)

    def _said(self, call: cst.Call) -> list[tuple[cst.BaseExpression, cst.BaseExpression]]:
        """The texts of a user that a call is handed, each behind what of its arguments has it.

        It does not ask a model, log, or store what another one says.
        """
        if is_logging(call) or self.anatomy.turns.reaches_model(call):
            return []
        roles = {ex.text(arg.value) for arg in call.args}
        if not roles.isdisjoint(_OTHERS):
            return []
        messages = ((arg.value, m) for arg in call.args for m in self._put_into(call, arg.value))
        said = [(held, m.content) for held, m in messages if m.role == "user" and m.content is not None]
        return said or [(arg.value, part) for arg in call.args if not arg.star for part in self._parts(arg.value)]

    def _parts(self, value: cst.BaseExpression) -> Iterator[cst.BaseExpression]:
        """A value, and what is put into what it was made of, by whatever keys: `{"kind": "human", "body": text}`."""
        if ex.reads_place(ex.inner(value)):
            yield value
        queue = [ex.inner(made) for made in (value, *self.facts.values_of(value))]
        for made in (each for each in queue if isinstance(each, (cst.Dict, cst.Call))):
            parts = [ex.inner(part) for part in ex.made_of(made).values()]
            if _OTHERS.isdisjoint(map(ex.text, parts)):
                yield from filter(ex.reads_place, parts)
                lists = (part for part in parts if isinstance(part, cst.List))  # `{"parts": [{"text": text}]}`
                queue += [ex.inner(each.value) for part in lists for each in part.elements]

    def _put_into(self, call: cst.Call, value: cst.BaseExpression) -> Iterator[Message]:
        """What was said in a list before that is saved whole: appended to it, or written into one of its messages."""
        slot, module = self.slots.of(value), self.module
        function = module.scope_of[call].function
        stored = [one for one in self.anatomy.transcript.stored(function) if slot is not None and one.slot == slot]
        lost = [one.node for one in stored if one.kind not in GROWING]
        for one in stored:
            later = any(module.before(one.node, node) and module.before(node, call) for node in lost)
            if one.kind in GROWING and one.message is not None and module.before(one.node, call) and not later:
                yield one.message
        for content in self.facts.assigned(("member", ("item", slot), "content")):
            if module.before(content, call) and module.scope_of[content].function is function:
                yield from [] if self._is_cut_at(content, call) else [Message(content, "user", content=content)]

    def _is_cut_at(self, content: cst.BaseExpression, call: cst.Call) -> bool:
        """`messages[at]["content"] = text`, and then `messages[:at]`: the message is cut off again."""
        statement = self.module.statement(content)
        targets = ex.assigned(statement)
        parts = [part for target in targets for part in walk(target) if isinstance(part, cst.Subscript)]
        indices = {ex.source(index) for part in parts if (index := ex.index(part)) is not None}
        function = self.module.scope_of[call].function
        cuts = (ex.slice_of(part) for part in function.nodes_of(cst.Subscript) if self.module.before(part, call))
        return any(cut is not None and cut.upper is not None and ex.source(cut.upper) in indices for cut in cuts)

    def _is_read_by(self, loading: Resources, load: cst.Call, save: cst.Call, said: cst.BaseExpression) -> bool:
        """Whether a call gives what another one has stored, as both of their bodies tell, or how they are called."""
        given, kept = loading.of(load), self._resources.of(save)
        if self._is_related(load, kept):
            return True
        if given.is_read_again_after(kept):  # what it does with another one is its own
            put = puts(self.anatomy, save, said)
            return given.lies_outside == put.lies_outside and given.is_read_again_after(put)
        base, other = ex.receiver(load), ex.receiver(save)
        if (
            base is None
            or other is None
            or loading is not self._resources
            or loading.runs(load)
            or self._resources.runs(save)
        ):
            return False
        same = self.slots.of(base) is not None and self.slots.of(base) == self.slots.of(other)
        user = any(ex.text(arg.value) == "user" for arg in save.args)
        return same and user and self.anatomy.keeps(save) and isinstance(self.module.statement(save), cst.Expr)

    def _is_related(self, load: cst.Call, kept: Touched) -> bool:
        """`talk.messages.order_by(...)`, where the rows that are made name their talk `related_name="messages"`."""
        read = {part.attr.value for part in walk(load) if isinstance(part, cst.Attribute)}
        for name in kept.made:
            found = self.anatomy.defined_elsewhere(name, "class")
            source = found[0].source.decode(errors="replace") if found is not None else self.module.text
            if not read.isdisjoint({*_RELATED.findall(source), f"{name.lower()}_set"}):
                return True
        return False

    def _rows(self, function: Scope, call: cst.Call) -> list[tuple[cst.CSTNode, set[str]]]:
        """Where what a call makes is stored, if it makes a row, and the names of the row; else the call."""
        statement = self.module.statement(call)
        targets = ex.assigned(statement)
        names = {name for target in targets for name in ex.target_names(target)}
        if not names or ex.receiver(call) is not None or not ex.called_name(call)[:1].isupper():
            return [(call, names)]
        found: list[tuple[cst.CSTNode, set[str]]] = []
        for other in function.nodes_of(cst.Call):
            is_handed = any(isinstance(value, cst.Name) and value.value in names for value in ex.handed(other))
            if is_handed and self.anatomy.keeps(other):
                found.append((other, names))
        return found

    def _tells_apart(self, loading: Resources, load: cst.Call, names: set[str]) -> bool:
        """Whether what was just saved is left out: the query names it, skips the first, or gives all but the last."""
        found = loading.runs(load)
        inside = [load, *(found.nodes if found is not None else ())]
        for part in [*walk(load), *inside]:
            if isinstance(part, cst.Name) and part.value in names:
                return True
            at = ex.slice_of(part) if isinstance(part, cst.Subscript) else None
            if at is not None and at.upper is not None and isinstance(ex.inner(at.upper), cst.UnaryOperation):
                return True
            if isinstance(part, cst.Call) and ex.called_name(part) in _LEAVING_OUT:
                return True
            if isinstance(part, cst.Arg) and part.keyword is not None and _EXCEPT.search(part.keyword.value):
                return True
        return False
