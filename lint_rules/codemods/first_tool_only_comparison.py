"""The codemod of AGL401."""

from __future__ import annotations

import libcst as cst

from lint_rules.codemods.repair import RepairCommand


class FirstToolOnlyComparisonCommand(RepairCommand):
    DESCRIPTION = "AGL401: compare all tool calls of two rounds, not their first ones only"

    def transform_module_impl(self, tree: cst.Module) -> cst.Module:
        return self.repaired(tree, "AGL401")
