"""The codemod of AGL404."""

from __future__ import annotations

import libcst as cst

from lint_rules.codemods.repair import RepairCommand


class SignatureWithoutValuesCommand(RepairCommand):
    DESCRIPTION = "AGL404: put the values of the arguments into keys that hold their names only"

    def transform_module_impl(self, tree: cst.Module) -> cst.Module:
        return self.repaired(tree, "AGL404")
