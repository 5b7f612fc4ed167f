"""Webs: a name that is bound anew stands for something else from there on, and gets a name of its own.

As compilers do before they keep facts by name (Muchnick: Advanced Compiler Design, section 16.3.3): the definitions
that may reach one use are one web. Only names that one function alone sees: none that a nested one reads, that is
`global`, or that is declared with a type. What an object is handed to as, and what a module has in the end, is called
as before.

Which definitions reach a place is told from the structure, in one walk. It errs on the side of too many, and so of
fewer webs: what a loop binds may hold at its head, and what a `try` binds in its handlers.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from lint_rules.syntax.below import BELOW, walk
from lint_rules.syntax.normal.names import SCOPES, Names, Scope
from lint_rules.syntax.word import printed_as

_SCOPES = frozenset(SCOPES)
_COMPREHENSIONS = frozenset({ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp})
_NAMING: dict[type, str] = {
    ast.Name: "id",
    ast.arg: "arg",
    ast.ExceptHandler: "name",
    ast.MatchAs: "name",
    ast.MatchStar: "name",
    ast.MatchMapping: "rest",
}
"""What binds names, and in which field."""

State = int
"""Definitions that may reach a place, one bit for each."""


def split(scope: Scope) -> bool:
    """Gives each web of a scope its own name; whether any name was several."""
    names = scope.names
    several = {name for name, times in names.stored.items() if times > 1} - names.foreign - {"_"}
    if not several:
        return False
    own = [*_own([scope.node.body, getattr(scope.node, "args", None)])]
    several -= _kept(own)
    return bool(several) and _Webs(scope.node, names, several, own).renamed()


def _kept(own: Iterable[Any]) -> set[str]:
    """Names of a scope that others see, that are declared, or that stand for what has its name from elsewhere."""
    kept: set[str] = set()
    for node in own:
        kind = type(node)
        if kind is ast.AnnAssign:
            kept.add(getattr(node.target, "id", ""))
        elif kind is ast.arg:
            kept.update([node.arg] if node.annotation is not None else [])
        elif kind is ast.alias:
            kept.add((node.asname or node.name).partition(".")[0])
        elif kind in _SCOPES:
            kept.add(getattr(node, "name", ""))
            kept |= _free(node)
    return kept


def _free(nested: Any) -> set[str]:
    """The names that a nested function or class takes from around it."""
    if type(nested) is ast.ClassDef:
        return {node.id for node in walk(nested) if type(node) is ast.Name}
    if type(nested) is ast.Lambda:
        own = {arg.arg for arg in walk(nested.args) if type(arg) is ast.arg}
        return {node.id for node in walk(nested.body) if type(node) is ast.Name} - own
    inner = Names(nested)
    return {*inner.loaded, *inner.captured} - (inner.stored.keys() - inner.foreign) | inner.foreign


def _own(nodes: Iterable[Any]) -> Iterator[Any]:
    """Nodes, and lists of them, with those below, but of functions and classes only what runs where they stand."""
    stack = list(nodes)
    while stack:
        node = stack.pop()
        if type(node) is list:
            stack += node
        elif node is not None:
            yield node
            kind = type(node)
            if kind not in _SCOPES:
                stack += [getattr(node, field, None) for field in BELOW[kind]]
            elif kind is not ast.ClassDef:  # the names in a class are kept
                stack += [*node.args.defaults, *node.args.kw_defaults, *getattr(node, "decorator_list", ())]


def _of_comprehensions(own: Iterable[Any]) -> Iterator[int]:
    """The names that stand for what a comprehension goes through, by identity."""
    for node in own:
        if type(node) in _COMPREHENSIONS:
            targets = [name for part in node.generators for name in walk(part.target) if type(name) is ast.Name]
            bound = {name.id for name in targets if type(name.ctx) is ast.Store}
            outside = {id(name) for name in walk(node.generators[0].iter)}
            inside = (name for name in walk(node) if type(name) is ast.Name and name.id in bound)
            yield from (id(name) for name in inside if id(name) not in outside)


def _read_whole(value: ast.expr) -> set[str]:
    """The names of which not only a part is read."""
    parts = {id(node.value) for node in walk(value) if type(node) is ast.Attribute or _is_element(node)}
    return {node.id for node in walk(value) if type(node) is ast.Name and id(node) not in parts}


def _is_element(node: Any) -> bool:
    return type(node) is ast.Subscript and type(node.slice) is not ast.Slice


class _Webs:
    """The definitions of some names of a scope, each with a number, and which of them are of one web."""

    def __init__(self, scope: Any, names: Names, several: set[str], own: Iterable[Any]) -> None:
        self._scope = scope
        self._names = names
        self._theirs = set(_of_comprehensions(own))
        self._numbers: dict[int, int] = {}
        """By the identity of the node that binds."""
        self._places: list[list[tuple[Any, str]]] = []
        """Of each definition, the nodes, with the field, in which its name stands, also where it is read."""
        self._all: dict[str, State] = dict.fromkeys(several, 0)
        self._parents: list[int] = []
        self._webs: dict[int, State] = {}
        """The definitions of each web, by the one that has no parent."""

    def renamed(self) -> bool:
        args = getattr(self._scope, "args", None)
        given = self._bound(args)
        last = self._block(self._scope.body, given)
        seen = last if self._names.is_module else given
        for definitions in self._all.values():
            self._unite(seen & definitions)
        return self._renamed(seen)

    # -- definitions --------------------------------------------------------------------------------------------------

    def _definition(self, node: Any, field: str) -> State:
        number = self._numbers.setdefault(id(node), len(self._places))
        if number == len(self._places):
            self._places.append([(node, field)])
            self._parents.append(number)
            self._webs[number] = 1 << number
            self._all[getattr(node, field)] |= 1 << number
        return 1 << number

    def _binds(self, node: Any) -> bool:
        field = _NAMING.get(type(node))
        if field is None or getattr(node, field) not in self._all or id(node) in self._theirs:
            return False
        return type(node) is not ast.Name or type(node.ctx) is ast.Store

    def _bound(self, *nodes: Any) -> State:
        """The definitions in some nodes."""
        found = 0
        for node in _own(nodes):
            if self._binds(node):
                found |= self._definition(node, _NAMING[type(node)])
        return found

    def _use(self, node: ast.Name, state: State) -> None:
        """The definitions that one name may stand for are one web."""
        found = state & self._all[node.id]
        if found:
            self._unite(found)
            self._places[_lowest(found)].append((node, "id"))

    def _unite(self, definitions: State) -> None:
        first = self._root(_lowest(definitions)) if definitions else 0
        while rest := definitions & ~self._webs.get(first, -1):
            other = self._root(_lowest(rest))
            self._parents[other] = first
            self._webs[first] |= self._webs.pop(other)

    def _root(self, number: int) -> int:
        while (parent := self._parents[number]) != number:
            self._parents[number] = number = self._parents[parent]
        return number

    def _renamed(self, seen: State) -> bool:
        """Gives webs their names: the one that is seen outside keeps it, or else the first."""
        listed = {name: [web for web in self._webs.values() if web & mask] for name, mask in self._all.items()}
        taken: set[str] = set()
        for name, webs in listed.items():
            webs.sort(key=lambda web: (not web & seen, min(map(_place, self._standing(web)))))
            for web in webs[1:]:
                free = self._names.free(name, taken)
                taken.add(free)
                for node, field in self._standing(web):
                    setattr(node, field, printed_as(free, getattr(node, field)))
        return bool(taken)

    def _standing(self, web: State) -> Iterator[tuple[Any, str]]:
        while web:
            number = _lowest(web)
            web &= web - 1
            yield from self._places[number]

    # -- what reaches a place -----------------------------------------------------------------------------------------

    def _block(self, block: list[Any], state: State) -> State:
        for line in block:
            step = _LINES.get(type(line))
            state = step(self, line, state) if step is not None else self._evaluated(state, line)
        return state

    def _evaluated(self, state: State, *nodes: Any) -> State:
        """What holds behind expressions and what they are bound to: first all is read, then bound.

        What a walrus binds may be read beside it, or not be bound at all.
        """
        reads, binds, walruses = list[Any](), list[Any](), set[int]()
        for node in _own(nodes):
            if type(node) is ast.NamedExpr:
                walruses.add(id(node.target))
            elif self._binds(node):
                binds.append(node)
            elif type(node) is ast.Name and node.id in self._all and id(node) not in self._theirs:
                reads.append(node)
        if walruses:
            state |= self._bound(*[node for node in binds if id(node) in walruses])
        for node in reads:
            self._use(node, state)
        for node in binds:
            if id(node) not in walruses:
                state = self._bind(node, state)
        return state

    def _bind(self, node: Any, state: State) -> State:
        field = _NAMING[type(node)]
        return state & ~self._all[getattr(node, field)] | self._definition(node, field)

    def _set(self, line: Any, state: State) -> State:
        """`x += y` goes on with what `x` was, and so do `x = x[:9]` and `x = f(x)`, unlike `x = x.y`."""
        before, after = state, self._evaluated(state, line)
        whole = _read_whole(line.value)
        for target in line.targets if type(line) is ast.Assign else [line.target]:
            name = getattr(target, "id", "")
            if name in self._all and (name in whole or type(line) is ast.AugAssign):
                self._unite(before & self._all[name] | self._bound(target))
        return after

    def _if(self, line: Any, state: State) -> State:
        after = 0
        while True:
            state = self._evaluated(state, line.test)
            after |= self._block(line.body, state)
            if len(line.orelse) != 1 or type(line.orelse[0]) is not ast.If:
                return after | self._block(line.orelse, state)
            line = line.orelse[0]

    def _while(self, line: Any, state: State) -> State:
        head = self._evaluated(state | self._bound(line), line.test)
        self._block(line.body, head)
        return head | self._block(line.orelse, head)  # a `break` passes by the `else`

    def _for(self, line: Any, state: State) -> State:
        head = self._evaluated(state, line.iter) | self._bound(line)
        self._block(line.body, self._evaluated(head, line.target))
        return head | self._block(line.orelse, head)

    def _with(self, line: Any, state: State) -> State:
        for item in line.items:
            state = self._evaluated(state, item.context_expr)
            state = self._evaluated(state, item.optional_vars)
        return self._block(line.body, state)

    def _try(self, line: Any, state: State) -> State:
        failed = state | self._bound(line.body)
        after = self._block(line.orelse, self._block(line.body, state))
        for handler in line.handlers:
            caught = self._evaluated(failed, handler.type)
            if self._binds(handler):
                caught = self._bind(handler, caught)
            after |= self._block(handler.body, caught)
        last = self._block(line.finalbody, after | state | self._bound(line.body, line.handlers, line.orelse))
        return last if self._bound(line.finalbody) else after

    def _match(self, line: Any, state: State) -> State:
        state = after = self._evaluated(state, line.subject)
        for case in line.cases:
            inside = self._evaluated(state, case.pattern)
            after |= self._block(case.body, self._evaluated(inside, case.guard))
        return after

    def _leave(self, line: Any, state: State) -> State:
        self._evaluated(state, line)
        return 0


def _place(standing: tuple[Any, str]) -> tuple[int, int]:
    return standing[0].lineno, standing[0].col_offset


def _lowest(definitions: State) -> int:
    return (definitions & -definitions).bit_length() - 1


_LINES: dict[type, Callable[[_Webs, Any, State], State]] = {
    ast.Assign: _Webs._set,
    ast.AugAssign: _Webs._set,
    ast.If: _Webs._if,
    ast.While: _Webs._while,
    ast.For: _Webs._for,
    ast.AsyncFor: _Webs._for,
    ast.With: _Webs._with,
    ast.AsyncWith: _Webs._with,
    ast.Match: _Webs._match,
    **{kind: _Webs._try for kind in vars(ast).values() if getattr(kind, "__name__", "") in {"Try", "TryStar"}},
    **dict.fromkeys((ast.Return, ast.Raise, ast.Break, ast.Continue), _Webs._leave),
}
