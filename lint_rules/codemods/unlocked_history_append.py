"""The codemod of AGL101."""

from __future__ import annotations

import libcst as cst

from lint_rules.codemods.repair import RepairCommand


class UnlockedHistoryAppendCommand(RepairCommand):
    DESCRIPTION = "AGL101: take the lock that guards a shared history elsewhere"

    def transform_module_impl(self, tree: cst.Module) -> cst.Module:
        return self.repaired(tree, "AGL101")
