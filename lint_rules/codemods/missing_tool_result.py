"""The codemod of AGL601."""

from __future__ import annotations

import libcst as cst

from lint_rules.codemods.repair import RepairCommand


class MissingToolResultCommand(RepairCommand):
    DESCRIPTION = "AGL601: answer a tool call that a loop passes over"

    def transform_module_impl(self, tree: cst.Module) -> cst.Module:
        return self.repaired(tree, "AGL601")
