"""What is wanted of a file: what to look for, and what to fix."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from lint_rules.anatomy.vocabulary import Vocabulary
from lint_rules.finding import Applicability, FixOffer
from lint_rules.limits import Limits

Neighbours = Callable[[str, str], "tuple[str, bytes] | None"]
"""(path of the importing file, module as written, e.g. `turn` or `..core.store`) -> (path, source), or None."""


class Options(NamedTuple):
    """What to look for in one file: codes of the enabled rules, the user's words, and what it may cost."""

    codes: frozenset[str]
    vocabulary: Vocabulary = Vocabulary()
    limits: Limits = Limits()


class Wish(NamedTuple):
    """Which fixes are wanted: how far they must be trusted, and the codes of the rules that may fix."""

    unsafe: bool = False
    codes: frozenset[str] | None = None
    """None for all."""
    display: bool = False
    """Those, too, that are only shown, for a person has to choose something. No option that fixes files wants them."""

    def takes(self, code: str, offer: FixOffer | None) -> bool:
        return offer is not None and self.fixes(code) and offer.applicability in self._applicable

    def fixes(self, code: str) -> bool:
        """Whether a rule may fix at all."""
        return self.codes is None or code in self.codes

    @property
    def _applicable(self) -> tuple[Applicability, ...]:
        wanted: dict[Applicability, bool] = {"safe": True, "unsafe": self.unsafe, "display": self.display}
        return tuple(applicability for applicability, is_wanted in wanted.items() if is_wanted)
