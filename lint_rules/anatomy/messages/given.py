"""Messages that a function got from its caller, and what it does to them: whose they are, and who knows of it."""

from __future__ import annotations

import re
from typing import Literal

import libcst as cst

from lint_rules.anatomy.values.kinds import Evidence, Kind
from lint_rules.anatomy.values.sharing import SharedStore
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.module import Scope, decorators
from lint_rules.syntax.record import record

Level = Literal["list", "message"]
"""What is edited: the list itself, or a message (an element, or the one that was passed)."""


@record
class Given:
    """Edits of the history or message that `function` gets as `param`."""

    function: Scope
    param: cst.Param
    kind: Kind
    evidence: Evidence
    level: Level
    stores: list[SharedStore]


_IN_PLACE = re.compile(
    r"^_*(append|add|set|update|insert|push|put|remove|delete|del|clear|reset|trim|prune|truncate|shrink|cut|drop|crop"
    r"|inject|mark|tag|strip|sanitize|repair|fix|patch|edit|apply|enforce|ensure|extend|replace|prepend|compact|compress"
    r"|mutate|rewrite|redact|mask|attach|record|store|save|log|evict|rotate|merge|move_to|swap|undo|pop|restore|cap|limit"
    r"|enrich|annotate|decorate|augment|hydrate|migrate|finali[sz]e|fill|populate|assign|change|modify"
    r"|adjust|clean|discard|filter|dedup|expand|refresh|collapse|drain|revert|rollback|normali[sz]e)(_|$|[A-Z])"
)
_SHRINKS = re.compile(r"(^|_)(compact|compress|trim|prune|truncate|shrink|snip|redact|mask|sanitize|evict)(_|$)")
"""Words that say so wherever they stand in a name: `micro_compact`."""
_SAYS_SO = re.compile(r"in[- ]?place|mutat|modif(y|ies)|updates? the|caller'?s|append(s|ed)? to|side effect", re.I)


def says_so(function: Scope) -> bool:
    """Whether a function's name or docstring says that it edits what it gets."""
    node = function.node
    if not isinstance(node, cst.FunctionDef) or _IN_PLACE.match(function.name) or _SHRINKS.search(function.name):
        return True
    if any((ex.dotted(d) or "").endswith("setter") for d in decorators(function)):
        return True
    return _SAYS_SO.search(docstring(function)) is not None


def docstring(function: Scope) -> str:
    """What a function says of itself; empty if nothing."""
    return (function.node.get_docstring() or "") if isinstance(function.node, cst.FunctionDef) else ""
