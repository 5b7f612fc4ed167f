"""AGL604: the field is set only when there are calls.

A message that has a name gets it afterwards: `if calls: message["tool_calls"] = calls`. In a message without a name,
`"tool_calls": calls` becomes `**({"tool_calls": calls} if calls else {})`.
"""

from __future__ import annotations

from typing import Any

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.repairs.edits import Block, Edits, Fix, block_of, line_of, of_the_file
from lint_rules.rules.empty_tool_calls_field.empty_calls import EmptyCalls, picks
from lint_rules.syntax import expressions as ex

_TITLE = "set the field only when there are calls"
_EMPTY = cst.Module([])


@of_the_file
def repair(anatomy: Anatomy, found: EmptyCalls) -> Fix | None:
    """Unsafe: whoever reads the field of a message must be ready to find none. None where it is read as if set."""
    module, element = anatomy.module, found.element
    is_read = any(ex.key(node) == "tool_calls" for node in module.nodes_of(cst.Subscript))
    if is_read or not isinstance(element, cst.DictElement) or picks(element.value):
        return None
    message = module.parent[element]
    named = module.parent.get(message)
    line = line_of(module, named) if isinstance(named, (cst.Assign, cst.AnnAssign)) else None
    block = block_of(module, line) if line is not None else None
    name = _name(named)
    if line is not None and block is not None and name is not None and isinstance(message, cst.Dict):
        if len(message.elements) > 1 and message.elements[-1] is element and _stand_alone(message):
            return Fix(_TITLE, "unsafe", lambda: _set_afterwards(found.calls, element, message, name, line, block))
    return Fix(_TITLE, "unsafe", lambda: _chosen(found.calls, element))


def _stand_alone(message: cst.Dict) -> bool:
    """Whether no comment stands at the last two elements, which would be lost, or pass from one to the other."""
    before, last = message.elements[-2:]
    around = [node for node in (before.comma, last.comma, message.rbrace) if isinstance(node, cst.CSTNode)]
    return not any("#" in _EMPTY.code_for_node(node) for node in around)


def _name(statement: cst.CSTNode | None) -> str | None:
    """`m` of `m = {...}`."""
    if isinstance(statement, cst.Assign):
        target: cst.BaseExpression | None = statement.targets[0].target if len(statement.targets) == 1 else None
    else:
        target = statement.target if isinstance(statement, cst.AnnAssign) else None
    return target.value if isinstance(target, cst.Name) else None


def _set_afterwards(
    calls: cst.BaseExpression,
    element: cst.DictElement,
    message: cst.Dict,
    name: str,
    line: cst.SimpleStatementLine,
    block: Block,
) -> Edits:
    *others, before, last = message.elements
    shorter = message.with_changes(elements=[*others, before.with_changes(comma=last.comma)])
    target = cst.parse_expression(f'{name}["tool_calls"]')
    assert isinstance(target, cst.Subscript)
    indent = block.indent if isinstance(block, cst.IndentedBlock) else None
    value = element.value.deep_clone()
    setting = cst.SimpleStatementLine([cst.Assign([cst.AssignTarget(target)], value)])
    test = cst.If(calls.deep_clone(), cst.IndentedBlock([setting], indent=indent))

    def inserted(statements: list[Any]) -> list[Any]:
        after = list(block.body).index(line) + 1
        return [*statements[:after], test, *statements[after:]]

    return Edits(replaced={message: shorter}, changed={block: inserted})


def _chosen(calls: cst.BaseExpression, element: cst.DictElement) -> Edits:
    field = cst.Dict([element.with_changes(comma=cst.MaybeSentinel.DEFAULT)])
    chosen = cst.IfExp(
        test=calls.deep_clone(),
        body=field,
        orelse=cst.Dict([]),
        lpar=[cst.LeftParen()],
        rpar=[cst.RightParen()],
    )
    return Edits(replaced={element: cst.StarredDictElement(chosen, comma=element.comma)})
