"""Which part of a tool call an expression is: its name, its arguments in one of several forms, its id, or all of it."""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum

import libcst as cst

from lint_rules.anatomy.calls.call_places import ARGUMENT_NAMES, LISTS, CallPlaces
from lint_rules.anatomy.values.kinds import Kind
from lint_rules.anatomy.values.slots import Slot
from lint_rules.anatomy.vocabulary import IDS
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.mentions import names_in
from lint_rules.syntax.walk import children, walk


class Part(Enum):
    """A part of a tool call, and the form it has in a value."""

    NAME = "name"
    VALUES = "parsed arguments"
    TEXT = "arguments as the model wrote them"
    EITHER = "arguments, parsed or not"
    DUMPED = "arguments as text, unsorted"
    SORTED = "arguments as text, sorted"
    FIELDS = "argument names"
    WHOLE = "whole call"
    ONE = "one argument"
    ID = "id"
    WORDS = "text of the model"
    VOLATILE = "time or chance"


ARGUMENTS = frozenset({Part.VALUES, Part.TEXT, Part.EITHER, Part.DUMPED, Part.SORTED})
OF_CALLS = ARGUMENTS | {Part.NAME, Part.FIELDS, Part.WHOLE}

_NAMES = frozenset({"name", "tool_name", "function_name", "tool"})
_IDS = IDS | {"index"}
_WORDS = frozenset({"content", "reasoning", "reasoning_content", "thinking", "thought", "text"})
SAYS_NOTHING = frozenset({"len", "bool", "isinstance", "type", "callable", "any", "all"})
"""Functions that say no more than how a value is: `type(x)`."""
_CLOCKS = frozenset(
    {
        "time.time", "time.time_ns", "time.monotonic", "time.perf_counter", "datetime.datetime.now", "datetime.now",
        "datetime.datetime.utcnow", "datetime.utcnow", "uuid.uuid4", "uuid.uuid1", "uuid4", "random.random",
        "secrets.token_hex", "random.randint",
    }
)  # fmt: skip

Bound = dict[Slot, "tuple[cst.BaseExpression, Bound]"]
"""What the parameters of a function stand for in one call of it, and what that call's own parameters stood for."""
Path = tuple[str | int | None, ...]
"""Which part of a value is read, from the outside in: a key or field, a place in a tuple, or any element."""
Comprehension = cst.ListComp | cst.GeneratorExp | cst.SetComp | cst.DictComp


class CallParts(CallPlaces):
    """Tells the parts of tool calls in one file."""

    def parts_at(self, node: cst.BaseExpression, bound: Bound) -> tuple[Part, ...] | None:
        """The parts of a call that a value is by itself, () where it says nothing; None where it is to be followed."""
        if isinstance(node, cst.Call) and self._is_volatile(node):
            return (Part.VOLATILE,)
        if isinstance(node, (cst.SimpleString, cst.Integer)):
            return ()
        if isinstance(node, (cst.Subscript, cst.Call)) and self._is_one_argument(node):
            return (Part.ONE,)
        member = self._member(node, bound)
        return member if member is not None else self._known(node)

    def _member(self, node: cst.BaseExpression, bound: Bound) -> tuple[Part, ...] | None:
        """`call.name`, `call["arguments"]`, `call.id`; any other member of a call says nothing of it."""
        pair = ex.member(node)
        if pair is None or pair[1] == "function" or not self._is_bound_call(pair[0], bound):
            return None
        if pair[1] in ARGUMENT_NAMES:
            return (self._form(node),)
        return _named(pair[1])

    def below(self, parts: tuple[Part, ...], path: Path) -> tuple[Part, ...]:
        """Which parts of a call are read at a path of what holds some of them."""
        keys = tuple(key for key in path if isinstance(key, str))
        names = [key for key in keys if key != "function"]
        if not names or not parts:
            return parts
        if ARGUMENTS.issuperset(parts):
            return (Part.ONE,)
        if names[0] in ARGUMENT_NAMES and not OF_CALLS.isdisjoint(parts):
            return (self._form_of(keys[: keys.index(names[0]) + 1]),)
        return _named(names[0])

    def _known(self, node: cst.BaseExpression) -> tuple[Part, ...] | None:
        """What the facts tell of a value."""
        kinds, pair = self.facts.kinds(node), ex.member(node)
        if Kind.ARGUMENTS in kinds and Kind.ARGUMENTS_TEXT not in kinds and not self._is_bound(node):
            return (Part.VALUES,)
        if Kind.ARGUMENTS_TEXT in kinds and Kind.ARGUMENTS not in kinds and pair is not None:
            return (Part.TEXT,)
        if pair is not None and pair[1] in _WORDS and self._is_reply(pair[0]):
            return (Part.WORDS,)
        if ex.reads_place(node):
            if Kind.CALL in kinds:
                return (Part.WHOLE,)
            if Kind.FUNCTION in kinds:  # name and arguments, without the id
                return (Part.NAME, Part.EITHER)
        return (Part.WHOLE,) if isinstance(node, (cst.Name, cst.Attribute)) and Kind.CALLS in kinds else None

    def _is_bound_call(self, node: cst.BaseExpression, bound: Bound) -> bool:
        if self.is_call(node):
            return True
        slot = self.facts.slots.of(node)
        if slot in bound:
            value, outer = bound[slot]
            return self._is_bound_call(value, outer)
        return False

    def _is_bound(self, node: cst.BaseExpression) -> bool:
        """Whether it is known what was put there, or made of it: then that is followed."""
        if isinstance(node, cst.Call):
            return self.facts.decoder(node) is None
        slot = self.facts.slots.of(node)
        return slot is not None and (slot in self.loops or bool(self.facts.assigned(slot)))

    def _is_one_argument(self, node: cst.Subscript | cst.Call) -> bool:
        """`args["path"]`, `args.get("path")`, `args[key]`."""
        if isinstance(node, cst.Subscript):
            return self._are_arguments(node.value)
        base = ex.receiver(node)
        return base is not None and ex.called_name(node) in {"get", "pop"} and self._are_arguments(base)

    def _form(self, node: cst.BaseExpression) -> Part:
        """Arguments that stand on a call: parsed or text, as far as the file tells by what it does with them."""
        if Kind.ARGUMENTS in self.facts.kinds(node):
            return Part.VALUES
        return self._form_of(self.way(node))

    def _form_of(self, way: tuple[str, ...] | None) -> Part:
        if way in self.parsed:
            return Part.TEXT if way not in self.mapped else Part.EITHER
        return Part.VALUES if way in self.mapped else Part.EITHER

    def _is_reply(self, node: cst.BaseExpression) -> bool:
        kinds = self.facts.kinds(node)
        return Kind.REPLY in kinds or Kind.MESSAGE in kinds

    def _is_volatile(self, node: cst.Call) -> bool:
        return self.facts.module.full_name(node.func) in _CLOCKS

    # -- names of arguments -----------------------------------------------------------------------------------

    def takes_fields(self, node: cst.Call) -> bool:
        """`args.keys()`, and `sorted(args)`, `list(args)`, `",".join(args)`: the names of the arguments."""
        base = ex.receiver(node)
        joins = ex.called_name(node) == "join" and bool(node.args) and ex.reads_place(node.args[0].value)
        if base is not None and not joins:
            return ex.called_name(node) == "keys" and self._are_arguments(base)
        return (joins or ex.called_name(node) in LISTS) and bool(node.args) and self._only_fields(node.args[0].value)

    def taken_from_arguments(self, node: Comprehension) -> Part | None:
        """What a comprehension over the arguments of a call takes of them; None for one over anything else."""
        source = node.for_in.iter
        base = ex.receiver(source) if isinstance(source, cst.Call) and not source.args else source
        if base is None or not self._are_arguments(base):
            return None
        names = ex.target_names(node.for_in.target)
        if len(names) == 2 and names[1] not in names_in(*(part for each in elements(node) for part in _said(each))):
            return Part.FIELDS
        if len(names) == 1 and base is source and not any(isinstance(n, cst.Subscript) for n in walk(node)):
            return Part.FIELDS
        return Part.VALUES

    def _only_fields(self, node: cst.BaseExpression) -> bool:
        """`args` and `args.keys()` in `sorted(...)`: what is left of the arguments are their names."""
        if isinstance(node, cst.Call) and ex.called_name(node) == "keys":
            base = ex.receiver(node)
            return base is not None and self._are_arguments(base)
        if isinstance(node, cst.BooleanOperation):
            return self._only_fields(node.left)
        parsed = isinstance(node, cst.Call) and self.facts.decoder(node) is not None
        return (parsed or ex.reads_place(node)) and self._are_arguments(node)

    def _are_arguments(self, node: cst.BaseExpression, seen: frozenset[Slot] = frozenset()) -> bool:
        """Whether a value is the arguments of a call: by what it is, what it was set to, or what callers hand in."""
        node = ex.inner(node.left if isinstance(node, cst.BooleanOperation) else node)
        if Kind.ARGUMENTS in self.facts.kinds(node) or self._stand_on_call(node):
            return True
        slot = self.facts.slots.of_name(node)
        if slot is None or slot in seen:
            return False
        values = self.facts.values_of(node) or self.facts.given(slot)
        return any(self._are_arguments(value, seen | {slot}) for value in values)

    def _stand_on_call(self, node: cst.BaseExpression) -> bool:
        """`call.arguments`, `call.get("arguments", {})`."""
        pair = ex.member(node)
        return pair is not None and pair[1] in ARGUMENT_NAMES and self.is_call(pair[0])


def _named(key: str) -> tuple[Part, ...]:
    """Which part of a call stands under a key; not its arguments."""
    return (Part.NAME,) if key in _NAMES else (Part.ID,) if key in _IDS else ()


def _said(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """The names in an expression whose values are in what it comes to: not `v` of `type(v).__name__`."""
    if isinstance(node, cst.Call) and ex.receiver(node) is None and ex.called_name(node) in SAYS_NOTHING:
        return
    yield from [node] if isinstance(node, cst.Name) else ()
    for child in children(node):
        yield from _said(child)


def elements(node: Comprehension) -> list[cst.BaseExpression]:
    """What a comprehension puts into its result in each turn."""
    return [node.key, node.value] if isinstance(node, cst.DictComp) else [node.elt]
