"""The codemod of AGL402."""

from __future__ import annotations

import libcst as cst

from lint_rules.codemods.repair import RepairCommand


class FirstToolOnlyExecutionCommand(RepairCommand):
    DESCRIPTION = "AGL402: ask for one tool call at a time, where one is run"

    def transform_module_impl(self, tree: cst.Module) -> cst.Module:
        return self.repaired(tree, "AGL402")
