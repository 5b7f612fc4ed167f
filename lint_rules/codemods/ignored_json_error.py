"""The codemod of AGL501."""

from __future__ import annotations

import libcst as cst

from lint_rules.codemods.repair import RepairCommand


class IgnoredJsonErrorCommand(RepairCommand):
    DESCRIPTION = "AGL501: answer a tool call whose arguments are no JSON with the error"

    def transform_module_impl(self, tree: cst.Module) -> cst.Module:
        return self.repaired(tree, "AGL501")
