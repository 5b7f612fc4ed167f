"""Code of tests, as pytest and unittest collect it: what happens there is what the test has written down itself.

Facts: pytest, "Conventions for Python test discovery" (functions with the prefix `test`); Python documentation,
`unittest` (methods with that prefix).
"""

from __future__ import annotations

import libcst as cst

from lint_rules.paths import is_test_file
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.module import Scope, SourceModule


def in_test(module: SourceModule, node: cst.CSTNode) -> bool:
    """Whether a place lies in a test, in a function or class within one, or in a helper beside the tests of a file."""
    if is_test_file(module.path) and any(scope.name.startswith("test") for scope in module.functions):
        return True
    scope: Scope | None = module.scope_of.get(node)
    while scope is not None:
        if scope.name.startswith("test") and _is_test(module, scope):
            return True
        scope = scope.parent
    return False


def _is_test(module: SourceModule, function: Scope) -> bool:
    """Whether a function of such a name asserts something, wherever it stands."""
    return any(
        isinstance(node, cst.Assert) or (isinstance(node, cst.Call) and ex.called_name(node).startswith("assert"))
        for node in function.nodes
    )
