"""The codemod of AGL603."""

from __future__ import annotations

import libcst as cst

from lint_rules.codemods.repair import RepairCommand


class DroppedToolCallsCommand(RepairCommand):
    DESCRIPTION = "AGL603: store the message with its tool calls, not its text alone"

    def transform_module_impl(self, tree: cst.Module) -> cst.Module:
        return self.repaired(tree, "AGL603")
