"""# unenforced-limit (AGL904)

## What it does
Reports a limit on rounds, calls, time or cost (`max_rounds`, `step_limit`, `cost_budget`) that an agent takes or keeps,
and that nothing compares with anything or passes on.

## Why is this bad
Whoever sets the limit believes that it holds. The loop runs as if it were not there. Opt-in, for the limit may be read
in a file that is not looked at.

## Symptoms
- a run goes on beyond its limit
- a run costs more than its budget

## Example
```python
def run(client, messages, tools, execute, max_rounds=20):
    for _ in range(50):
        message = client.chat.completions.create(model="gpt-5", messages=messages, tools=tools).choices[0].message
        messages.append(message)
        if not message.tool_calls:
            return message.content
        messages.extend(execute(call) for call in message.tool_calls)
    raise RuntimeError("too many rounds")
```

## Use instead
```python
def run(client, messages, tools, execute, max_rounds=20):
    for _ in range(max_rounds):
        message = client.chat.completions.create(model="gpt-5", messages=messages, tools=tools).choices[0].message
        messages.append(message)
        if not message.tool_calls:
            return message.content
        messages.extend(execute(call) for call in message.tool_calls)
    raise RuntimeError("too many rounds")
```

## How it decides
A limit is known by its name. Reported is a parameter of a function that holds a loop of rounds, an attribute of a class
with such a method (or one that asks a model), and a constant of a module with such a loop, when it is never read, or
read only to be logged, or put into a field, which nothing reads, of a record of which only parts are used. Silent are
classes with base classes of other files, functions that hand on all they have (`locals()`, `vars(self)`), and names
that are listed as text, in `__all__` or for `getattr`.

## Known problems
A limit that another file reads from the object is reported.

## Fix safety
There is no fix: where the limit belongs is for the author to say.

## References
- AGL302 (unbounded-rounds), for loops without a limit
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.messages.classes import made_class
from lint_rules.anatomy.program import handlers
from lint_rules.rules.draft import Draft
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.module import Scope, SourceModule, decorators, fields, parameters

_LIMIT = re.compile(
    r"^_*max(imum)?_(\w+_)?(iterations?|iters?|rounds?|turns?|steps?|loops?|cycles?|calls?|cost|spend|budget|duration"
    r"|runtime|depth|attempts|hops|replans|usd)$"
    r"|^_*(\w+_)?(round|step|turn|iteration|call|cost|time)_(limit|budget)$|^_*budget(_usd)?$",
    re.IGNORECASE,
)
_ALL = frozenset({"__dict__", "locals", "vars", "asdict"})
_HELP = "compare it in the loop, or leave it out"


def check(anatomy: Anatomy) -> Iterator[Draft]:
    rounds = {loop.function for loop in anatomy.rounds}
    if not any(anatomy.calls.llm_calls.values()):
        return
    reads = _Reads(anatomy)
    for function in rounds:
        yield from _parameters(function, reads)
    for cls in anatomy.module.classes:
        if _is_agent(anatomy, cls):
            yield from _attributes(anatomy, cls, reads)
    if rounds:
        yield from _constants(anatomy, reads)


class _Reads:
    """What of a file is read, by name; what is only logged is not. Only looked for where there is a limit."""

    def __init__(self, anatomy: Anatomy) -> None:
        self._anatomy = anatomy
        self._module = anatomy.module

    def as_name(self, name: str) -> bool:
        return any(node.value == name and self._counts(node) for node in self._module.nodes_of(cst.Name))

    def as_attribute(self, name: str) -> bool:
        return any(node.attr.value == name and self._counts(node) for node in self._module.nodes_of(cst.Attribute))

    def as_text(self, name: str) -> bool:
        return any(ex.text(node) == name for node in self._module.nodes_of(cst.SimpleString))

    def _counts(self, node: cst.Name | cst.Attribute) -> bool:
        parent = self._module.parent[node]
        if not _is_read(parent, node) or handlers.shown_only(self._module, node):
            return False
        return not (isinstance(parent, cst.Arg) and self._is_only_kept(parent))

    def _is_only_kept(self, arg: cst.Arg) -> bool:
        """Whether an argument becomes a field, which nobody reads, of a record that nobody gets: `State(max_calls)`."""
        call = self._module.parent[arg]
        found = made_class(self._anatomy, call) if isinstance(call, cst.Call) else None
        if found is None or not isinstance(call, cst.Call) or "__init__" in found[1].methods:
            return False
        there, names = found[0].module, fields(found[1])
        place = [other for other in call.args if other.keyword is None].index(arg) if arg.keyword is None else -1
        field = arg.keyword.value if arg.keyword is not None else names[place] if place < len(names) else ""
        return (
            field in names
            and self._stays(call)
            and not any(
                _is_read(file.parent[node], node) and not _is_given(file, node, call)
                for file in {there, self._module}
                for node in file.nodes_of(cst.Attribute)
                if node.attr.value == field
            )
        )

    def _stays(self, call: cst.Call) -> bool:
        """Whether an object is bound to a name or attribute of which only parts are used."""
        bound = self._module.parent[call]
        slots = self._anatomy.facts.slots
        places = (
            {slots.of(target) for target in ex.targets(bound)}
            if isinstance(bound, cst.Assign | cst.AnnAssign)
            else set()
        )
        if not places or None in places:
            return False
        return not any(
            slots.of(node) in places
            and _is_read(self._module.parent[node], node)
            and not isinstance(self._module.parent[node], cst.Attribute)
            for node in self._module.nodes_of(cst.Name, cst.Attribute)
        )

    @cached_property
    def all_of(self) -> set[Scope]:
        """The functions that hand on all their names, or all attributes of an object."""
        nodes: list[cst.CSTNode] = [n for n in self._module.nodes_of(cst.Name) if n.value in _ALL]
        nodes += [n for n in self._module.nodes_of(cst.Attribute) if n.attr.value in _ALL]
        return {self._module.scope_of[node].function for node in nodes}


def _is_given(module: SourceModule, node: cst.CSTNode, call: cst.Call) -> bool:
    """Whether a value goes into an object such as `call` makes."""
    arg = module.parent[node]
    outer = module.parent[arg]
    return isinstance(arg, cst.Arg) and isinstance(outer, cst.Call) and ex.dotted(outer.func) == ex.dotted(call.func)


def _is_read(parent: cst.CSTNode, node: cst.CSTNode) -> bool:
    """Not a target, the name of a parameter or keyword, or the last part of an attribute, which counts by itself."""
    if isinstance(parent, (cst.AssignTarget, cst.AnnAssign, cst.AugAssign)):
        return parent.target is not node
    if isinstance(parent, cst.Attribute):
        return parent.attr is not node
    if isinstance(parent, cst.Arg):
        return parent.keyword is not node
    return not (isinstance(parent, cst.Param) and parent.name is node)


def _parameters(function: Scope, reads: _Reads) -> Iterator[Draft]:
    for param in parameters(function) if not decorators(function) else ():
        name = param.name.value
        if _LIMIT.match(name) and not (function in reads.all_of or reads.as_name(name) or reads.as_text(name)):
            yield _draft(param, name, "taken")


def _is_agent(anatomy: Anatomy, cls: Scope) -> bool:
    """Whether a class asks a model, and stands in this file with all its bases."""
    node = cls.node
    bases = len(node.bases) if isinstance(node, cst.ClassDef) else 0
    if bases > len(anatomy.module.base_classes(cls)):
        return False
    return any(anatomy.calls.reaches_llm(method) for method in cls.methods.values())


def _attributes(anatomy: Anatomy, cls: Scope, reads: _Reads) -> Iterator[Draft]:
    """Those that the objects of a class keep, where no method hands all of them on."""
    seen: set[str] = set()
    for method in cls.methods.values():
        own = anatomy.module.self_name(method)
        for node in method.nodes_of(cst.Assign, cst.AnnAssign):
            target = node.targets[0].target if isinstance(node, cst.Assign) else node.target
            if not isinstance(target, cst.Attribute):
                continue
            name = target.attr.value
            if not (_LIMIT.match(name) and isinstance(target.value, cst.Name) and target.value.value == own):
                continue
            if name not in seen and not (reads.as_attribute(name) or reads.as_text(name)):
                seen.add(name)
                if not reads.all_of.isdisjoint(cls.methods.values()):
                    return
                yield _draft(node, f"self.{name}", "kept")


def _constants(anatomy: Anatomy, reads: _Reads) -> Iterator[Draft]:
    for node in anatomy.module.top.nodes:
        if isinstance(node, cst.Assign) and isinstance(node.targets[0].target, cst.Name):
            name = node.targets[0].target.value
            if name.isupper() and _LIMIT.match(name):
                read = reads.as_name(name) or reads.as_attribute(name) or reads.as_text(name)
                if not read and (ex.integer(node.value) is not None or isinstance(node.value, cst.Float)):
                    yield _draft(node, name, "set")


def _draft(node: cst.CSTNode, name: str, how: str) -> Draft:
    message = (
        f"`{name}` is {how} as a limit, and nothing compares it: whoever sets it believes that the rounds end"
        " there, and they do not"
    )
    return Draft(node, message, _HELP)
