"""The codemod of AGL703."""

from __future__ import annotations

import libcst as cst

from lint_rules.codemods.repair import RepairCommand


class NegativeZeroSliceCommand(RepairCommand):
    DESCRIPTION = "AGL703: count the messages that are kept from the front, so that none of them is none"

    def transform_module_impl(self, tree: cst.Module) -> cst.Module:
        return self.repaired(tree, "AGL703")
