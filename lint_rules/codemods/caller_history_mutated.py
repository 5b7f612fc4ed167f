"""The codemod of AGL202."""

from __future__ import annotations

import libcst as cst

from lint_rules.codemods.repair import RepairCommand


class CallerHistoryMutatedCommand(RepairCommand):
    DESCRIPTION = "AGL202: functions that prepare a request work on a copy of the messages"

    def transform_module_impl(self, tree: cst.Module) -> cst.Module:
        return self.repaired(tree, "AGL202")
