"""The codemod of AGL702."""

from __future__ import annotations

import libcst as cst

from lint_rules.codemods.repair import RepairCommand


class WindowAboveLimitCommand(RepairCommand):
    DESCRIPTION = "AGL702: no floor under what is left of a window, and none means none"

    def transform_module_impl(self, tree: cst.Module) -> cst.Module:
        return self.repaired(tree, "AGL702")
