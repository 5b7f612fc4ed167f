"""The codemod of AGL409."""

from __future__ import annotations

import libcst as cst

from lint_rules.codemods.repair import RepairCommand


class ToolCallIdCollisionCommand(RepairCommand):
    DESCRIPTION = "AGL409: keep streamed tool calls apart"

    def transform_module_impl(self, tree: cst.Module) -> cst.Module:
        return self.repaired(tree, "AGL409")
