"""The module `looplint`: the way in for commands and plugins, which finds our `lint_rules` and no other.

`python -m` and PYTHONPATH put folders of the user's before those of installed packages, and one of them may hold a
`lint_rules` of its own. In the source this file lies in the package, installed it lies beside it (pyproject.toml).

    python -m looplint check
    python -m libcst.tool codemod -x looplint.codemods.shallow_message_copy.ShallowMessageCopyCommand PATH
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib import import_module
from types import ModuleType
from typing import Any

_PACKAGE = "lint_rules"


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit code."""
    from lint_rules import cli

    return cli.main(argv)


def __getattr__(name: str) -> Any:
    """The flake8 plugin, imported by flake8 only."""
    if name == "AgentLoopPlugin":
        from lint_rules.flake8_plugin import AgentLoopPlugin

        return AgentLoopPlugin
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def _package() -> ModuleType:
    """Our package, which is `lint_rules` from now on. Modules of another one can be imported if ours has none such."""
    package = sys.modules.get(_PACKAGE)
    if package is not None and any(map(_is_ours, package.__path__)):
        return package
    places = [os.path.join(entry, _PACKAGE) for entry in dict.fromkeys([os.path.dirname(__file__), *sys.path])]
    ours = next(filter(_is_ours, places), None)
    if ours is None:
        raise ImportError(f"looplint is installed without its package {_PACKAGE}")
    for name in [name for name in sys.modules if name.partition(".")[0] == _PACKAGE]:
        del sys.modules[name]
    sys.path.insert(0, os.path.dirname(ours))
    try:
        package = import_module(_PACKAGE)
    finally:
        del sys.path[0]
    package.__path__ += [place for place in places if os.path.isdir(place) and not _is_ours(place)]
    return package


def _is_ours(folder: str) -> bool:
    """Told by what no other package holds."""
    return os.path.isfile(os.path.join(folder, "anatomy", "vocabulary.py"))


__path__ = _package().__path__  # for `looplint.codemods`

if __name__ == "__main__":  # processes started by looplint import this module, too
    raise SystemExit(main())
