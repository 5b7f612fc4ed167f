"""What imported names stand for: `import openai as o` makes `o.chat` mean `openai.chat`."""

from __future__ import annotations

from dataclasses import dataclass, field

import libcst as cst

from lint_rules.syntax.expressions import dotted
from lint_rules.syntax.names import resolved


@dataclass(slots=True)
class Imports:
    """Names bound by the imports of one file, wherever in the file they stand.

    `full` maps a bound name to what it means (`c` to `litellm.completion`); `origin` maps it to the module it
    came from as written, with leading dots, and the name there (None for a whole module). `whole` are the modules, as
    written, of which all names are imported: `from utils import *`.
    """

    full: dict[str, str] = field(default_factory=dict)
    origin: dict[str, tuple[str, str | None]] = field(default_factory=dict)
    whole: list[str] = field(default_factory=list)

    def add(self, node: cst.CSTNode) -> None:
        """Take note of an `import` or `from ... import` statement."""
        if isinstance(node, cst.Import):
            for alias in node.names:
                module = dotted(alias.name) or ""
                bound = _bound(alias) or module.split(".")[0]
                self.full[bound] = module if alias.asname else bound
                self.origin[bound] = (module, None)
        elif isinstance(node, cst.ImportFrom):
            module = (dotted(node.module) or "") if node.module else ""
            if isinstance(node.names, cst.ImportStar):
                self.whole.append("." * len(node.relative) + module)
                return
            for alias in node.names:
                name = dotted(alias.name) or ""
                bound = _bound(alias) or name
                self.full[bound] = f"{module}.{name}" if module else name
                self.origin[bound] = ("." * len(node.relative) + module, name)

    def whence(self, name: str) -> tuple[str, str] | None:
        """The module that `name` comes from, as written, and its name there: of `reply`, and of `engine.reply`."""
        head, _, rest = name.partition(".")
        module, there = self.origin.get(head, ("", None))
        if there is not None and rest:
            module, there = f"{module}{'' if module.endswith('.') else '.'}{there}", None
        elif rest and name.startswith(f"{module}."):
            rest = name[len(module) + 1 :]
        if there is None and module and rest and "." not in rest:
            there = rest
        return (module, there) if there is not None else None

    def resolve(self, name: str) -> str:
        """`name` (dotted) with its first part replaced by what was imported under it."""
        return resolved(name, self.full)


def _bound(alias: cst.ImportAlias) -> str | None:
    return alias.asname.name.value if alias.asname and isinstance(alias.asname.name, cst.Name) else None
