"""What the commands share: all fixes of one rule, safe or not, as whoever names a rule has asked for it."""

from __future__ import annotations

from abc import abstractmethod

import libcst as cst
from libcst.codemod import CodemodCommand

from lint_rules import files
from lint_rules.fix import fix_source
from lint_rules.options import Options, Wish


class RepairCommand(CodemodCommand):
    """Abstract, or `python -m libcst.tool list` would show it."""

    @abstractmethod
    def transform_module_impl(self, tree: cst.Module) -> cst.Module:
        """The file with the fixes of the command's rule."""

    def repaired(self, tree: cst.Module, code: str) -> cst.Module:
        """The file with the fixes of one rule. What could not be fixed after all becomes a warning."""
        path = self.context.filename or "<stdin>"
        fixed = fix_source(tree.bytes, path, Options(frozenset({code})), Wish(unsafe=True), neighbours=files.neighbours)
        for dropped in fixed.dropped:
            self.warn(f"{path}:{dropped.line}: {dropped.code} is not fixed: {dropped.reason}")
        return cst.parse_module(fixed.source) if fixed.applied else tree
