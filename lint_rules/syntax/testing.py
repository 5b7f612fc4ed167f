"""Code of tests, as pytest and unittest collect it: what happens there is what the test has written down itself.

Facts: pytest, "Conventions for Python test discovery" (`test_*.py`, `*_test.py`, functions with the prefix `test`);
Python documentation, `unittest` (methods with that prefix).
"""

from __future__ import annotations

from fnmatch import fnmatch
from pathlib import PurePath

import libcst as cst

from lint_rules.syntax import expressions as ex
from lint_rules.syntax.module import Scope, SourceModule

_FILES = ("test_*.py", "*_test.py")


def in_test(module: SourceModule, node: cst.CSTNode) -> bool:
    """Whether a place lies in a test, or in a function or class within one."""
    scope: Scope | None = module.scope_of.get(node)
    while scope is not None:
        if scope.name.startswith("test") and _is_test(module, scope):
            return True
        scope = scope.parent
    return False


def _is_test(module: SourceModule, function: Scope) -> bool:
    """Whether a function of such a name is collected with its file, or asserts something."""
    if any(fnmatch(PurePath(module.path).name, pattern) for pattern in _FILES):
        return True
    return any(
        isinstance(node, cst.Assert) or (isinstance(node, cst.Call) and ex.called_name(node).startswith("assert"))
        for node in function.nodes
    )
