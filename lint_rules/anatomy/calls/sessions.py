"""Conversations that somebody else keeps: a chat of an SDK."""

from __future__ import annotations

import libcst as cst

from lint_rules.anatomy import vocabulary as words
from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.values.kinds import Kind
from lint_rules.syntax import expressions as ex


def is_asked_in_session(anatomy: Anatomy, call: cst.Call) -> bool:
    """Whether a request goes on with a chat of an SDK."""
    base = ex.receiver(call)
    return ex.called_name(call) in words.SESSION_CALLS and base is not None and Kind.MODEL in anatomy.facts.kinds(base)
