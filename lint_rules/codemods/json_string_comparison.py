"""The codemod of AGL403."""

from __future__ import annotations

import libcst as cst

from lint_rules.codemods.repair import RepairCommand


class JsonStringComparisonCommand(RepairCommand):
    DESCRIPTION = "AGL403: sort the keys of tool arguments that are compared as text"

    def transform_module_impl(self, tree: cst.Module) -> cst.Module:
        return self.repaired(tree, "AGL403")
