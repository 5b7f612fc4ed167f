"""How a rewrite changes the files of a program, and where it puts what it adds."""

from __future__ import annotations

import hashlib
import random
import re
from collections.abc import Callable
from pathlib import PurePosixPath

import libcst as cst
import libcst.helpers

from .project import Files, Node, Project, Source

Change = Callable[[Node], Node]
"""From a node, with the changes below it made already, to what takes its place."""


class Edits:
    """Changes to one file."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.changes: dict[Node, Change] = {}
        self.head: list[str] = []
        """Statements that go behind the imports."""

    def put(self, node: Node, change: Change) -> None:
        self.changes[node] = change

    def code(self) -> str:
        module = self.source.module.visit(_Apply(self.changes))
        if not self.head:
            return module.code
        place = 0
        for number, line in enumerate(module.body):
            if not (isinstance(line, cst.SimpleStatementLine) and all(isinstance(one, HEAD) for one in line.body)):
                break
            place = number + 1
        added = cst.parse_module("\n".join(self.head) + "\n").body
        return module.with_changes(body=[*module.body[:place], *added, *module.body[place:]]).code


HEAD = (cst.Import, cst.ImportFrom, cst.Expr)


class _Apply(cst.CSTTransformer):
    def __init__(self, changes: dict[Node, Change]) -> None:
        super().__init__()
        self._changes = changes

    def on_leave(self, original: Node, updated: Node) -> Node:
        return self._changes[original](updated) if original in self._changes else updated


class Lot:
    """What a rewrite of a program draws by its seed: forms, and names that nothing in the program has."""

    def __init__(self, files: Files, seed: int, rewrite: str) -> None:
        text = "".join(files[name] for name in sorted(files))
        self._random = random.Random(f"{seed} {rewrite} {hashlib.sha256(text.encode()).hexdigest()}")
        self._taken = set(re.findall(r"\w+", text))

    def either(self) -> bool:
        return self._random.random() < 0.5

    def among(self, *choices: str) -> str:
        return self._random.choice(choices)

    def number(self) -> int:
        """One that no other program beside this one will draw."""
        return self._random.randrange(10**6, 10**7)

    def name(self, *wishes: str) -> str:
        """One of the names, or one with a number."""
        free = [wish for wish in wishes if wish not in self._taken]
        found = self._random.choice(free) if free else f"{wishes[0]}_{self._random.randrange(1000, 9999)}"
        self._taken.add(found)
        return found


def module_beside(source: Source, lot: Lot) -> tuple[str, str]:
    """The path of a new file beside this one, and how this one imports it."""
    name = f"{lot.among('kit', 'pieces', 'base', 'common')}_{lot.number()}"
    return (PurePosixPath(source.path).parent / f"{name}.py").as_posix(), name


def importer(project: Project, source: Source, module: str) -> str:
    """`from module` as the file has to say it: relative in a package."""
    home = PurePosixPath(source.path).parent
    return f"from .{module}" if (home / "__init__.py").as_posix() in project.sources else f"from {module}"


def placed(
    project: Project, edits: dict[Source, Edits], definitions: str, names: list[str], elsewhere: bool, lot: Lot
) -> Files:
    """The files of the program after the edits; what is defined goes to the file that uses it most, or to a new one.

    `definitions` stands alone: it has its own imports at the top.
    """
    files = {path: source.module.code for path, source in project.sources.items()}
    main = max(edits.values(), key=lambda one: len(one.changes))
    if elsewhere or len(edits) > 1:
        path, module = module_beside(main.source, lot)
        files[path] = f'"""What the program is made of."""\n\n{definitions}'
        for one in edits.values():
            used = [name for name in names if re.search(rf"\b{name}\b", one.code())]
            one.head.append(f"{importer(project, one.source, module)} import {', '.join(used)}")
    else:
        main.head.append(definitions)
    files.update({one.source.path: one.code() for one in edits.values()})
    return files


def expression(text: str, **parts: cst.BaseExpression) -> cst.BaseExpression:
    """`expression("f({x})", x=node)`."""
    return cst.helpers.parse_template_expression(text, **parts)
