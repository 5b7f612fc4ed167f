"""AGL410: the request whose reply is read for its text only says that no tool is to be called.

Shown only: going round again, as the request before it may do, is as right.
"""

from __future__ import annotations

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.rounds.offers import Offer
from lint_rules.repairs.edits import Edits, Fix, of_the_file
from lint_rules.repairs.requests import NO_CALL, with_words


@of_the_file
def repair(anatomy: Anatomy, offer: Offer) -> Fix | None:
    """None for the request of a function that others ask, too, and for requests that are put together elsewhere."""
    request = offer.request
    new = with_words(anatomy.module, request, NO_CALL) if offer.call is request else None
    return Fix("let this reply call no tool", "display", lambda: Edits(replaced={request: new})) if new else None
