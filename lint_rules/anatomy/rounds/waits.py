"""Calls that wait for a person or a message: each round of a loop with one of them is somebody's wish."""

from __future__ import annotations

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.rounds.exits import Loop
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.module import Scope

_WAITS = frozenset(
    {
        "input", "raw_input", "prompt", "Prompt", "prompt_async", "chat_input", "readline", "getline", "accept", "recv",
        "recv_json", "recv_multipart", "receive", "receive_text", "receive_json", "receive_bytes", "receive_message",
        "get_message", "wait_for_message", "next_message", "listen", "poll", "brpop", "blpop", "get_input",
        "get_user_input", "user_input", "read_input", "read_user_input", "wait_for_input", "multiline_input",
        "get_multiline_input",
    }
)  # fmt: skip


def wait_in(anatomy: Anatomy, node: Loop, function: Scope) -> cst.Call | None:
    """A call in a loop, or in a function of this file that it calls, that waits for somebody outside."""
    calls = anatomy.calls.calls_within(node, function)
    for call in calls:
        if _is_waiting(call):
            return call
    for call in calls:
        callee = anatomy.facts.slots.callee(call)
        if callee is not None and any(isinstance(n, cst.Call) and _is_waiting(n) for n in callee.nodes):
            return call
    return None


def _is_waiting(call: cst.Call) -> bool:
    name = ex.called_name(call)
    if name in _WAITS:
        return True
    owner = (ex.dotted(call.func) or "").lower().rpartition(".")[0]
    if name == "get" and not ex.positional(call):
        return True  # of a queue: a dict's takes a key
    if name in {"get", "get_nowait", "popleft", "pop"}:
        return "queue" in owner
    if name == "ask":
        return owner.rpartition(".")[2] in {"prompt", "confirm", "questionary"} or "questionary" in owner
    if name in {"read", "wait"}:
        return "stdin" in owner or "event" in owner
    return False
