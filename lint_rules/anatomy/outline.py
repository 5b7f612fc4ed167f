"""`looplint map`: the anatomy of a file in words, with the evidence for each part."""

from __future__ import annotations

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.rounds.limits import Limits
from lint_rules.anatomy.rounds.rounds import RoundLoop
from lint_rules.anatomy.turns.races import Races
from lint_rules.anatomy.values.kinds import Kind
from lint_rules.anatomy.values.slots import Slot, describe
from lint_rules.syntax import expressions as ex

_SHOWN = (Kind.HISTORY, Kind.MESSAGE, Kind.CALLS, Kind.CALL, Kind.ARGUMENTS_TEXT, Kind.ARGUMENTS, Kind.REPLY)


def outline(anatomy: Anatomy) -> str:
    """One block a part: LLM calls, round loops, histories with their writes, then the other values."""
    races = anatomy.races
    values = [_values(anatomy, kind) for kind in _SHOWN]
    blocks = [_llm_calls(anatomy), _rounds(anatomy), _starts(anatomy, races), _guarded(anatomy, races), *values]
    shown = "\n\n".join(block for block in blocks if block)
    return shown or "no parts of an agent found"


def _block(title: str, lines: list[str]) -> str:
    return "\n".join([title, *(f"  {line}" for line in lines)]) if lines else ""


def _llm_calls(anatomy: Anatomy) -> str:
    lines = [
        f"line {anatomy.line(call.node)}: `{ex.source(call.node.func)}` {call.reason}"
        for call in anatomy.facts.calls.values()
    ]
    reaching = [
        f"`{f.qualname}` reaches a model" for f in anatomy.module.functions
        if anatomy.calls.reaches_llm(f) and f.kind == "function"
    ]  # fmt: skip
    return _block("LLM calls", lines + reaching)


def _rounds(anatomy: Anatomy) -> str:
    return _block(
        "round loops",
        [
            f"line {anatomy.line(loop.node)}: in `{loop.function.qualname}`, asks in line {anatomy.line(loop.asks)}, "
            + _limit(anatomy, loop)
            for loop in anatomy.rounds
        ],
    )


def _limit(anatomy: Anatomy, loop: RoundLoop) -> str:
    limit = Limits(anatomy, loop.node, loop.function).limit
    return f"limit `{ex.source(limit, 40)}`" if limit is not None else "no limit"


def _starts(anatomy: Anatomy, races: Races) -> str:
    return _block(
        "concurrent starts",
        [
            f"line {anatomy.line(start.node)}: `{start.function.qualname}` as a {start.kind}"
            + (", several at once" if start.many else "")
            for start in races.starts
        ],
    )


def _guarded(anatomy: Anatomy, races: Races) -> str:
    """Writes to shared histories, with the locks that are held there."""
    lines = []
    for history in races.histories:
        for write in history.writes:
            held = sorted("a lock" if lock[0] == "lock" else f"`{describe(lock)}`" for lock in races.held(write))
            under = f"under {', '.join(held)}" if held else "without a lock"
            lines.append(f"line {anatomy.line(write.node)}: {write.kind} of `{describe(write.slot)}` {under}")
    return _block("writes to shared histories", lines)


def _values(anatomy: Anatomy, kind: Kind) -> str:
    lines = []
    for slot, kinds in anatomy.facts.all_known().items():
        evidence = kinds.get(kind)
        if evidence is not None and slot[0] in {"var", "attr", "member", "item"}:
            chain = " <- ".join(f"{e.reason} (line {anatomy.line(e.node)})" for e in evidence.chain())
            lines.append(f"`{describe(slot)}` in {_home(slot)}: {chain}{_writes(anatomy, slot, kind)}")
    return _block(f"{kind.value} ({kind.name.lower()})", sorted(lines))


def _home(slot: Slot) -> str:
    while slot[0] in {"member", "item"}:
        slot = slot[1]
    return f"`{slot[1].qualname}`" if slot[0] in {"var", "attr", "return"} else "a call"


def _writes(anatomy: Anatomy, slot: Slot, kind: Kind) -> str:
    if kind is not Kind.HISTORY or not anatomy.writes.by_slot[slot]:
        return ""
    written = ", ".join(f"{w.kind} in line {anatomy.line(w.node)}" for w in anatomy.writes.by_slot[slot])
    return f"; written: {written}"
