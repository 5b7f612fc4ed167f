"""The codemod of AGL605."""

from __future__ import annotations

import libcst as cst

from lint_rules.codemods.repair import RepairCommand


class DoubleHistoryAppendCommand(RepairCommand):
    DESCRIPTION = "AGL605: store each message once, outside the loop over calls, pieces or attempts"

    def transform_module_impl(self, tree: cst.Module) -> cst.Module:
        return self.repaired(tree, "AGL605")
