"""The codemod of AGL301."""

from __future__ import annotations

import libcst as cst

from lint_rules.codemods.repair import RepairCommand


class StaleHistorySnapshotCommand(RepairCommand):
    DESCRIPTION = "AGL301: take the copy of the history in each round, not before the loop"

    def transform_module_impl(self, tree: cst.Module) -> cst.Module:
        return self.repaired(tree, "AGL301")
