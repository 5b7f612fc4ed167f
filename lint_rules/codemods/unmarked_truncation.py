"""The codemod of AGL701."""

from __future__ import annotations

import libcst as cst

from lint_rules.codemods.repair import RepairCommand


class UnmarkedTruncationCommand(RepairCommand):
    DESCRIPTION = "AGL701: say how many characters are missing where a result is cut to its head"

    def transform_module_impl(self, tree: cst.Module) -> cst.Module:
        return self.repaired(tree, "AGL701")
