"""The codemod of AGL302."""

from __future__ import annotations

import libcst as cst

from lint_rules.codemods.repair import RepairCommand


class UnboundedRoundsCommand(RepairCommand):
    DESCRIPTION = "AGL302: limit the rounds by a constant; adapt its number"

    def transform_module_impl(self, tree: cst.Module) -> cst.Module:
        return self.repaired(tree, "AGL302")
