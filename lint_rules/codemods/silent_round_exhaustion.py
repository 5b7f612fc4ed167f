"""The codemod of AGL303."""

from __future__ import annotations

import libcst as cst

from lint_rules.codemods.repair import RepairCommand


class SilentRoundExhaustionCommand(RepairCommand):
    DESCRIPTION = "AGL303: a loop that runs out of rounds raises"

    def transform_module_impl(self, tree: cst.Module) -> cst.Module:
        return self.repaired(tree, "AGL303")
