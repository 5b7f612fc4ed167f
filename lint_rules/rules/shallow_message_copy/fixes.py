"""AGL201: the copy is made deep where it is made. Only for expressions that do nothing but copy."""

from __future__ import annotations

from dataclasses import replace

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.values.copies import Copy, path_of
from lint_rules.anatomy.values.sharing import SharedStore
from lint_rules.repairs.edits import Edits, Fix, of_the_file
from lint_rules.repairs.imports import Reference, reference
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.mentions import names_in
from lint_rules.syntax.module import SourceModule

_Edit = tuple[cst.CSTNode, cst.CSTNode]
_CONVERTERS = frozenset({"list", "dict", "tuple", "sorted", "deque"})
_LOOKERS = frozenset({"len", "enumerate", "reversed", "zip", "range", "any", "all", "sum", "print", "isinstance"})
_HOLDERS = (cst.Return, cst.Yield, cst.StarredElement, cst.StarredDictElement, cst.BinaryOperation, cst.Element,
            cst.DictElement, cst.ListComp, cst.GeneratorExp)  # fmt: skip
_DISPLAYS = {"list": (cst.List, cst.ListComp), "dict": (cst.Dict, cst.DictComp)}
_TRUE = cst.Arg(
    cst.Name("True"),
    keyword=cst.Name("deep"),
    equal=cst.AssignEqual(cst.SimpleWhitespace(""), cst.SimpleWhitespace("")),
)


@of_the_file
def repair(anatomy: Anatomy, store: SharedStore) -> Fix | None:
    """`copy.deepcopy(...)` or `model_copy(deep=True)` for the shallow copy. Never safe: others may share on purpose."""
    module, copy, node = anatomy.module, store.copy, store.copy.node
    if copy.fresh == 0 or _is_handed_on(anatomy, store) or not _goes_anywhere(module, copy):
        return None
    if isinstance(node, cst.Call) and ex.called_name(node) == "model_copy":
        return Fix("copy deeply: `deep=True`", "unsafe", lambda: Edits(replaced={node: _deep(node)}))
    found = reference(module, node, "copy", "deepcopy") if isinstance(node, cst.BaseExpression) else None
    edit = _Deepening(anatomy, copy, found).edit() if found is not None else None
    if found is None or edit is None:
        return None
    old, new = edit
    return Fix("copy deeply: `deepcopy`", "unsafe", lambda: Edits(replaced={old: new}, imports=found.needs))


def _is_handed_on(anatomy: Anatomy, store: SharedStore) -> bool:
    """Whether the copy is right where it is made, and it is for another function to copy before it edits.

    Only a function that asks for the copy itself, and always gets one, is served by a deeper one.
    """
    function, maker = anatomy.module.scope_of[store.node].function, store.copy.function
    if function is maker:
        return False
    asks = any(site.caller is function for site in anatomy.calls.sites[maker])
    return not asks or function in anatomy.calls.reachable(maker) or _may_return_original(anatomy, store.copy)


def _may_return_original(anatomy: Anatomy, copy: Copy) -> bool:
    slots = anatomy.facts.slots
    original = slots.of(copy.source)
    returns = (node.value for node in copy.function.nodes if isinstance(node, cst.Return) and node.value is not None)
    return original is not None and any(slots.of(value) == original for value in returns)


def _goes_anywhere(module: SourceModule, copy: Copy) -> bool:
    """Whether the copy, or a part of it, is handed to anyone. If not, the store into the original is what is wanted."""
    statement = module.statement(copy.node)
    if not isinstance(statement, (cst.Assign, cst.AnnAssign)):
        return True
    targets = ex.targets(statement)
    names = names_in(*targets)
    if not all(isinstance(target, (cst.Name, cst.Tuple, cst.List)) for target in targets):
        return True
    for node in copy.function.nodes:
        if isinstance(node, (cst.For, cst.CompFor)) and not names.isdisjoint(names_in(node.iter)):
            names.update(ex.target_names(node.target))
        elif isinstance(node, cst.Assign) and (path_of(node.value) or ("",))[0] in names:
            names.update(name for target in node.targets for name in ex.target_names(target.target))
    uses = (n for n in copy.function.nodes if isinstance(n, cst.Name) and n.value in names)
    return any(_is_handed_over(module, use, names) for use in uses)


def _is_handed_over(module: SourceModule, use: cst.CSTNode, names: set[str]) -> bool:
    """Whether a value is returned, passed to a call that does more than look at it, or put into something else."""
    parent = module.parent[use]
    while isinstance(parent, cst.Subscript) and parent.value is use:
        use, parent = parent, module.parent[parent]
    if isinstance(parent, cst.Arg):
        call = module.parent[parent]
        return isinstance(call, cst.Call) and ex.called_name(call) not in _LOOKERS
    if isinstance(parent, cst.Assign):
        stores = [target.target for target in parent.targets if not isinstance(target.target, cst.Name)]
        return parent.value is use and any((path_of(store) or ("",))[0] not in names for store in stores)
    return isinstance(parent, _HOLDERS)


def _deep(call: cst.Call) -> cst.Call:
    """`model_copy` with `deep=True`."""
    others = [arg for arg in call.args if arg.keyword is None or arg.keyword.value != "deep"]
    return call.with_changes(args=[*others, _TRUE])


class _Deepening:
    """What to put in place of which part of a copying expression."""

    def __init__(self, anatomy: Anatomy, copy: Copy, deepcopy: Reference) -> None:
        self.anatomy = anatomy
        self.module = anatomy.module
        self.copy = copy
        self.deepcopy = deepcopy

    def edit(self) -> _Edit | None:
        """(old, new); None where the expression does more than copy."""
        node = self.copy.node
        if isinstance(node, cst.Call):
            return self._call(node)
        if isinstance(node, cst.Dict):
            return self._display([e.value for e in node.elements if isinstance(e, cst.StarredDictElement)])
        if isinstance(node, cst.List):
            return self._display([e.value for e in node.elements if isinstance(e, cst.StarredElement)])
        if isinstance(node, cst.Subscript):
            return node, self._deep(node.value if _takes_all(node) else node)
        if isinstance(node, cst.ListComp):
            return self._element(node)
        if isinstance(node, cst.DictComp):
            return node.value, self._deep(node.value)
        if isinstance(node, cst.BinaryOperation) and node.left is not self.copy.source is not node.right:
            return None
        source = self.copy.source
        return source, self._deep(source)

    def _deep(self, value: cst.BaseExpression) -> cst.Call:
        return cst.Call(self.deepcopy.node, [cst.Arg(_bare(value))])

    def _call(self, node: cst.Call) -> _Edit | None:
        name, base = ex.called_name(node), ex.receiver(node)
        if name == "copy":
            given = ex.positional(node)
            source = given[0] if given else base
            return (node, self._deep(source)) if source is not None and len(node.args) < 2 else None
        if isinstance(node.func, cst.Name) and name in _CONVERTERS:
            if len(node.args) == 1 and self._is_a(name, node.args[0].value):
                return node, self._deep(node.args[0].value)
            if name == "dict" and len(node.args) > 1 and node.args[0].value is self.copy.source:
                return self.copy.source, self._deep(self.copy.source)  # the fields behind it are the copy's own
            return self._converted(name, node)
        return self.copy.source, self._deep(self.copy.source)  # `replace(m, role=...)`

    def _converted(self, name: str, node: cst.Call) -> _Edit | None:
        """What is not known to be a list or dict must still become one: of a list, each element is copied."""
        if name == "list" and len(node.args) == 1 and not node.args[0].star:
            return node, self._each(node.args[0].value)
        return node, self._deep(node)

    def _each(self, source: cst.BaseExpression) -> cst.ListComp:
        """`[deepcopy(message) for message in source]`."""
        element = next(cst.Name(name) for name in ("message", "part", "each") if name not in names_in(source))
        return cst.ListComp(self._deep(element), cst.CompFor(element, source))

    def _is_a(self, kind: str, source: cst.BaseExpression) -> bool:
        """Whether a value is known to be a plain list or dict, so that nothing converts it but the copy."""
        if _annotation(self.module, source).lower().startswith(kind):
            return True
        if kind == "dict" and (self._is_read_by_keys(source) or "[dict" in self._annotation_of_list(source).lower()):
            return True
        slot = self.anatomy.facts.slots.of(source) if isinstance(source, (cst.Name, cst.Attribute)) else None
        values = self.anatomy.facts.assigned(slot)
        return bool(values) and all(type(value) in _DISPLAYS.get(kind, ()) for value in values)

    def _is_read_by_keys(self, source: cst.BaseExpression) -> bool:
        """`message["role"]`, `message.get("role")` of the same name, anywhere in the function."""
        slot = self.anatomy.facts.slots.of(source)
        reads = self.copy.function.nodes_of(cst.Subscript, cst.Call)
        return slot is not None and any(
            ex.key(node) is not None
            and (pair := ex.member(node)) is not None
            and self.anatomy.facts.slots.of(pair[0]) == slot
            for node in reads
        )

    def _annotation_of_list(self, source: cst.BaseExpression) -> str:
        """The annotation of what a loop or comprehension takes a value from."""
        if isinstance(source, cst.Name):
            for loop in self.module.nodes_of(cst.For, cst.CompFor):
                if ex.target_names(loop.target) == [source.value] and self._is_around(loop, source):
                    return _annotation(self.module, loop.iter)
        return ""

    def _is_around(self, loop: cst.For | cst.CompFor, node: cst.CSTNode) -> bool:
        return self.module.inside(node, self.module.parent[loop] if isinstance(loop, cst.CompFor) else loop)

    def _display(self, starred: list[cst.BaseExpression]) -> _Edit | None:
        """`{**m}` becomes `deepcopy(m)`, and `{**m, "k": v}` becomes `{**deepcopy(m), "k": v}`."""
        node = self.copy.node
        if len(starred) != 1 or not isinstance(node, (cst.Dict, cst.List)):
            return None
        value = starred[0]
        if len(node.elements) == 1 and (isinstance(node, cst.Dict) or self._is_a("list", value)):
            return node, self._deep(value)
        return value, self._deep(value)

    def _element(self, node: cst.ListComp) -> _Edit | None:
        """`[m for m in h]` and `[dict(m) for m in h]` copy each message deeply."""
        element, name = node.elt, ex.target_names(node.for_in.target)[:1]
        if isinstance(element, cst.Call):
            inside = replace(self.copy, node=element, source=element)
            copies = ex.called_name(element) in {"copy", *_CONVERTERS}
            return _Deepening(self.anatomy, inside, self.deepcopy)._call(element) if copies else None
        if isinstance(element, cst.Name) and [element.value] == name:
            return element, self._deep(element)
        if isinstance(element, cst.Dict) and len(element.elements) == 1:
            [part] = element.elements
            return (element, self._deep(part.value)) if isinstance(part, cst.StarredDictElement) else None
        return None


def _bare(value: cst.BaseExpression) -> cst.BaseExpression:
    """An expression without the parentheses around it: those of the call suffice."""
    return value.with_changes(lpar=[], rpar=[]) if len(value.lpar) == 1 else value


def _takes_all(node: cst.Subscript) -> bool:
    """`h[:]`."""
    part = ex.slice_of(node)
    return part is not None and part.lower is None and part.upper is None and part.step is None


def _annotation(module: SourceModule, source: cst.BaseExpression) -> str:
    """The annotation of a parameter or variable, as written; "" for all else."""
    if not isinstance(source, cst.Name):
        return ""
    home = module.scope_binding(module.scope_of[source], source.value)
    for node in home.function.nodes if home is not None else ():
        if isinstance(node, (cst.Param, cst.AnnAssign)) and node.annotation is not None:
            named = node.name if isinstance(node, cst.Param) else node.target
            if isinstance(named, cst.Name) and named.value == source.value:
                return ex.source(_meaning(module, node.annotation.annotation))
    return ""


def _meaning(module: SourceModule, annotation: cst.BaseExpression) -> cst.BaseExpression:
    """What a name that a module gives to a type stands for: `Entry = dict[str, Any]`."""
    if isinstance(annotation, cst.Name):
        for line in module.tree.body:
            for node in line.body if isinstance(line, cst.SimpleStatementLine) else ():
                if isinstance(node, cst.Assign) and ex.target_names(node.targets[0].target) == [annotation.value]:
                    return node.value
    return annotation
