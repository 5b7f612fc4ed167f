"""The parts of an agent that values can be, and the evidence for it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import field
from enum import Enum

import libcst as cst

from lint_rules.syntax import expressions as ex
from lint_rules.syntax.record import record


class Kind(Enum):
    """What a value is in the program of an agent. The value is how messages to people call it."""

    __hash__ = object.__hash__  # by identity, as they are equal: that of `Enum` is written in Python

    HISTORY = "message history"
    MESSAGE = "message"
    CALLS = "tool calls"
    CALL = "tool call"
    FUNCTION = "function of a tool call"
    ARGUMENTS_TEXT = "model-written JSON"
    ARGUMENTS = "tool arguments"
    RESULT = "tool result"
    REPLY = "model reply"
    MODEL_TEXT = "model-written text"
    MODEL = "model client"
    CALLED_HISTORY = "list of dicts that is called messages"
    CALLED_MESSAGE = "element of a list that is called messages"


TOLD = frozenset(
    {
        Kind.HISTORY, Kind.MESSAGE, Kind.CALLS, Kind.CALL, Kind.ARGUMENTS_TEXT, Kind.ARGUMENTS, Kind.REPLY,
        Kind.MODEL_TEXT, Kind.MODEL,
    }
)  # fmt: skip
"""What a value is for whoever gets it, too."""


@record
class Evidence:
    """Why a value is of a kind: `reason` reads after the name of the value ("is sent as `messages=`").

    `used` tells a fact learned from how the value is used (sent, appended to, read as a message) from one that
    merely flowed in. Only the former may be carried backwards, to where the value came from: a helper that once
    gets a history does not make histories of all its other arguments. `since` is the fact this one rests on.
    """

    reason: str
    node: cst.CSTNode
    used: bool = False
    since: Evidence | None = None

    def chain(self) -> Iterator[Evidence]:
        """This fact, then what it rests on, down to the syntax itself."""
        here: Evidence | None = self
        while here is not None:
            yield here
            here = here.since

    @property
    def clause(self) -> str:
        """The reason as a clause: "it is sent as `messages=`", "its `tool_calls` is read", "it comes from `found`"."""
        reason = self.reason
        if reason.endswith((" from", " of")):
            reason += f" `{ex.source(self.node, 40)}`"
        return reason if reason.startswith("its ") else f"it {reason}"

    @property
    def root(self) -> Evidence:
        """The fact at the bottom: the place in the code that shows it."""
        *_, last = self.chain()
        return last


@record
class LLMCall:
    """A call that asks a model. `history` is the argument that is sent, `keyword` how it is passed, if known.

    `body` is what it posts, by the keys.
    `gives` says what comes of it: the reply, or only its text or calls; `texts` under which names its text lies there,
    beside those of the providers.
    """

    node: cst.Call
    name: str
    reason: str
    keyword: str | None = None
    history: cst.BaseExpression | None = None
    gives: frozenset[Kind] = frozenset({Kind.REPLY})
    texts: frozenset[str] = frozenset()
    body: Mapping[str, cst.BaseExpression] = field(default_factory=dict)


Kinds = Mapping[Kind, Evidence]
"""What a value is. Never changed once it was given: whoever goes through it may learn more meanwhile."""

ELEMENT = {Kind.HISTORY: Kind.MESSAGE, Kind.CALLS: Kind.CALL, Kind.CALLED_HISTORY: Kind.CALLED_MESSAGE}
CONTAINER = {element: container for container, element in ELEMENT.items()}
