"""The codemod of AGL405."""

from __future__ import annotations

import libcst as cst

from lint_rules.codemods.repair import RepairCommand


class BrittleHistoryIndexCommand(RepairCommand):
    DESCRIPTION = "AGL405: look for the message with tool calls, not at a fixed place of the history"

    def transform_module_impl(self, tree: cst.Module) -> cst.Module:
        return self.repaired(tree, "AGL405")
