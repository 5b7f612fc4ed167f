"""What a message says happens is what happens on that path."""

from __future__ import annotations

import pytest

from lint_rules.check import Options, check_source

PARSE = """\
import contextlib
import json


def run(client, messages, tools, execute):
    for _ in range(20):
        message = client.chat.completions.create(model="gpt-5", messages=messages, tools=tools).choices[0].message
        messages.append(message)
        if not message.tool_calls:
            return message.content
        BEFORE
        for call in message.tool_calls:
            FIRST
            GUARDED
            result = execute(call.function.name, arguments)
            messages.append({"role": "tool", "tool_call_id": call.id, "content": result})
    raise RuntimeError("too many rounds")
"""
TRY = """\
try:
                arguments = json.loads(call.function.arguments)
            except ValueError:
                ENDING"""
SUPPRESS = """\
with contextlib.suppress(ValueError):
                arguments = json.loads(call.function.arguments)"""
DROPPED = "the error of parsing `call.function.arguments` is dropped, the model is never told"
BECOMES = "malformed `call.function.arguments` becomes `{}`: the tool call goes on with it, the model is never told"


@pytest.mark.parametrize(
    ("before", "first", "guarded", "message"),
    [
        ("pass", "arguments = {}", TRY.replace("ENDING", "continue"), DROPPED),
        ("pass", "arguments = {}", TRY.replace("ENDING", "pass"), DROPPED),
        ("pass", "arguments = {}", SUPPRESS, DROPPED),
        ("pass", "pass", SUPPRESS, DROPPED),
        ("pass", "pass", TRY.replace("ENDING", "arguments = {}"), BECOMES),
        ("pass", "pass", TRY.replace("ENDING", "arguments = {}; continue"), DROPPED),
    ],
    ids=["skipped", "passed", "suppressed", "stale", "empty", "emptied and skipped"],
)
def test_what_comes_of_arguments_that_cannot_be_parsed(before: str, first: str, guarded: str, message: str) -> None:
    source = PARSE.replace("BEFORE", before).replace("FIRST", first).replace("GUARDED", guarded)
    found = check_source(source.encode(), "agent.py", Options(frozenset({"AGL501"}))).findings
    assert [finding.message for finding in found] == [message]


ROUNDS = PARSE.replace("BEFORE", "pass").replace("FIRST", "arguments = {}").replace("GUARDED", "pass")


@pytest.mark.parametrize(
    ("comment", "message"),
    [
        ("# noqa", None),
        ("# noqa: AGL901", None),
        (
            "# noqa: no-repeat-guard",
            "`# noqa: no-repeat-guard` is no list of codes, so it hides all findings here: write `# noqa: AGL901`",
        ),
        (
            "# noqa: as it must be",
            "`# noqa: as it must be` is no list of codes, so it hides all findings here: write `# noqa: AGL901`",
        ),
        (
            "# noqa:  AGL302",
            "`# noqa:  AGL302` is no list of codes, so it hides all findings here: write `# noqa: AGL302`",
        ),
    ],
)
def test_a_noqa_that_hides_more_than_it_seems_to(comment: str, message: str | None) -> None:
    source = ROUNDS.replace("range(20):", f"range(20):  {comment}").encode()
    report = check_source(source, "agent.py", Options(frozenset({"AGL901", "AGL501"})))
    assert (report.findings, report.suppressed) == ((), 1)
    assert report.misread == (() if message is None else ((5 + 1, message),))


def test_a_noqa_that_hides_nothing_of_ours_is_nobodys_business() -> None:
    source = ROUNDS.replace("import json", "import json  # noqa: some words").encode()
    report = check_source(source, "agent.py", Options(frozenset({"AGL901"})))
    assert (len(report.findings), report.misread) == (1, ())


SERVED = """\
from anthropic import Anthropic
from flask import Flask, request

app = Flask(__name__)
client = Anthropic()
talks = {}


@app.post("/ask")
def ask():
    talk = talks.setdefault(request.json["who"], [])
    talk.append({"role": "user", "content": request.json["text"]})
    reply = client.messages.create(model="claude-sonnet-4-5", max_tokens=500, messages=talk)
    KEPT
    answer = client.messages.create(model="claude-sonnet-4-5", max_tokens=500, messages=talk)
    talk.append({"role": "assistant", "content": answer.content[0].text})
    return answer.content[0].text
"""
COLLECTED = """\
found = []
    for block in reply.content:
        shown = [{"type": "text", "text": str(look(block))}]
        found.append({"type": "tool_result", "tool_use_id": block.id, "content": shown})
    talk.append({"role": "user", "content": found})"""
TOLD = """\
tool_result = look(reply.content[0].text)
    talk.append({"role": "user", "content": f"Found: {tool_result}"})"""


@pytest.mark.parametrize(("kept", "harm"), [(COLLECTED, "A stores its tool calls"), (TOLD, "A stores its question")])
def test_what_overlapping_turns_mix(kept: str, harm: str) -> None:
    report = check_source(SERVED.replace("KEPT", kept).encode(), "web.py", Options(frozenset({"AGL102"})))
    assert [harm in finding.message for finding in report.findings] == [True]


@pytest.mark.parametrize(
    ("cut", "dots"),
    [
        ('f"{report[:900]}..."', True),
        ('f"{report[:900]} [...]"', True),
        ('report[:900].rstrip() + "..."', True),
        ("f\"{report[:900]}\\n\\nSay yes or no, as in: 'well... yes'.\"", False),
    ],
)
def test_dots_are_those_that_stand_behind_the_cut(cut: str, dots: bool) -> None:
    asked = f"""\
def ask(client, report):
    messages = [{{"role": "user", "content": {cut}}}]
    return client.chat.completions.create(model="gpt-5", messages=messages).choices[0].message.content
"""
    report = check_source(asked.encode(), "desk.py", Options(frozenset({"AGL701"})))
    assert ["and dots" in finding.message for finding in report.findings] == [dots]


def test_who_puts_a_message_between_call_and_result_is_named_where_a_helper_does() -> None:
    source = """\
def run(client, messages, tools, execute):
    message = client.chat.completions.create(model="gpt-5", messages=messages, tools=tools).choices[0].message
    messages.append(message)
    for call in message.tool_calls or ():
        noted = note(messages, "Keep to the plan.")
        messages.append({"role": "tool", "tool_call_id": call.id, "content": f"{execute(call)} {noted}"})
    return client.chat.completions.create(model="gpt-5", messages=messages)


def note(messages, text):
    if any(message["content"] == text for message in messages):
        return False
    messages.append({"role": "system", "content": text})
    return True
"""
    found = check_source(source.encode(), "agent.py", Options(frozenset({"AGL609"}))).findings
    assert [(f.span.line, [each.span.line for each in f.related]) for f in found] == [(5, [3, 13])]
