"""Lists that an object keeps, and that a method of it adds to a store as a whole, each time it is run."""

from __future__ import annotations

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.values.said import origins
from lint_rules.obligations.moves import Move, Moves, is_apart
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.mentions import names_in
from lint_rules.syntax.module import Scope, parameter_names
from lint_rules.syntax.walk import walk


def is_added_again(anatomy: Anatomy, moves: Moves, move: Move) -> bool:
    """Whether a list goes to a store under one key, message by message, and goes there again with the next ones.

    `for m in self.messages: store.add(self.key, m.role, m.content)`, by a turn, or by several ways in. The list is not
    emptied on them, nor the store anywhere, and no id tells the store what it has.
    """
    function, facts, owner = moves.function, anatomy.facts, moves.function.owner
    if move.each is None or owner is None or not isinstance(move.node, cst.Call) or is_told_apart(move):
        return False
    key = [arg.value for arg in move.node.args if is_apart(arg.value, move.each)]
    base = ex.receiver(move.node)
    made = [part for value in (*key, base) for part in (value, *facts.values_of(value)) if part is not None]
    held = [move.source, *facts.assigned(facts.slots.of_name(move.source))]
    whole = all(isinstance(part, (cst.Name, cst.Attribute)) or ex.member(part) is not None for part in held)
    lists = {slot[2] for slot in origins(facts, held) if whole and slot[0] == "attr" and slot[1] is owner}
    running = anatomy.calls.with_callers({function})
    ways = [one for one in running if one.owner is owner and not one.name.startswith("_")]
    return (
        bool(lists and key)
        and (len(ways) > 1 or any(map(anatomy.calls.reaches_llm, running)))
        and not any(_is_another_each_time(function, part) for part in made)
        and not any(_empties(node, lists) for one in running for node in one.nodes_of(cst.Call, cst.Assign))
        and not any(map(moves.replaces(move.target), anatomy.module.nodes_of(cst.Call)))
    )


def is_told_apart(move: Move) -> bool:
    """`store.add(message["id"], message["text"])`: whether a store is told by which id it may have the message."""
    given = move.node.args if isinstance(move.node, cst.Call) and move.each is not None else ()
    return any(pair is not None and pair[1] == "id" for pair in (ex.member(arg.value) for arg in given))


def _is_another_each_time(function: Scope, value: cst.BaseExpression) -> bool:
    """Whether a caller names a place, or one is made for it: `Book()`, `uuid4().hex`."""
    named = names_in(value) & (parameter_names(function) - {"self"})
    made = (ex.called_name(node) for node in walk(value) if isinstance(node, cst.Call))
    return bool(named) or any(name[:1].isupper() or "uuid" in name for name in made)


def _empties(node: cst.Call | cst.Assign, lists: set[str]) -> bool:
    """Whether an attribute gets another list, or its list is emptied."""
    if isinstance(node, cst.Call):
        base = ex.receiver(node) if ex.called_name(node) == "clear" else None
        return base is not None and ex.last_name(base) in lists
    return any(isinstance(target, cst.Attribute) and target.attr.value in lists for target in ex.targets(node))
