"""The codemod of AGL407."""

from __future__ import annotations

import libcst as cst

from lint_rules.codemods.repair import RepairCommand


class LateBoundToolCallCommand(RepairCommand):
    DESCRIPTION = "AGL407: bind the call that a closure in a loop is made for"

    def transform_module_impl(self, tree: cst.Module) -> cst.Module:
        return self.repaired(tree, "AGL407")
