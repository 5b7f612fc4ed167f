"""AGL402: the request asks for one call at a time, as the program expects.

Shown only: a loop over all calls is as right, and often better.
"""

from __future__ import annotations

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.rounds.offers import offers
from lint_rules.repairs.edits import Edits, Fix, of_the_file
from lint_rules.repairs.requests import ONE_CALL, with_words
from lint_rules.syntax.module import Scope


@of_the_file
def repair(anatomy: Anatomy, function: Scope) -> Fix | None:
    """For the requests with tools of the function that takes one call, else for all of the file; None if one cannot."""
    asked = [offer.request for offer in offers(anatomy) if not (offer.maybe or offer.carried)]
    here = [request for request in asked if anatomy.module.scope_of[request].function is function] or asked
    said = {request: with_words(anatomy.module, request, ONE_CALL) for request in here}
    new: dict[cst.CSTNode, cst.CSTNode] = {request: call for request, call in said.items() if call is not None}
    if not here or len(new) < len(here):
        return None
    return Fix("ask for one tool call at a time", "display", lambda: Edits(replaced=new))
