"""What the commands share: all fixes of one rule, of whatever kind, as whoever names a rule has asked for it."""

from __future__ import annotations

from abc import abstractmethod

import libcst as cst
from libcst.codemod import CodemodCommand, SkipFile

from lint_rules import files
from lint_rules.fix import fix_source
from lint_rules.options import Options, Wish


class RepairCommand(CodemodCommand):
    """Abstract, or `python -m libcst.tool list` would show it."""

    @abstractmethod
    def transform_module_impl(self, tree: cst.Module) -> cst.Module:
        """The file with the fixes of the command's rule."""

    def repaired(self, tree: cst.Module, code: str) -> cst.Module:
        """The file with the fixes of one rule. What could not be fixed after all becomes a warning.

        Raises SkipFile where nothing is fixed and the tree is not, as bytes, what the file holds: libcst's tool would
        write it. It takes the last line end from a file whose line ends are CR, or which has several kinds of them.
        """
        path = self.context.filename
        source = self._source(tree)
        wish = Wish(unsafe=True, display=True)
        fixed = fix_source(source, path or "<stdin>", Options(frozenset({code})), wish, neighbours=files.neighbours)
        for dropped in fixed.dropped:
            self.warn(f"{path}:{dropped.line}: {dropped.code} is not fixed: {dropped.reason}")
        if fixed.applied:
            return cst.parse_module(fixed.source)
        if tree.bytes != source:
            raise SkipFile(f"nothing is fixed for {code}")
        return tree

    def _source(self, tree: cst.Module) -> bytes:
        """The bytes of the file, as they are if it can be read."""
        try:
            return files.read(self.context.filename) if self.context.filename else tree.bytes
        except OSError:
            return tree.bytes
