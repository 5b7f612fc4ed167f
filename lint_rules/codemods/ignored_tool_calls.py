"""The codemod of AGL410."""

from __future__ import annotations

import libcst as cst

from lint_rules.codemods.repair import RepairCommand


class IgnoredToolCallsCommand(RepairCommand):
    DESCRIPTION = "AGL410: let a reply call no tool, where its text alone is read"

    def transform_module_impl(self, tree: cst.Module) -> cst.Module:
        return self.repaired(tree, "AGL410")
