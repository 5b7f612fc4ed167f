"""What becomes of a tool call: the tool message that answers it, the function it is handed to."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import libcst as cst

from lint_rules.anatomy import vocabulary as words
from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.calls import answers
from lint_rules.anatomy.messages.classes import body
from lint_rules.anatomy.program import handlers
from lint_rules.anatomy.values.slots import Slot
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.module import Scope

_RESULT_MAKERS = words.RESPONSE_MAKERS | {"ToolMessage", "FunctionMessage"}
_OF_A_CALL = frozenset({"input", "arguments", "function"})
"""Keys beside an id that make a dict a call, not a result."""
_PURE = frozenset(
    {
        "len", "bool", "any", "all", "enumerate", "list", "tuple", "sorted", "reversed", "iter", "next", "zip", "str",
        "repr", "isinstance", "hasattr", "getattr", "set", "type", "dumps", "loads", "get", "append", "extend", "add",
        "dict", "range", "min", "max", "model_dump", "cast", "copy", "deepcopy", "join", "format", "filter", "map",
        "sum", "update", "islice",
    }
)  # fmt: skip
_ASSIGNMENTS = frozenset({cst.Assign, cst.AnnAssign, cst.NamedExpr})
_BLOCKS = frozenset({cst.SimpleStatementLine, cst.SimpleStatementSuite, cst.IndentedBlock, cst.Module})


def answered(
    anatomy: Anatomy, function: Scope, uses: Iterable[cst.CSTNode], seen: set[frozenset[cst.CSTNode]] | None = None
) -> cst.CSTNode | None:
    """The tool message that a function makes of a tool call, or one of this file that it hands the call to or back to.

    `uses` are the nodes that stand for the call. What is assigned from it (arguments, results) counts as of it.
    """
    seen, known = set() if seen is None else seen, frozenset(uses)
    if known in seen:
        return None
    seen.add(known)
    of_it = _Taken(anatomy, function, known)
    made = of_it.inside(cst.Dict, cst.Call)
    for node in made:
        if any(value in of_it.nodes for value in _result_parts(node)):
            return node
    for node in made:
        run = body(anatomy, node)
        if type(node) is not cst.Call or run is None or run[1] is function:
            continue
        there, callee = run
        given = {slot for slot, value in there.facts.slots.bindings(node, callee) if value in of_it.nodes}
        names = [name for slot in given for name in there.facts.names.get(slot, ())]
        if given and answered(there, callee, names, seen) is not None:
            return node
    given_back = any(isinstance(node, cst.Return) for node in of_it.nodes) and function.kind == "function"
    sites = anatomy.calls.sites[function] if given_back else ()
    found = (answered(anatomy, site.caller, [site.node], seen) for site in sites)
    return next((answer for answer in found if answer is not None), None)


def rebuilt(anatomy: Anatomy, function: Scope, uses: Iterable[cst.CSTNode]) -> cst.CSTNode | None:
    """The dict that a function puts the id and the input of a tool call into: the call in another API's form."""
    of_it = _Taken(anatomy, function, uses)
    for node in of_it.inside(cst.Dict):
        items = ex.dict_items(node)
        if items.keys() & _OF_A_CALL and items.keys() & {"id", *words.ANSWERED}:
            if any(value in of_it.nodes for value in items.values()):
                return node
    return None


def _result_parts(node: cst.CSTNode) -> Iterator[cst.BaseExpression]:
    """What a tool message is made of, if `node` makes one: its id, and its content where there are no ids."""
    if isinstance(node, cst.Dict):
        items = ex.dict_items(node)
        if _OF_A_CALL & items.keys():
            return
        kind, role = (
            ex.text(items["type"]) if "type" in items else None,
            ex.text(items["role"]) if "role" in items else None,
        )
        ids = [value for key, value in items.items() if key in words.ANSWERED]
        response = items.keys() & words.RESPONSES
        if ids:
            yield from ids
        elif response:
            yield from (items[key] for key in response)
        elif role in answers.ROLES or kind in words.RESULT_TAGS:
            yield from items.values()
    elif isinstance(node, cst.Call):
        keywords = ex.keywords(node)
        if _OF_A_CALL & keywords.keys():
            return
        yield from (value for key, value in keywords.items() if key in words.ANSWERED)
        if ex.called_name(node) in _RESULT_MAKERS:
            yield from (arg.value for arg in node.args)


class _Taken:
    """What in a function is taken from a tool call: the call, its parts, what is assigned from them."""

    def __init__(self, anatomy: Anatomy, function: Scope, uses: Iterable[cst.CSTNode]) -> None:
        self._module = anatomy.module
        self._slots_of = anatomy.facts.slots.of
        self._function = function
        self.nodes: set[cst.CSTNode] = set()
        """The expressions and simple statements that something of the call goes into."""
        slots: set[Slot] = set()
        queue = list(uses)
        while queue:
            here = queue.pop()
            while type(here) not in _BLOCKS and here not in self.nodes:
                self.nodes.add(here)
                outer = self._module.parent[here]
                if type(outer) in _ASSIGNMENTS and outer.value is here:  # type: ignore[attr-defined]
                    if self._module.scope_of[outer].function is function:
                        new = set(self._bound(outer)) - slots  # type: ignore[arg-type]
                        slots |= new
                        queue.extend(name for slot in new for name in anatomy.facts.names.get(slot, ()))
                here = outer

    def inside(self, *kinds: type[cst.CSTNode]) -> list[cst.CSTNode]:
        """Those of the function itself that are of these types, in source order."""
        module = self._module
        found = [n for n in self.nodes if type(n) in kinds and module.scope_of[n].function is self._function]
        return sorted(found, key=module.order.__getitem__)

    def _bound(self, node: cst.Assign | cst.AnnAssign | cst.NamedExpr) -> Iterator[Slot]:
        targets = ex.targets(node)
        for target in targets:
            parts = [e.value for e in target.elements] if isinstance(target, (cst.Tuple, cst.List)) else [target]
            for part in parts:
                slot = self._slots_of(part)
                if slot is not None and slot[0] == "var":
                    yield slot


def handed_on(anatomy: Anatomy, value: cst.CSTNode) -> cst.Call | None:
    """The call that gets `value`, or a part of it, and may run a tool with it; None where it is shown or formed."""
    for outer in anatomy.module.ancestors(value):
        if isinstance(outer, cst.Call) and not anatomy.module.inside(value, outer.func):
            if may_run(outer):
                return None if handlers.shown_only(anatomy.module, outer) else outer
        elif isinstance(outer, (cst.BaseSmallStatement, cst.BaseCompoundStatement, cst.Dict)):
            return None
    return None


def may_run(call: cst.Call) -> bool:
    """Whether a call may run a tool: not one that shows, copies, counts, or makes an object."""
    name = ex.called_name(call)
    return name not in _PURE and not name[:1].isupper() and not handlers.is_logging(call)
