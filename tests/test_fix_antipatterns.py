"""Repairs that look obvious and are wrong. What ours make of the same code is run here, or is no repair at all.

Most of them were made in real programs, by people: the program looked right afterwards, and the bug was still there.
"""

from __future__ import annotations

import copy
from pathlib import Path
from types import SimpleNamespace as Some
from typing import Any

import pytest
from test_fix import FIXTURES, fixed

from lint_rules import check
from lint_rules.options import Wish

Message = dict[str, Any]
BAD = sorted(path for path in FIXTURES.glob("*/bad_*.py") if not path.name.endswith(".fixed.py"))


def repaired(source: str, *codes: str) -> dict[str, Any]:
    """What the repaired program defines. There must have been something to repair."""
    result = fixed(source, options=check.Options(frozenset(codes)))
    assert result.applied, result.report.findings
    assert not result.report.findings
    names: dict[str, Any] = {}
    exec(compile(result.source, "agent.py", "exec"), names)
    return names


def offers(source: str, code: str) -> list[bool]:
    found = check.check_source(source.encode(), "agent.py", check.Options(frozenset({code}))).findings
    return [finding.fix is not None for finding in found]


class Client:
    """A model that says what it is told to, and keeps what it was asked."""

    def __init__(self, *replies: Some) -> None:
        self.replies = list(replies)
        self.requests: list[list[Any]] = []
        self.chat = Some(completions=Some(create=self._create))

    def _create(self, *, messages: list[Any], **_: object) -> Some:
        self.requests.append(copy.deepcopy(messages))
        return Some(choices=[Some(message=self.replies.pop(0))])


def says(text: str | None, *calls: tuple[str, str, str]) -> Some:
    made = [Some(id=key, function=Some(name=name, arguments=given)) for key, name, given in calls]
    return Some(role="assistant", content=text, tool_calls=made or None)


def roles(messages: list[Any]) -> list[str]:
    return [message["role"] if isinstance(message, dict) else message.role for message in messages]


# -- the window: a floor of 3, a floor of 0 with `[-0:]` ------------------------------------------------------------

WINDOW = """\
def ask(client, examples, history, window):
    keep = max(window - len(examples), 5)
    request = examples + history[-keep:]
    history.append(client.chat.completions.create(model="gpt-5", messages=request).choices[0].message)
"""


@pytest.mark.parametrize("window", [0, 1, 3, 4, 6, 20])
@pytest.mark.parametrize("reserved", [0, 3, 4, 9])
@pytest.mark.parametrize(("floor", "code"), [("5", "AGL702"), ("0", "AGL703")])
def test_the_window_is_a_limit(floor: str, code: str, window: int, reserved: int) -> None:
    """Neither a smaller floor, nor none of them that is all of them."""
    client, said = Client(says("done")), [{"role": "user", "content": str(number)} for number in range(12)]
    shown = [{"role": "system", "content": "example"}] * reserved
    repaired(WINDOW.replace("examples), 5", f"examples), {floor}"), code)["ask"](client, shown, list(said), window)
    room = max(window - reserved, 0)
    assert client.requests == [[*shown, *said[max(len(said) - room, 0) :]]]


# -- the split: one half put right, the other not -----------------------------------------------------------------

SPLIT = """\
def ask(client, history, window, reserved):
    keep = max(window - reserved, 0)
    SPLIT
    client.chat.completions.create(model="gpt-5", messages=[*old, {"role": "system", "content": "-"}, *new])
    history.append({"role": "assistant", "content": "ok"})
"""


@pytest.mark.parametrize("keep", [0, 1, 3, 11, 12, 20])
@pytest.mark.parametrize(
    "split",
    [
        "old, new = history[:-keep], history[-keep:]",
        "new = history[-keep:]\n    old = history[:-keep]",
        "old = history[:max(len(history) - keep, 0)]\n    new = history[-keep:]",
        "old, new = list(history), history[-keep:]\n    del history[:-keep]\n    old = old[:len(old) - len(history)]",
    ],
)
def test_a_split_loses_and_doubles_nothing(split: str, keep: int) -> None:
    client, said = Client(says("done")), [{"role": "user", "content": str(number)} for number in range(12)]
    repaired(SPLIT.replace("SPLIT", split), "AGL703")["ask"](client, list(said), keep, 0)
    at = max(len(said) - keep, 0)
    assert client.requests == [[*said[:at], {"role": "system", "content": "-"}, *said[at:]]]


@pytest.mark.parametrize("between", ["history = history[1:]", "keep = keep - 1"])
def test_halves_of_different_lists_or_numbers_are_left_alone(between: str) -> None:
    split = f"old = history[:-keep]\n    {between}\n    new = history[-keep:]"
    assert offers(SPLIT.replace("SPLIT", split), "AGL703") == [False]


# -- copies: `list(tool_calls)` is no deep copy ---------------------------------------------------------------------

SLIM = """\
def slim(history):
    request = []
    for message in history:
        own = {"role": message["role"], "content": message["content"]}
        if message.get("tool_calls"):
            own["tool_calls"] = list(message["tool_calls"])
            for call in own["tool_calls"]:
                call["function"]["arguments"] = "{}"
        request.append(own)
    return request
"""


def test_a_list_of_the_same_calls_is_no_copy_of_them() -> None:
    call = {"id": "c1", "function": {"name": "look", "arguments": '{"at": 1}'}}
    history = [{"role": "assistant", "content": None, "tool_calls": [call]}]
    before = copy.deepcopy(history)
    request = repaired(SLIM, "AGL201")["slim"](history)
    assert request[0]["tool_calls"][0]["function"]["arguments"] == "{}"
    assert history == before


def test_a_list_of_the_same_messages_is_no_copy_of_them() -> None:
    source = """\
def ask_for_json(client, messages: list[dict]):
    messages[-1]["content"] += " Answer with JSON."
    return client.chat.completions.create(model="gpt-5", messages=messages).choices[0].message.content
"""
    client, messages = Client(says("{}"), says("{}")), [{"role": "user", "content": "?"}]
    ask = repaired(source, "AGL202")["ask_for_json"]
    assert [ask(client, messages), ask(client, messages)] == ["{}", "{}"]
    assert [request[0]["content"] for request in client.requests] == ["? Answer with JSON."] * 2
    assert messages == [{"role": "user", "content": "?"}]


# -- malformed arguments: a `continue` that skips the tools, `{}`, a call without its result ------------------------

AGENT = """\
import json


def run(client, messages, tools):
    while True:
        message = client.chat.completions.create(model="gpt-5", messages=messages, tools=tools).choices[0].message
        messages.append(message)
        if not message.tool_calls:
            return message.content
        for call in message.tool_calls:
PARSE
            messages.append({"role": "tool", "tool_call_id": call.id, "content": tools[call.function.name](arguments)})
"""
PLAIN = "            arguments = json.loads(call.function.arguments)"


@pytest.mark.parametrize(
    "handler", [None, "arguments = {}", "continue", "print('bad arguments')\n                continue"]
)
def test_a_malformed_call_is_told_and_the_others_run(handler: str | None) -> None:
    guarded = f"            try:\n    {PLAIN}\n            except ValueError:\n                {handler}"
    run = repaired(AGENT.replace("PARSE", PLAIN if handler is None else guarded), "AGL501")["run"]
    client = Client(says(None, ("c1", "wipe", "{"), ("c2", "look", '{"at": 1}')), says("done"))
    ran: list[Any] = []
    tools = {"wipe": lambda given: ran.append(("wipe", given)), "look": lambda given: ran.append(given) or "seen"}
    assert run(client, [{"role": "user", "content": "go"}], tools) == "done"
    assert ran == [{"at": 1}]
    answers = client.requests[1][2:]
    assert [answer["tool_call_id"] for answer in answers] == ["c1", "c2"]
    assert "not valid JSON" in answers[0]["content"]
    assert answers[1]["content"] == "seen"


def test_a_check_that_cannot_be_made_does_not_skip_the_round() -> None:
    """`continue` would belong to the loop of rounds: the tools of the reply would not run."""
    source = AGENT.replace("        for call in", "KEY\n        for call in").replace("PARSE", PLAIN)
    key = """\
        try:
            seen = json.dumps([json.loads(call.function.arguments) for call in message.tool_calls])
        except ValueError:
            continue
        messages.append({"role": "user", "content": seen})"""
    source = source.replace("KEY", key)
    assert True not in offers(source, "AGL306")
    result = fixed(source, options=check.Options(frozenset({"AGL306", "AGL501"}))).source.decode()
    assert result.count("            continue\n        messages") == source.count(
        "            continue\n        messages"
    )


def test_a_call_that_is_not_run_again_gets_its_answer() -> None:
    source = AGENT.replace(
        "PARSE", PLAIN + "\n            if call.function.arguments in done:\n                continue"
    )
    source = source.replace("    while True", "    done = set()\n    while True")
    source = source.replace(
        "\n            messages.append({",
        "\n            done.add(call.function.arguments)\n            messages.append({",
    )
    run = repaired(source, "AGL601")["run"]
    client = Client(says(None, ("c1", "look", "{}"), ("c2", "look", "{}")), says("done"))
    run(client, [{"role": "user", "content": "go"}], {"look": lambda given: "seen"})
    assert [answer["tool_call_id"] for answer in client.requests[1][2:]] == ["c1", "c2"]
    assert client.requests[1][-1]["content"] != "seen"


# -- repeats: the neighbour of the message, names without values, the first call only -------------------------------


def test_a_walk_to_the_neighbour_is_not_made_a_walk_to_another() -> None:
    for name in ("bad_walk_to_neighbour", "bad_newest_message", "bad_place_in_callback"):
        source = (FIXTURES / "brittle_history_index" / f"{name}.py").read_text(encoding="utf-8")
        assert offers(source, "AGL405")
        assert True not in offers(source, "AGL405")


GUARD = """\
import json


def run(client, messages, tools):
    last = None
    for _ in range(9):
        message = client.chat.completions.create(model="gpt-5", messages=messages, tools=tools).choices[0].message
        messages.append(message)
        calls = message.tool_calls
        if not calls:
            return message.content
        if last and SAME:
            return "stuck"
        last = calls
        for call in calls:
            messages.append({"role": "tool", "tool_call_id": call.id, "content": "seen"})
    raise RuntimeError("too many rounds")
"""
FIRST = "calls[0].function.name == last[0].function.name and calls[0].function.arguments == last[0].function.arguments"
ZIPPED = "all(a.function == b.function for a, b in zip(calls, last))"


@pytest.mark.parametrize("same", [FIRST, ZIPPED])
def test_a_round_with_another_second_call_is_no_repeat(same: str) -> None:
    run = repaired(GUARD.replace("SAME", same), "AGL401")["run"]
    look, warn = ("c1", "look", "{}"), ("c2", "warn", "{}")
    assert run(Client(says(None, look), says(None, look, warn), says("done")), [], {}) == "done"
    assert run(Client(says(None, look, warn), says(None, look), says("done")), [], {}) == "done"
    assert run(Client(says(None, look, warn), says(None, look, warn), says("done")), [], {}) == "stuck"


SEEN = """\
import json


def run(client, messages, tools):
    seen = set()
    for _ in range(9):
        message = client.chat.completions.create(model="gpt-5", messages=messages, tools=tools).choices[0].message
        messages.append(message)
        if not message.tool_calls:
            return message.content
        for call in message.tool_calls:
            arguments = json.loads(call.function.arguments)
            key = (call.function.name, KEY)
            if key in seen:
                return "stuck"
            seen.add(key)
            messages.append({"role": "tool", "tool_call_id": call.id, "content": "seen"})
    raise RuntimeError("too many rounds")
"""


@pytest.mark.parametrize(
    ("code", "key"),
    [
        ("AGL404", "tuple(sorted(arguments))"),
        ("AGL404", '",".join(arguments.keys())'),
        ("AGL403", "json.dumps(arguments)"),
    ],
)
def test_other_values_are_another_call_and_another_order_is_not(code: str, key: str) -> None:
    run = repaired(SEEN.replace("KEY", key), code)["run"]

    def answer(*given: str) -> Any:
        return run(Client(*(says(None, ("c1", "f", text)) for text in given), says("done")), [], {})

    assert answer('{"a": 13, "b": 1}', '{"a": 88, "b": 1}') == "done"
    assert answer('{"a": 13, "b": 1}', '{"b": 1, "a": 13}') == "stuck"


# -- the history: written twice, lost, or with a field that is refused ----------------------------------------------


def appends(source: str) -> int:
    return source.count(".append(") + source.count(".extend(")


@pytest.mark.parametrize(
    "path", [path for path in BAD if path.parent.name in {"stale_history_snapshot", "double_history_append"}],
    ids=lambda path: f"{path.parent.name}/{path.stem}",
)  # fmt: skip
def test_no_repair_appends_to_both(path: Path) -> None:
    """Where callers pass the live list, or a callback stores the message, too, it would stand there twice."""
    options = check.Options(frozenset({"AGL301", "AGL605"}))
    source = path.read_text(encoding="utf-8")
    assert appends(fixed(source, options=options).source.decode()) == appends(source)


def test_a_message_that_is_stored_per_call_is_stored_once() -> None:
    source = AGENT.replace("        messages.append(message)\n", "").replace(
        "PARSE", "            messages.append(message)\n" + PLAIN
    )
    run = repaired(source, "AGL605")["run"]
    client = Client(says(None, ("c1", "look", "{}"), ("c2", "look", "{}")), says("done"))
    run(client, [{"role": "user", "content": "go"}], {"look": lambda given: "seen"})
    assert roles(client.requests[1]) == ["user", "assistant", "tool", "tool"]


def test_a_plain_answer_is_stored_as_text_and_stays_so() -> None:
    """A branch that no message with calls reaches loses none: a field `tool_calls` there would be refused."""
    source = AGENT.replace("PARSE", PLAIN).replace("        messages.append(message)\n", "")
    source = source.replace(
        "            return message.content\n",
        '            messages.append({"role": "assistant", "content": message.content})\n'
        "            return message.content\n        messages.append(message)\n",
    )
    assert offers(source, "AGL603") == []


# -- locks, limits and errors ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "path", [path for path in BAD if path.parent.name in {"unlocked_history_append", "overlapping_turns"}],
    ids=lambda path: f"{path.parent.name}/{path.stem}",
)  # fmt: skip
def test_no_repair_that_is_applied_makes_a_lock(path: Path) -> None:
    """A lock of its own for each append keeps no turn together, and one over the whole turn is for a person to take."""
    source = path.read_text(encoding="utf-8")
    options = check.Options(frozenset({"AGL101", "AGL102"}))
    result = fixed(source, Wish(unsafe=True), options).source.decode()
    for word in ("Lock(", "Semaphore(", "Condition("):
        assert result.count(word) == source.count(word)


def test_the_end_of_the_rounds_is_an_error_and_no_empty_answer() -> None:
    source = """\
def run(client, messages, tools):
    final = ""
    for _ in range(2):
        message = client.chat.completions.create(model="gpt-5", messages=messages, tools=tools).choices[0].message
        messages.append(message)
        if not message.tool_calls:
            final = message.content
            break
        for call in message.tool_calls:
            messages.append({"role": "tool", "tool_call_id": call.id, "content": "seen"})
    return final
"""
    run = repaired(source, "AGL303")["run"]
    call = says(None, ("c1", "look", "{}"))
    assert run(Client(call, says("done")), [], {}) == "done"
    with pytest.raises(RuntimeError, match="limit of rounds"):
        run(Client(call, call), [], {})
    ends_itself = source.replace("    for _ in range(2)", "    rounds = 0\n    while rounds < 2 and not client.stopped")
    ends_itself = ends_itself.replace(
        "        messages.append(message)\n", "        rounds += 1\n        messages.append(message)\n"
    )
    assert True not in offers(ends_itself, "AGL303")


def test_each_call_and_each_object_has_a_list_of_its_own() -> None:
    source = """\
def ask(client, text, messages=[]):
    messages.append({"role": "user", "content": text})
    reply = client.chat.completions.create(model="gpt-5", messages=messages).choices[0].message
    messages.append({"role": "assistant", "content": reply.content})
    return reply.content
"""
    ask, client = repaired(source, "AGL103")["ask"], Client(says("a"), says("b"), says("c"))
    ask(client, "one")
    ask(client, "two")
    own: list[Message] = []
    ask(client, "three", own)
    assert [len(request) for request in client.requests] == [1, 1, 1]
    assert roles(own) == ["user", "assistant"], "an empty list that was passed is the caller's"


def test_what_is_cut_says_so_and_what_fits_is_left_alone() -> None:
    source = AGENT.replace(
        "PARSE", PLAIN + "\n            result = tools[call.function.name](arguments)\n            result = result[:9]"
    )
    source = source.replace("tools[call.function.name](arguments)})", "result})")
    run = repaired(source, "AGL701")["run"]
    client = Client(says(None, ("c1", "look", "{}"), ("c2", "wide", "{}")), says("done"))
    run(client, [{"role": "user", "content": "go"}], {"look": lambda _: "123456789", "wide": lambda _: "0123456789ab"})
    short, long = (answer["content"] for answer in client.requests[1][2:])
    assert short == "123456789"
    assert long.startswith("012345678\n")
    assert "3 more characters" in long


@pytest.mark.parametrize(
    "code",
    [
        "AGL102",
        "AGL104",
        "AGL304",
        "AGL305",
        "AGL306",
        "AGL307",
        "AGL308",
        "AGL406",
        "AGL602",
        "AGL704",
    ],
)
def test_rules_whose_cure_is_a_decision_offer_none(code: str) -> None:
    """Where the limit is, when to stop, which cut keeps pairs together: that is for a person to say."""
    sources = [
        path.read_text(encoding="utf-8") for path in BAD if f"expect: {code}" in path.read_text(encoding="utf-8")
    ]
    found = [offered for source in sources for offered in offers(source, code)]
    assert found
    assert True not in found
