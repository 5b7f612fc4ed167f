"""The codemod of AGL604."""

from __future__ import annotations

import libcst as cst

from lint_rules.codemods.repair import RepairCommand


class EmptyToolCallsFieldCommand(RepairCommand):
    DESCRIPTION = "AGL604: set tool_calls only on messages that have calls"

    def transform_module_impl(self, tree: cst.Module) -> cst.Module:
        return self.repaired(tree, "AGL604")
