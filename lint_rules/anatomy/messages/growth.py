"""Histories that go on growing: which write makes one longer for the next turn, and which objects keep one."""

from __future__ import annotations

import libcst as cst

from lint_rules.anatomy import vocabulary as words
from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.messages.classes import made_class
from lint_rules.anatomy.messages.writes import GROWING, HistoryWrite
from lint_rules.anatomy.values.slots import Slot
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.module import Scope, SourceModule
from lint_rules.syntax.walk import walk

SETUPS = frozenset({"__init__", "__post_init__", "__new__", "__init_subclass__", "setUp", "setup"})


def root_of(slot: Slot) -> Slot | None:
    """`x` of `x`, `x.messages` and `x["messages"]`; None where a key picks one of many."""
    while slot[0] == "member":
        slot = slot[1]
    return slot if slot[0] in {"var", "attr"} else None


def growing(
    anatomy: Anatomy, slot: Slot, writes: list[HistoryWrite], entry: Scope, reach: set[Scope]
) -> HistoryWrite | None:
    """A write that makes the history longer for the next event: unless `entry` begins with a new history."""
    for write in writes:
        if write.function in reach and grows(anatomy, write) and not begun_anew(anatomy, slot, write, entry):
            return write
    return None


def grows(anatomy: Anatomy, write: HistoryWrite) -> bool:
    return write.kind in GROWING or (write.kind == "rebind" and _adds_to_itself(anatomy, write))


def _adds_to_itself(anatomy: Anatomy, write: HistoryWrite) -> bool:
    """`h = h + [m]`, `h = [*h, m]`, also by way of a name: what comes last is new."""
    return any(_adds_at_the_end(anatomy, value, write.slot) for value in put_there(anatomy, write.value))


def put_there(anatomy: Anatomy, value: cst.BaseExpression | None) -> list[cst.BaseExpression]:
    """What an assignment puts in the place of another history, also by way of a name."""
    value = ex.inner(value) if value is not None else None
    bound = [each.value for each in anatomy.definitions(value)] if isinstance(value, cst.Name) else []
    return [ex.inner(each) for each in (bound if bound and all(bound) else [value]) if each is not None]


def _adds_at_the_end(anatomy: Anatomy, value: cst.BaseExpression, slot: Slot) -> bool:
    if isinstance(value, cst.BinaryOperation):
        parts = [value.left, value.right]
    else:
        parts = [each.value for each in value.elements] if isinstance(value, cst.List) else []
    return any(reads(anatomy, part, slot) for part in parts[:-1]) and not reads(anatomy, parts[-1], slot)


def begun_anew(anatomy: Anatomy, slot: Slot, write: HistoryWrite, entry: Scope) -> bool:
    """Whether the history is always replaced or emptied on the way to `write`."""
    for function in dict.fromkeys((entry, write.function)):
        flow = anatomy.flow(function)
        places = [write.node] if function is write.function else _ways_to(anatomy, write.function, entry)
        starts = anatomy.points(function, reset_places(anatomy, slot, function))
        goals = anatomy.points(function, places)
        if goals and starts and not flow.reaches(flow.entry, [g for g in goals if g not in starts], starts):
            return True
    return False


def reset_places(anatomy: Anatomy, slot: Slot, function: Scope) -> list[cst.CSTNode]:
    """Where a function replaces or empties the history: itself, or by a call of what surely does so."""
    writes = [write for write in anatomy.writes.by_slot[slot] if resets(anatomy, write)]
    surely = {w.function for w in writes if w.function.name not in SETUPS and always_comes_to(anatomy, w)}
    places = [write.node for write in writes if write.function is function]
    return [*places, *(site.node for site in anatomy.calls.calls[function] if site.callee in surely)]


def always_comes_to(anatomy: Anatomy, write: HistoryWrite) -> bool:
    """Whether each run of its function makes a write."""
    if write.function.kind != "function":
        return False
    flow = anatomy.flow(write.function)
    return any(flow.dominates(point, flow.exit) for point in anatomy.points(write.function, [write.node]))


_RULES = "system"
_NOTHING = cst.List([])


def resets(anatomy: Anatomy, write: HistoryWrite) -> bool:
    """Whether a write begins a history anew, maybe behind its first message: `h.clear()`, `del h[1:]`, `h[:] = new`."""
    if isinstance(write.node, cst.Call):
        return write.kind == "cut" and ex.called_name(write.node) == "clear"
    place = cut_out(write)
    if write.kind in {"cut", "replace"} and not (
        place is not None and place.upper is None and (place.lower is None or ex.integer(place.lower) in {0, 1})
    ):
        return False
    if write.kind == "cut" or write.value is None:
        return write.kind == "cut"
    return all(
        keeps_rules_only(value) or not reads(anatomy, _but_the_first(value), write.slot)
        for value in put_there(anatomy, write.value)
    )


def _but_the_first(value: cst.BaseExpression) -> cst.BaseExpression:
    """What a list takes over of another behind its first element: nothing, of `[h[0]]` and `h[:1]`."""
    value = ex.inner(value)
    part = ex.slice_of(value)
    if part is not None and part.lower is None and ex.integer(part.upper) == 1:
        return _NOTHING
    first = isinstance(value, cst.List) and len(value.elements) == 1 and ex.inner(value.elements[0].value)
    return _NOTHING if isinstance(first, cst.Subscript) and ex.integer(ex.index(first)) == 0 else value


def keeps_rules_only(value: cst.BaseExpression) -> bool:
    """`[m for m in messages if m["role"] == "system"]`: of a conversation nothing is left."""
    value = ex.inner(value)
    tests = [each.test for each in value.for_in.ifs] if isinstance(value, cst.ListComp) else []
    for test in tests:
        if isinstance(test, cst.Comparison):
            _, operator, right = ex.compared(test)
            if isinstance(operator, cst.Equal) and _RULES in {ex.text(right), ex.last_name(right).lower()}:
                return True
    return False


def cut_out(write: HistoryWrite) -> cst.Slice | None:
    """The part of a history that a statement takes away or replaces."""
    if isinstance(write.node, cst.Assign):
        return next((part for t in ex.targets(write.node) if (part := ex.slice_of(t)) is not None), None)
    return ex.slice_of(write.node.target) if isinstance(write.node, cst.Del) else None


def pops_last(call: cst.Call) -> bool:
    """`h.pop()`, `h.pop(-1)`."""
    first = call.args[0].value if call.args else None
    return ex.called_name(call) == "pop" and (first is None or (ex.integer(first) or 0) < 0)


def takes_last(write: HistoryWrite) -> bool:
    """`h.pop()`, `del h[-2]`, `del h[mark:]`, `h[:] = h[:-1]`: what is there by then may be a message of others."""
    if isinstance(write.node, cst.Call):
        return pops_last(write.node)
    part = cut_out(write)
    if write.kind == "cut":
        index = ex.index(write.node.target) if isinstance(write.node, cst.Del) else None
        place = ex.integer(part.lower if part is not None else index)
        return place < 0 if place is not None else part is not None and part.upper is None and part.lower is not None
    kept = ex.inner(write.value) if write.value is not None and isinstance(write.node, cst.Assign) else None
    head = ex.slice_of(kept) if isinstance(kept, cst.Subscript) else None
    if head is None or head.lower is not None or head.upper is None or not isinstance(kept, cst.Subscript):
        return False
    places = ex.targets(write.node) if isinstance(write.node, cst.Assign) else []
    whole = [ex.unsliced(t) for t in places]
    return any(ex.source(place) == ex.source(kept.value) for place in whole)


def reads(anatomy: Anatomy, value: cst.BaseExpression, slot: Slot) -> bool:
    return any((ex.reads_place(n) or type(n) is cst.Call) and anatomy.facts.slots.of(n) == slot for n in walk(value))


def _ways_to(anatomy: Anatomy, goal: Scope, entry: Scope) -> list[cst.CSTNode]:
    """The calls in `entry` that lead to the function `goal`."""
    return [site.node for site in anatomy.calls.calls[entry] if goal in anatomy.calls.may_run(site.callee)]


def grown_by_method(anatomy: Anatomy, method: Scope) -> HistoryWrite | None:
    """The write by which a method makes longer what its object keeps of a conversation: any file may send that."""
    reach = anatomy.calls.may_run(method)
    for slot, writes in anatomy.writes.by_slot.items():
        root = root_of(slot)
        kept = root is not None and root[0] == "attr" and _is_part_of(anatomy, method.owner, root[1])
        if kept and any(w.function in reach for w in writes):
            write = growing(anatomy, slot, [w for w in writes if w.function.name not in SETUPS], method, reach)
            if write is not None:
                return write
    return None


def _is_part_of(anatomy: Anatomy, owner: Scope | None, part: Scope) -> bool:
    """Whether an object of a class is, or has in an attribute, one of `part`: not one of many, under a key."""
    queue, classes, module = [owner] if owner is not None else [], anatomy.facts.slots.classes, anatomy.module
    for cls in queue:
        line = module.lineage(cls)
        if part in line or cls in module.base_classes(part):
            return True
        held = [classes.get(("attr", each, name)) for each in line for name in each.attributes]
        queue += [each for each in dict.fromkeys(held) if each is not None and each not in queue]
    return False


def grown_by_call(anatomy: Anatomy, made: cst.Call, call: cst.Call) -> tuple[Anatomy, HistoryWrite] | None:
    """In which file, and by which write, a call on the object that `made` makes continues the conversation it keeps."""
    found = made_class(anatomy, made)
    method = found[0].module.method(found[1], ex.called_name(call)) if found is not None else None
    write = grown_by_method(found[0], method) if found is not None and method is not None else None
    return (found[0], write) if found is not None and write is not None else None


def keeps_conversation(module: SourceModule, call: cst.Call) -> bool:
    """Whether a call of a known library makes an object that keeps one conversation."""
    full = module.full_name(call.func)
    for part in full.replace("()", "").split("."):
        packages = words.KEEPERS.get(part, ())
        if packages and (
            full.startswith(packages) or any(n.startswith(packages) for n in module.imports.full.values())
        ):
            return True
    name = full.rpartition(".")[2]
    if full.startswith(("langchain", "llama_index")) and name.endswith(("Memory", "MemoryBuffer", "MessageHistory")):
        return True
    return full.endswith("chats.create") and any(n.startswith("google") for n in module.imports.full.values())


def is_mutable(value: cst.BaseExpression) -> bool:
    """A list that is made in place."""
    return isinstance(value, cst.List) or (isinstance(value, cst.Call) and ex.dotted(value.func) in {"list", "deque"})
