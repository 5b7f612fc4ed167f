"""The codemod of AGL103."""

from __future__ import annotations

import libcst as cst

from lint_rules.codemods.repair import RepairCommand


class CrossSessionHistoryCommand(RepairCommand):
    DESCRIPTION = "AGL103: make mutable defaults in the body, and lists of a class in `__init__`"

    def transform_module_impl(self, tree: cst.Module) -> cst.Module:
        return self.repaired(tree, "AGL103")
