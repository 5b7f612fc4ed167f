"""What the values and calls of a file were taken for, each with its place and the evidence for it."""

from __future__ import annotations

from collections.abc import Iterator

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.values.kinds import Kind
from lint_rules.anatomy.values.slots import Slot, describe, root_object
from lint_rules.picture import Known, Named, Place
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.module import Scope

__all__ = ["asks", "known", "reaching", "shared", "starts"]

_SHOWN = (Kind.HISTORY, Kind.MESSAGE, Kind.CALLS, Kind.CALL, Kind.ARGUMENTS_TEXT, Kind.ARGUMENTS, Kind.REPLY)


def asks(anatomy: Anatomy) -> Iterator[Named]:
    """The calls that ask a model."""
    for call in anatomy.facts.calls.values():
        yield Named(ex.source(call.node.func), call.reason, _place(anatomy, call.node))


def reaching(anatomy: Anatomy) -> Iterator[str]:
    """The functions that lead to such a call."""
    for function in anatomy.module.functions:
        if anatomy.calls.reaches_llm(function) and function.kind == "function":
            yield function.qualname


def starts(anatomy: Anatomy) -> Iterator[Named]:
    """The functions that begin to run beside others."""
    for start in anatomy.races.starts:
        says = f"as a {start.kind}" + (", several at once" if start.many else "")
        yield Named(start.function.qualname, says, _place(anatomy, start.node))


def shared(anatomy: Anatomy) -> Iterator[Named]:
    """Writes to shared histories, with the locks that are held there."""
    for history in anatomy.races.histories:
        for write in history.writes:
            held = sorted(
                "a lock" if lock[0] == "lock" else f"`{describe(lock)}`" for lock in anatomy.races.held(write)
            )
            under = f"under {', '.join(held)}" if held else "without a lock"
            yield Named(describe(write.slot), f"{write.kind} {under}", _place(anatomy, write.node))


def known(anatomy: Anatomy) -> Iterator[Known]:
    """The values, by kind and name."""
    for kind in _SHOWN:
        found = []
        for slot, kinds in anatomy.facts.all_known().items():
            evidence = kinds.get(kind)
            if evidence is not None and slot[0] in {"var", "attr", "member", "item"}:
                name = describe(slot)
                chain = tuple(Named(name, e.reason, _place(anatomy, e.node)) for e in evidence.chain())
                found.append(Known(kind.name.lower(), name, _home(slot), chain, tuple(_writes(anatomy, slot, kind))))
        yield from sorted(found, key=lambda value: (value.name, value.home))


def _home(slot: Slot) -> str:
    slot = root_object(slot)
    home: Scope | None = slot[1] if slot[0] in {"var", "attr", "return"} else None
    return home.qualname if home is not None else ""


def _writes(anatomy: Anatomy, slot: Slot, kind: Kind) -> Iterator[Named]:
    for write in anatomy.writes.by_slot[slot] if kind is Kind.HISTORY else ():
        yield Named(describe(slot), write.kind, _place(anatomy, write.node))


def _place(anatomy: Anatomy, node: object) -> Place:
    return Place(*anatomy.module.positions.span(node))  # type: ignore[arg-type]
