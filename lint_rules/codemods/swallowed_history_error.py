"""The codemod of AGL607."""

from __future__ import annotations

import libcst as cst

from lint_rules.codemods.repair import RepairCommand


class SwallowedHistoryErrorCommand(RepairCommand):
    DESCRIPTION = "AGL607: log an error of loading or storing a history with its traceback, and raise it again"

    def transform_module_impl(self, tree: cst.Module) -> cst.Module:
        return self.repaired(tree, "AGL607")
