"""The codemod of AGL201."""

from __future__ import annotations

import libcst as cst

from lint_rules.codemods.repair import RepairCommand


class ShallowMessageCopyCommand(RepairCommand):
    DESCRIPTION = "AGL201: copy messages deeply before their nested parts are changed"

    def transform_module_impl(self, tree: cst.Module) -> cst.Module:
        return self.repaired(tree, "AGL201")
