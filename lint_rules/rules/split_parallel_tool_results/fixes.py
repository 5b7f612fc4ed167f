"""AGL613: the results of a round are collected in a list, and stored in one message behind the loop.

Only where the loop itself writes the message down, stores nothing else in that list, and is not left by a `return`.
"""

from __future__ import annotations

from typing import Any

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.repairs.edits import Edits, Fix, block_of, line_of, of_the_file, put_before
from lint_rules.repairs.imports import is_free
from lint_rules.rules.split_parallel_tool_results.split_results import SplitResult
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.walk import walk

_NAMES = ("results", "tool_results", "result_parts")
_TITLE = "store the results of a round in one message"


@of_the_file
def repair(anatomy: Anatomy, split: SplitResult) -> Fix | None:
    """`results = []` before the loop, the message behind it, if there are any. Unsafe: it comes later than before."""
    module, loop, store = anatomy.module, split.loop, split.node
    line, content = line_of(module, store), _content(store)
    if not isinstance(loop, cst.For) or loop.orelse is not None or line is None or content is None:
        return None
    body, block = loop.body, block_of(module, loop)
    name = next((name for name in _NAMES if is_free(module, loop, name)), None)
    if block is None or name is None or not isinstance(body, cst.IndentedBlock):
        return None
    if not isinstance(store, cst.Call) or not _can_wait(anatomy, loop, store, content):
        return None
    at, part = list(block.body).index(loop), content.elements[0].value

    def build() -> Edits:
        stored = store.deep_replace(content, cst.Name(name))
        assert isinstance(stored, cst.BaseExpression)
        collected = cst.Call(cst.Attribute(cst.Name(name), cst.Name("append")), [cst.Arg(part)])
        last = cst.SimpleStatementLine([cst.Expr(stored)])
        after = cst.If(cst.Name(name), cst.IndentedBlock([last], indent=body.indent))
        start = cst.SimpleStatementLine([cst.Assign([cst.AssignTarget(cst.Name(name))], cst.List([]))])

        def around(statements: list[Any]) -> list[Any]:
            return put_before([*statements[: at + 1], after, *statements[at + 1 :]], at, start)

        return Edits(replaced={store: collected}, changed={block: around}, claimed=frozenset({part}))

    return Fix(_TITLE, "unsafe", build)


def _content(store: cst.CSTNode) -> cst.List | None:
    """`[result]` in `history.append({"role": "user", "content": [result]})`, whose other fields are constants."""
    if not isinstance(store, cst.Call) or ex.called_name(store) != "append" or len(store.args) != 1:
        return None
    message = store.args[0].value
    items = ex.keywords(message) if isinstance(message, cst.Call) else ex.dict_items(message)
    found = next((items[key] for key in ("content", "parts") if key in items), None)
    fields = len(message.args) if isinstance(message, cst.Call) else len(getattr(message, "elements", ()))
    others = [value for value in items.values() if value is not found]
    if fields != len(items) or any(isinstance(node, cst.Name) for value in others for node in walk(value)):
        return None
    return found if isinstance(found, cst.List) and len(found.elements) == 1 else None


def _can_wait(anatomy: Anatomy, loop: cst.For, store: cst.Call, content: cst.List) -> bool:
    """Whether nobody reads or grows the history in the loop, and the end of the loop is always reached."""
    history = ex.receiver(store)
    slot = anatomy.facts.slots.of(history)
    if slot is None:
        return False
    for node in walk(loop.body):
        if isinstance(node, (cst.Return, cst.Yield)):
            return False
        if isinstance(node, (cst.Name, cst.Attribute)) and node is not history:
            if anatomy.facts.slots.of(node) == slot and not anatomy.module.inside(node, store.func):
                return False
    return all(anatomy.facts.slots.of(node) != slot for node in walk(content) if isinstance(node, cst.Name))
