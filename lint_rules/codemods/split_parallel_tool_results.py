"""The codemod of AGL613."""

from __future__ import annotations

import libcst as cst

from lint_rules.codemods.repair import RepairCommand


class SplitParallelToolResultsCommand(RepairCommand):
    DESCRIPTION = "AGL613: store the tool results of a round in one message"

    def transform_module_impl(self, tree: cst.Module) -> cst.Module:
        return self.repaired(tree, "AGL613")
