"""When a repair offers itself, and when it must not: a wrong fix is worse than none."""

from __future__ import annotations

import pytest
from test_fix import KNOWN, OPTIONS, fixed

from lint_rules import check

# -- AGL101: the lock ---------------------------------------------------------------------------------------------

CHAT = """\
import threading


class Chat:
    def __init__(self, client):
        self.client = client
        self.lock = threading.Lock()
        self.messages = []

    def start(self):
        threading.Thread(target=self.listen, daemon=True).start()

    def say(self, text):
        with self.lock:
            self.messages.append({"role": "user", "content": text})
            reply = self.client.chat.completions.create(model="gpt-5", messages=self.messages)
            self.messages.append(reply.choices[0].message)
        return reply.choices[0].message.content

    def listen(self):
        for event in self.client.events():
            self.note(event)

    def note(self, event):
        self.messages.append({"role": "user", "content": event})
"""
WRITE = '        self.messages.append({"role": "user", "content": event})\n'
LOCKED = '        with self.lock:\n            self.messages.append({"role": "user", "content": event})\n'


def offers(source: str, code: str) -> list[bool]:
    """For each finding of a rule, whether there is a fix."""
    findings = check.check_source(source.encode(), "agent.py", OPTIONS).findings
    return [finding.fix is not None for finding in findings if finding.code == code]


def test_the_lock_that_guards_it_elsewhere() -> None:
    assert fixed(CHAT).source.decode() == CHAT.replace(WRITE, LOCKED)


def test_changes_that_stand_together_share_the_lock() -> None:
    cut = "        if len(self.messages) > 9:\n            self.messages = self.messages[-9:]\n"
    inside = "            if len(self.messages) > 9:\n                self.messages = self.messages[-9:]\n"
    assert fixed(CHAT.replace(WRITE, WRITE + cut)).source.decode() == CHAT.replace(WRITE, LOCKED + inside)


def test_a_list_is_added_under_one_lock() -> None:
    loop = "        for event in events:\n"
    source = CHAT.replace(WRITE, loop + "    " + WRITE).replace("note(self, event)", "note(self, events)")
    wrapped = "        with self.lock:\n    " + loop + "        " + WRITE
    assert fixed(source).source.decode() == source.replace(loop + "    " + WRITE, wrapped)


@pytest.mark.parametrize(
    "change",
    [
        ("            self.note(event)\n", "            with self.lock:\n                self.note(event)\n"),
        (
            "            self.messages.append(reply",
            "            self.note('x')\n            self.messages.append(reply",
        ),
        (
            "            self.messages.append(reply",
            "            other.note('x')\n            self.messages.append(reply",
        ),
        ("        self.client = client\n", "        self.client = client\n        client.on_event(self.note)\n"),
        (WRITE, "        self.messages.append(self.client.responses.create(input=self.messages, model='m'))\n"),
        (WRITE, "        self.messages.append({'role': 'user', 'content': self.say(event)})\n"),
        (WRITE, WRITE + "        print(event)\n" + WRITE),
        (WRITE, WRITE + "        with self.lock:\n            print(event)\n"),
        (WRITE, WRITE + "        yield event\n"),
        (WRITE, "        self.lock.acquire(False)\n        self.lock.release()\n" + WRITE),
    ],
    ids=[
        "the caller holds it",
        "called under it",
        "perhaps called under it",
        "a callback",
        "the model is asked",
        "takes it itself",
        "apart",
        "partly held",
        "a generator",
        "by hand",
    ],
)
def test_no_lock_where_it_may_be_held_or_does_not_help(change: tuple[str, str]) -> None:
    source = CHAT.replace(*change)
    assert source != CHAT
    assert True not in offers(source, "AGL101")


def test_no_lock_that_another_file_makes() -> None:
    """Who holds it there is not seen, nor whether it may be taken twice."""
    source = CHAT.replace("        self.lock = threading.Lock()\n", "").replace("class Chat:", "class ChatMixin:")
    assert offers(source, "AGL101") == [False]


def test_a_copy_that_goes_nowhere_is_not_made_deep() -> None:
    """Only the original can show what is stored: the store is meant."""
    source = KNOWN.replace("    return slim\n", "")
    assert offers(source, "AGL201") == [False]
    assert offers(KNOWN, "AGL201") == [True]


def test_a_copy_that_a_function_spoils_is_not_made_deep() -> None:
    source = """\
def run(client, history):
    history.append({"role": "user", "content": "go"})
    client.chat.completions.create(model="gpt-5", messages=history)
    window = list(history)
    trim(window)
    client.chat.completions.create(model="gpt-5", messages=window)


def trim(messages):
    for message in messages:
        message["content"] = message["content"][:9]
"""
    assert offers(source, "AGL201") == [False]


def test_a_reentrant_lock_may_be_taken_again() -> None:
    perhaps = (
        "            self.messages.append(reply",
        "            other.note('x')\n            self.messages.append(reply",
    )
    assert offers(CHAT.replace(*perhaps), "AGL101") == [False]
    assert offers(CHAT.replace(*perhaps).replace("threading.Lock()", "threading.RLock()"), "AGL101") == [True]


def test_an_async_lock_needs_an_async_function() -> None:
    source = CHAT.replace("with self.lock", "async with self.lock").replace("    def say", "    async def say")
    source = source.replace("import threading", "import asyncio, threading").replace("threading.Lock", "asyncio.Lock")
    assert True not in offers(source, "AGL101")


# -- AGL401: the lists --------------------------------------------------------------------------------------------

GUARD = """\
def run(client, messages, tools, execute):
    last = None
    for _ in range(20):
        message = client.chat.completions.create(model="gpt-5", messages=messages, tools=tools).choices[0].message
        messages.append(message)
        calls = message.tool_calls
        if not calls:
            return message.content
        if last and SAME:
            raise RuntimeError("the model repeats itself")
        last = calls
        messages.extend(execute(call) for call in calls)
    raise RuntimeError("too many rounds")
"""
NAMES = "calls[0].function.name == last[0].function.name"
ARGUMENTS = "calls[0].function.arguments == last[0].function.arguments"
ALL_NAMES = "[call.function.name for call in calls] == [call.function.name for call in last]"
ALL_ARGUMENTS = "[call.function.arguments for call in calls] == [call.function.arguments for call in last]"


@pytest.mark.parametrize(
    ("same", "expected"),
    [
        (f"{NAMES} and {ARGUMENTS}", f"{ALL_NAMES} and {ALL_ARGUMENTS}"),
        ("calls[0].function == last[0].function", None),
        ("calls[0] == last[0]", "calls == last"),
        (NAMES, None),
        (f"{NAMES} or {ARGUMENTS}", None),
        (f"{NAMES} and {ARGUMENTS} and len(tools)", f"{ALL_NAMES} and {ALL_ARGUMENTS} and len(tools)"),
        (f"calls[0].function.name == last[1].function.name and {ARGUMENTS}", None),
    ],
)
def test_comparisons_of_first_calls(same: str, expected: str | None) -> None:
    source = GUARD.replace("SAME", same)
    result = fixed(source).source.decode()
    if expected is None:
        assert result == source
    else:
        assert result == GUARD.replace("SAME", expected)


# -- AGL501: the answer -------------------------------------------------------------------------------------------

LOOP = """\
import json


def run(client, messages, tools, execute):
    while True:
        message = client.chat.completions.create(model="gpt-5", messages=messages, tools=tools).choices[0].message
        messages.append(message)
        if not message.tool_calls:
            return message.content
        for call in message.tool_calls:
            arguments = json.loads(call.function.arguments)
            result = execute(call.function.name, arguments)
            messages.append({"role": "tool", "tool_call_id": call.id, "content": result})
"""
PARSE = "            arguments = json.loads(call.function.arguments)\n"
ANSWER = '            messages.append({"role": "tool", "tool_call_id": call.id, "content": result})\n'
TRY = """\
            try:
                arguments = json.loads(call.function.arguments)
            except json.JSONDecodeError as exc:
                result = f"Error: the arguments are not valid JSON: {exc}"
                messages.append({"role": "tool", "tool_call_id": call.id, "content": result})
                continue
"""


def test_a_bare_parse_is_guarded() -> None:
    assert fixed(LOOP).source.decode() == LOOP.replace(PARSE, TRY)


@pytest.mark.parametrize(
    "handler",
    [
        "except json.JSONDecodeError:\n                arguments = {}\n",
        "except json.JSONDecodeError:\n                continue\n",
        "except json.JSONDecodeError as exc:\n                arguments = {}\n",
    ],
)
def test_a_handler_that_hides_the_error_answers_it(handler: str) -> None:
    source = LOOP.replace(PARSE, f"            try:\n    {PARSE}            {handler}")
    assert fixed(source).source.decode() == LOOP.replace(PARSE, TRY)


def test_what_a_handler_logs_stays() -> None:
    log = '                logging.warning("bad arguments")\n'
    source = LOOP.replace(
        PARSE,
        f"            try:\n    {PARSE}            except ValueError as e:\n{log}                arguments = {{}}\n",
    )
    wanted = TRY.replace("json.JSONDecodeError as exc:\n", f"ValueError as e:\n{log}").replace("{exc}", "{e}")
    assert fixed(source).source.decode() == LOOP.replace(PARSE, wanted)


@pytest.mark.parametrize(
    ("parser", "error"),
    [
        ("from json import loads", "ValueError"),
        ("import json as j", "j.JSONDecodeError"),
        ("from ast import literal_eval", "(ValueError, SyntaxError)"),
    ],
)
def test_the_error_of_the_parser(parser: str, error: str) -> None:
    call = {"from json import loads": "loads", "import json as j": "j.loads"}.get(parser, "literal_eval")
    source = LOOP.replace("import json", parser).replace("json.loads", call)
    assert f"            except {error} as exc:\n" in fixed(source).source.decode()


@pytest.mark.parametrize(
    "change",
    [
        (ANSWER, f"            messages.extend(shown(call))\n{ANSWER}"),
        (PARSE, f"            if call.id in known:\n    {ANSWER}{PARSE}"),
        (ANSWER, "            messages.append(answer(call, result))\n"),
        (ANSWER, ANSWER.replace("call.id", "arguments['id']")),
        (ANSWER, ANSWER.replace('"content"', '"name": result, "content"')),
        (PARSE, PARSE.replace("json.loads(call.function.arguments)", "check(json.loads(call.function.arguments))")),
    ],
    ids=[
        "something comes before it",
        "may be there already",
        "unknown shape",
        "needs the arguments",
        "needs the result",
        "more than a parse",
    ],
)
def test_no_answer_whose_shape_is_not_known(change: tuple[str, str]) -> None:
    source = LOOP.replace(*change)
    assert source != LOOP
    assert offers(source, "AGL501") == [False]
    assert fixed(source).source.decode() == source


@pytest.mark.parametrize("test", ["if call.function.name in tools:", "with timed(call):"])
def test_the_parse_may_stand_deeper_than_the_answer(test: str) -> None:
    deeper = TRY.replace("\n    ", "\n        ").replace(
        "            try", f"            {test}\n                try", 1
    )
    source = LOOP.replace(PARSE, f"            {test}\n    {PARSE}")
    assert fixed(source).source.decode() == LOOP.replace(PARSE, deeper)


def test_a_function_that_answers_one_call_returns_the_error() -> None:
    body = LOOP[LOOP.index(PARSE) :].replace("\n        ", "\n").removeprefix("        ")
    one = body.replace("messages.append(", "return ").replace("})", "}")
    source = f"{LOOP.replace(PARSE, '').replace('result = execute(call.function.name, arguments)', 'pass')}"
    source = source.replace(ANSWER, "            messages.append(answer(call))\n").replace("            pass\n", "")
    source = source + f"\n\ndef answer(call):\n{one}"
    told = TRY.replace("\n        ", "\n").removeprefix("        ").replace("        continue\n", "")
    told = told.replace("messages.append(", "return ").replace("})", "}")
    parse = PARSE.removeprefix("        ")
    assert fixed(source).source.decode() == source.replace(parse, told)
    other = source.replace("def answer(call):\n", "def answer(call):\n    if not call.id:\n        return call\n")
    assert fixed(other).source.decode() == other, "a caller may want something else"


# -- AGL405: the message that is looked for ------------------------------------------------------------------------

GUARD = """\
def run(client, question, tools, execute):
    history = [{"role": "user", "content": question}]
    alike = 0
    while True:
        message = client.chat.completions.create(model="gpt-5", messages=history, tools=tools).choices[0].message
        if not message.tool_calls:
            return message.content
        current = message.model_dump()
        before = history[-2]
        if before.get("tool_calls") and keys(before["tool_calls"]) == keys(current["tool_calls"]):
            alike += 1
        if alike == 3:
            raise RuntimeError("the model repeats itself")
        history.append(current)
        for call in message.tool_calls:
            history.append({"role": "tool", "tool_call_id": call.id, "content": execute(call)})


def keys(calls):
    return [(call["function"]["name"], call["function"]["arguments"]) for call in calls]
"""
BACK = check.Options(frozenset({"AGL405"}))
FIRST = '        if before.get("tool_calls") and '


def searched(source: str) -> list[bool]:
    return [finding.fix is not None for finding in check.check_source(source.encode(), "a.py", BACK).findings]


@pytest.mark.parametrize(
    "changes",
    [
        [],
        [("history[-2]", "history[len(history) - 2]")],
        [(FIRST, '        if len(history) > 2 and before.get("tool_calls") and ')],
        [("        current =", "        print(len(history))\n        current =")],
    ],
)
def test_a_place_becomes_a_search(changes: list[tuple[str, str]]) -> None:
    source = GUARD
    for change in changes:
        source = source.replace(*change)
    assert searched(source) == [True]
    old = "history[len(history) - 2]" if changes and "len(history) - 2" in changes[0][1] else "history[-2]"
    expected = source.replace(old, 'next((m for m in reversed(history) if m.get("tool_calls")), None)')
    expected = expected.replace('before.get("tool_calls") and', "before is not None and")
    assert fixed(source, options=BACK).source.decode() == expected


@pytest.mark.parametrize(
    "change",
    [
        (FIRST, "        if "),
        (FIRST, '        if not before.get("tool_calls") or '),
        ("            alike += 1\n", "            alike += 1\n        else:\n            print(before)\n"),
        ("        if alike == 3", "        print(before)\n        if alike == 3"),
        ("            alike += 1\n", "            before = None\n            alike += 1\n"),
        ("        current = message.model_dump()\n", "        current = message.model_dump()\n        note(history)\n"),
        ("        before = ", "        log = history\n        before = "),
        ('    history = [{"role": "user", "content": question}]\n', "    history = list(question)\n"),
        ("        history.append(current)\n", "        history.append(message)\n"),
        ("        history.append(current)\n", "        history.extend([current])\n"),
        ("        history.append(current)\n", "        history.append(current)\n        note(history)\n"),
        ("keys(before", "unlike(before"),
        ("def keys(calls)", "def next(calls):\n    return 1\n\n\ndef keys(calls)"),
        ("(client, question, tools, execute)", "(client, history, tools, execute)"),
    ],
)
def test_no_search_where_the_message_is_not_known(change: tuple[str, str]) -> None:
    source = GUARD.replace(*change)
    assert source != GUARD
    if "client, history" in change[1]:
        source = source.replace('    history = [{"role": "user", "content": question}]\n', "")
    assert searched(source) == [False], source


def test_no_search_after_the_append() -> None:
    """There the newest message with calls is the reply itself."""
    append = "        history.append(current)\n"
    deeper = GUARD.replace(
        "        before = history[-2]\n", "        if len(history) > 2:\n            before = history[-2]\n"
    )
    deeper = deeper.replace(FIRST, f"    {FIRST}").replace("            alike +=", "                alike +=")
    assert searched(deeper) == [True]
    appended = deeper.replace(append, "").replace("        if len(history)", f"{append}        if len(history)")
    assert searched(appended) == [False]
    kept = deeper.replace(append, "").replace(
        "        if len(history)", "        keep(history, current)\n        if len(history)"
    )
    assert searched(kept + "\n\ndef keep(messages, one):\n    messages.append(one)\n") == [False]


def test_no_search_in_another_function() -> None:
    """What has been asked and stored when it is called is not known there."""
    source = """\
def stuck(history, current):
    before = history[-2]
    if before.tool_calls and before.tool_calls == current.tool_calls:
        return True
    return False


def run(client, history, tools):
    while True:
        message = client.chat.completions.create(model="gpt-5", messages=history, tools=tools).choices[0].message
        history.append(message)
        if stuck(history, message):
            return message
        for call in message.tool_calls:
            history.append({"role": "tool", "tool_call_id": call.id, "content": "done"})
"""
    assert searched(source) == [False]


@pytest.mark.parametrize("stores", [False, True])
def test_no_search_where_the_function_that_asks_may_store_the_reply(stores: bool) -> None:
    asks = 'client.chat.completions.create(model="gpt-5", messages=history, tools=tools).choices[0].message'
    keep = "    history.append(reply)\n" if stores else ""
    chat = f"\n\ndef chat(client, history, tools):\n    reply = {asks}\n{keep}    return reply\n"
    source = GUARD.replace(asks, "chat(client, history, tools)").replace(
        'before.get("tool_calls")', "before.tool_calls"
    )
    assert searched(source.replace('["tool_calls"]', ".tool_calls") + chat) == [not stores]


# -- AGL201 and AGL202: whose copy ---------------------------------------------------------------------------------

GIVEN = check.Options(frozenset({"AGL201", "AGL202"}))


def given(source: str) -> list[tuple[str, bool]]:
    findings = check.check_source(source.encode(), "agent.py", GIVEN).findings
    return [(finding.code, finding.fix is not None) for finding in findings]


HELPER = """\
def spaced(messages: list[dict]) -> list[dict]:
    copied = list(messages)
    copied.append({"role": "user", "content": "Go on."})
    return copied


def named(messages: list[dict]) -> list[dict]:
    for message in messages:
        message["content"] = message["name"] + ": " + message["content"]
    return messages


def ask(client, messages: list[dict]):
    request = spaced(messages)
    MARK
    return client.chat.completions.create(model="gpt-5", messages=request)
"""


@pytest.mark.parametrize(
    ("change", "offered"),
    [
        (("MARK", "for message in request:\n        message['content'] += '!'"), True),
        (("MARK", "request = named(request)"), False),
    ],
    ids=["by who asked for the copy", "by another who got it"],
)
def test_a_helpers_copy_is_deepened_for_who_asks_for_it_only(change: tuple[str, str], offered: bool) -> None:
    source = HELPER.replace(*change)
    assert ("AGL201", offered) in given(source), given(source)


def test_a_copy_is_not_deepened_where_the_original_may_be_returned() -> None:
    source = HELPER.replace("MARK", "for message in request:\n        message['content'] += '!'")
    source = source.replace(
        "    copied = list", "    if len(messages) > 9:\n        return messages\n    copied = list"
    )
    assert ("AGL201", False) in given(source)


STEP = """\
class Bound:
    def execute(self, messages: list[dict]) -> list[dict]:
        out = []
        for message in messages:
            if message["role"] == "tool":
                message["tool_call_id"] = "c1"
            out.append(message)
        return out
"""


def test_a_step_that_hands_the_messages_on_makes_no_copy() -> None:
    """Who runs the steps may make one for all of them."""
    assert given(STEP) == [("AGL202", False)]
    assert given(STEP.replace("out.append(message)", "out.append(dict(message))")) == [("AGL202", True)]


def test_what_a_function_is_there_for_is_not_done_to_a_copy() -> None:
    """It returns nothing: the list with the summary in it is its result."""
    source = """\
def summed_up(client, messages: list[dict]) -> None:
    request = [*messages, {"role": "user", "content": "Sum this up."}]
    summary = client.chat.completions.create(model="gpt-5", messages=request).choices[0].message
    messages.clear()
    messages.append({"role": "user", "content": summary.content})
"""
    assert True not in [offered for _, offered in given(source)]


@pytest.mark.parametrize(
    ("edit", "copied"),
    [
        ('message["role"] = "developer"', "copy.copy(message)"),
        ('message["content"][0]["text"] = "[cut]"', "copy.deepcopy(message)"),
    ],
)
def test_a_message_is_copied_as_deep_as_it_is_edited(edit: str, copied: str) -> None:
    source = f"""\
import copy


def as_request(message: dict) -> dict:
    if message["role"] == "system" and message["content"]:
        {edit}
    return {{"role": message["role"], "content": message["content"]}}
"""
    wanted = source.replace("    if", f"    message = {copied}\n    if")
    assert fixed(source, options=GIVEN).source.decode() == wanted


def test_a_message_that_is_handed_back_is_copied_in_depth() -> None:
    """Who gets it may edit what is in it."""
    source = """\
import copy


class Room:
    def told(self, message: Message) -> Message:
        if message.role not in ["system", "user"]:
            message.role = "user"
        return message

    def publish(self, message: Message) -> None:
        told = self.told(message)
        told.receivers.add("lead")
        self.queue.put(told)
        self.memory.add(message)
"""
    wanted = source.replace("        if", "        message = copy.deepcopy(message)\n        if")
    assert fixed(source, options=GIVEN).source.decode() == wanted


LATE = """\
def as_request(message: Message, wants_json: bool) -> dict:
    request = {"role": message.role, "content": message.content}
    if message.role == "system" and wants_json:
        message.content += " Answer in JSON."
    if message.images:
        request["content"] = [{"type": "text", "text": message.content}, *message.images]
    return request
"""


@pytest.mark.parametrize(
    ("change", "offered"),
    [
        (("", ""), False),
        (("    return", "    if message.content is None:\n        return None\n    return"), False),
        (("    return request", "    return {**request, 'content': message.content}"), True),
        (("    return request", "    return {**request, 'content': message.get('content')}"), True),
        (("    return request", "    return {**request, 'name': message.get('name')}"), False),
        (("    return request", "    return message.model_dump()"), True),
        (("    return request", "    self.sent.append(message)\n    return request"), True),
    ],
    ids=["late", "looked at", "read again", "by its key", "another field", "a method of it", "handed on"],
)
def test_an_edit_that_came_too_late_is_not_hidden_in_a_copy(change: tuple[str, str], offered: bool) -> None:
    """The request holds the old text: only the caller's message shows the edit."""
    assert given(LATE.replace(*change)) == [("AGL202", offered)]


def test_a_list_that_is_known_as_one_is_not_made_one_before_it_is_copied() -> None:
    source = """\
import copy


def ask(client, messages: list[dict]):
    system = [message for message in messages if message["role"] == "system"]
    request = list(system)
    for message in request:
        message["content"] = message["content"][:400]
    return client.chat.completions.create(model="gpt-5", messages=request)
"""
    assert fixed(source, options=GIVEN).source.decode() == source.replace("list(system)", "copy.deepcopy(system)")


@pytest.mark.parametrize(
    ("annotation", "copied"),
    [
        (": list[dict]", "list(messages)"),
        (": List[dict]", "list(messages)"),
        (": list[dict] | None", "copy.copy(messages)"),
        (": Optional[list[dict]]", "copy.copy(messages)"),
        (": list[dict] = None", "copy.copy(messages)"),
        ("", "copy.copy(messages)"),
    ],
)
def test_a_list_that_is_only_cut_is_copied_as_a_list(annotation: str, copied: str) -> None:
    source = f"""\
import copy


def ask(client, messages{annotation}):
    if messages:
        del messages[0]
    return client.chat.completions.create(model="gpt-5", messages=messages).choices[0].message.content
"""
    assert given(source) == [("AGL202", True)]
    wanted = source.replace("    if", f"    messages = {copied}\n    if")
    assert fixed(source, options=GIVEN).source.decode() == wanted


# -- AGL604: the field --------------------------------------------------------------------------------------------

FIELD = """\
def run(client, history, tools, execute):
    for _ in range(9):
        reply = client.chat.completions.create(model="gpt-5", messages=history, tools=tools).choices[0].message
        said = {DISPLAY}
        history.append(said)
        for call in reply.tool_calls or []:
            history.append({"role": "tool", "tool_call_id": call.id, "content": execute(call)})
        if not reply.tool_calls:
            history.append({"role": "user", "content": input()})
    raise RuntimeError("too many rounds")
"""
AFTERWARDS = '        if reply.tool_calls:\n            said["tool_calls"] = reply.tool_calls\n'
CHOSEN = '**({"tool_calls": reply.tool_calls} if reply.tool_calls else {})'


@pytest.mark.parametrize(
    ("display", "expected"),
    [
        ('"role": "assistant", "content": reply.content, "tool_calls": reply.tool_calls', None),
        ('"role": "assistant", "content": reply.content, "tool_calls": reply.tool_calls,', None),
        (
            '"role": "assistant", "tool_calls": reply.tool_calls, "content": reply.content',
            f'"role": "assistant", {CHOSEN}, "content": reply.content',
        ),
        (
            '\n            "role": "assistant",  # who\n            "tool_calls": reply.tool_calls,\n        ',
            f'\n            "role": "assistant",  # who\n            {CHOSEN},\n        ',
        ),
        (
            '\n            "role": "assistant",\n            "tool_calls": reply.tool_calls  # what\n        ',
            f'\n            "role": "assistant",\n            {CHOSEN}  # what\n        ',
        ),
        (
            '\n            "role": "assistant",\n            "content": reply.content,\n'
            '            "tool_calls": reply.tool_calls,\n        ',
            None,
        ),
    ],
    ids=["last", "with a comma", "in between", "a comment before", "a comment beside", "over lines"],
)
def test_the_field_is_set_afterwards_where_the_message_has_a_name(display: str, expected: str | None) -> None:
    options = check.Options(frozenset({"AGL604"}))
    result = fixed(FIELD.replace("DISPLAY", display), options=options)
    assert result.applied
    if expected is None:
        ending = (
            ',\n            "tool_calls": reply.tool_calls,' if "\n" in display else ', "tool_calls": reply.tool_calls'
        )
        kept = display.replace(ending, "," if "\n" in display else "")
        expected = FIELD.replace("DISPLAY", kept)
        expected = expected.replace("        history.append(said)\n", AFTERWARDS + "        history.append(said)\n")
    else:
        expected = FIELD.replace("DISPLAY", expected)
    assert result.source.decode() == expected


# -- AGL605: empty lines ------------------------------------------------------------------------------------------


def test_a_statement_that_leaves_a_stream_keeps_its_empty_line() -> None:
    source = """\
def ask(client, history):
    said = ""
    for chunk in client.chat.completions.create(model="gpt-5", messages=history, stream=True):
        said += chunk.choices[0].delta.content or ""

        # what the model said
        history.append({"role": "assistant", "content": said})
    return said
"""
    moved = source.replace("        # what", "    # what").replace("        history.append", "    history.append")
    assert fixed(source, options=check.Options(frozenset({"AGL605"}))).source.decode() == moved


# -- AGL302: the limit ----------------------------------------------------------------------------------------------

ENDLESS = """\
from openai import OpenAI


def run(client, messages, tools, execute):
    while True:
        message = client.chat.completions.create(model="gpt-5", messages=messages, tools=tools).choices[0].message
        messages.append(message)
        if not message.tool_calls:
            return message.content
        messages.extend(execute(call) for call in message.tool_calls)
"""
BOUNDED = ENDLESS.replace("while True:", "for _ in range(MAX_ROUNDS):").replace(
    "OpenAI\n\n\n", "OpenAI\n\nMAX_ROUNDS = 50\n\n\n"
) + ('    raise RuntimeError(f"no answer within {MAX_ROUNDS} rounds")\n')
LIMITED = check.Options(frozenset({"AGL302"}))


def limited(source: str) -> str:
    return fixed(source, options=LIMITED).source.decode()


def test_rounds_are_limited_by_a_constant() -> None:
    assert limited(ENDLESS) == BOUNDED


def test_a_loop_that_is_left_by_a_break_gets_an_else() -> None:
    source = ENDLESS.replace("return message.content", "break") + "    return message.content\n"
    error = '        raise RuntimeError(f"no answer within {MAX_ROUNDS} rounds")\n'
    assert f"    else:\n{error}    return message.content\n" in limited(source)
    inner = ENDLESS.replace("        if not", "        for part in message.parts:\n            break\n        if not")
    assert limited(inner).endswith(error.removeprefix("    "))


def test_two_loops_share_the_constant_and_one_that_is_there_is_used() -> None:
    two = limited(ENDLESS + ENDLESS.removeprefix("from openai import OpenAI\n").replace("run(", "again("))
    assert (two.count("MAX_ROUNDS = 50"), two.count("range(MAX_ROUNDS)")) == (1, 2)
    own = limited(ENDLESS.replace("OpenAI\n", "OpenAI\n\nMAX_ROUNDS = 7\n"))
    assert "MAX_ROUNDS = 50" not in own
    assert "range(MAX_ROUNDS)" in own


@pytest.mark.parametrize("line", ["MAX_ROUNDS = None", "MAX_ROUNDS = 7\nMAX_ROUNDS += 1", "def MAX_ROUNDS(): ..."])
def test_a_name_that_means_something_else_is_no_limit(line: str) -> None:
    assert "range(MAX_MODEL_ROUNDS)" in limited(ENDLESS.replace("OpenAI\n", f"OpenAI\n\n{line}\n"))


def test_a_loop_that_reads_the_underscore_keeps_it() -> None:
    counted = limited(ENDLESS.replace("return message.content", "return _(message.content)"))
    assert "    rounds = 0\n    while True:\n        if rounds == MAX_ROUNDS:\n" in counted


def test_a_loop_with_an_else_has_no_limit() -> None:
    source = ENDLESS.replace("while True:", "while more:").replace("return message.content", "more = False")
    source = source.replace("    while", "    more = True\n    while")
    assert "if rounds == MAX_ROUNDS:" in limited(source)
    source += "    else:\n        return message.content\n"
    assert limited(source) == source


# -- AGL409: the pieces ---------------------------------------------------------------------------------------------

PIECES = """\
def merge(calls, stream):
    for chunk in stream:
        for number, piece in enumerate(chunk.choices[0].delta.tool_calls or []):
            call = calls[number]
            call["id"] = piece.id
            call["arguments"] += piece.function.arguments or ""
    return calls
"""
NAMED = PIECES.replace("number, piece in enumerate(chunk.choices[0].delta.tool_calls or [])", "piece in PIECES")
NAMED = NAMED.replace("PIECES", "chunk.choices[0].delta.tool_calls or []").replace("[number]", "[piece.index]")
ADDED = NAMED.replace("    return", "            TAKE\n    return")
KEPT_APART = check.Options(frozenset({"AGL409"}))


@pytest.mark.parametrize(
    ("added", "assigned"),
    [
        ("if piece.name: call['name'] += piece.name", "if piece.name: call['name'] = piece.name"),
        ("if piece.get('name'): call['name'] += piece['name']", "if piece.get('name'): call['name'] = piece['name']"),
        ("call['name'] += piece.function.name", "call['name'] = piece.function.name or call['name']"),
        (
            "call['name'] += piece.name if piece else ''",
            "call['name'] = (piece.name if piece else '') or call['name']",
        ),
        (
            "if piece.name is not None: call['name'] += piece.name",
            "if piece.name is not None: call['name'] = piece.name or call['name']",
        ),
    ],
)
def test_a_name_is_assigned_and_no_piece_without_one_takes_it_away(added: str, assigned: str) -> None:
    found = fixed(ADDED.replace("TAKE", added), options=KEPT_APART)
    assert found.source.decode() == ADDED.replace("TAKE", assigned)


def test_a_position_that_is_used_elsewhere_stays() -> None:
    assert fixed(PIECES, options=KEPT_APART).source.decode() == NAMED
    for change in ("return calls, number", "number = 0\n    return calls"):
        source = PIECES.replace("return calls", change)
        assert fixed(source, options=KEPT_APART).source.decode() == source
    loose = PIECES.replace("calls[number]", "calls[number]\n            number += 1")
    assert fixed(loose, options=KEPT_APART).source.decode() == loose


# -- AGL613: the results of a round ---------------------------------------------------------------------------------

SPLIT = """\
def work(client, messages, tools, execute):
    for _ in range(20):
        response = client.messages.create(model="claude-sonnet-4-5", max_tokens=9, messages=messages, tools=tools)
        messages.append({"role": "assistant", "content": response.content})
        if response.stop_reason != "tool_use":
            return response

        # each call
        for call in response.content:
            if call.type == "tool_use":
                found = {"type": "tool_result", "tool_use_id": call.id, "content": execute(call)}
                messages.append({"role": "user", "content": [found]})  # one each
    raise RuntimeError("twenty rounds")
"""
STORE = '                messages.append({"role": "user", "content": [found]})  # one each\n'
JOINED = SPLIT.replace("\n        # each", "\n        results = []\n        # each").replace(
    STORE,
    "                results.append(found)  # one each\n        if results:\n"
    '            messages.append({"role": "user", "content": results})\n',
)
WHOLE = check.Options(frozenset({"AGL613"}))


def test_the_results_of_a_round_are_stored_in_one_message() -> None:
    assert fixed(SPLIT, options=WHOLE).source.decode() == JOINED
    taken = fixed(SPLIT.replace("def work(", "def work(results, "), options=WHOLE).source.decode()
    assert "tool_results.append(found)" in taken


@pytest.mark.parametrize(
    "change",
    [
        (STORE, STORE + "                if call.name == 'finish':\n                    return found\n"),
        (STORE, STORE + "                execute(messages)\n"),
        (STORE, STORE + '                messages.append({"role": "user", "content": call.name})\n'),
        (STORE, STORE.replace('"role": "user"', '"role": "user", "of": call.id')),
        ("    raise", "        else:\n            print('all')\n    raise"),
    ],
    ids=["left with results in hand", "the history is read", "more is stored", "the message is of a call", "an else"],
)
def test_results_that_cannot_wait_stay(change: tuple[str, str]) -> None:
    source = SPLIT.replace(*change)
    found = check.check_source(source.encode(), "agent.py", WHOLE).findings
    assert [finding.fix for finding in found] == [None]


# -- AGL402 and AGL410: what a request says of its tools --------------------------------------------------------------

ONE_ROUND = """\
def handle(client, messages, tools, execute):
    message = client.chat.completions.create(ARGUMENTS).choices[0].message
    messages.append(message)
    for call in message.tool_calls or []:
        messages.append({"role": "tool", "tool_call_id": call.id, "content": execute(call)})
    return client.chat.completions.create(ARGUMENTS).choices[0].message.content
"""
LAST_WORD = check.Options(frozenset({"AGL410"}))


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ('model="m", messages=messages, tools=tools', 'model="m", messages=messages, tools=tools, tool_choice="none"'),
        ('"m", messages, tools=tools,', '"m", messages, tools=tools, tool_choice="none",'),
        (
            "\n        messages=messages,  # all\n        tools=tools,\n    ",
            '\n        messages=messages,  # all\n        tools=tools,\n        tool_choice="none",\n    ',
        ),
        (
            "\n        messages=messages,\n        tools=tools",
            '\n        messages=messages,\n        tools=tools,\n        tool_choice="none"',
        ),
        ('messages=messages, tools=tools, tool_choice="auto"', None),
        ("messages=messages, tools=tools, **settings", None),
    ],
)
def test_a_request_says_that_no_tool_is_to_be_called(given: str, said: str | None) -> None:
    source = ONE_ROUND.replace("ARGUMENTS", given)
    head, _, tail = source.rpartition(given)
    wanted = source if said is None else f"{head}{said}{tail}"
    assert fixed(source, options=LAST_WORD).source.decode() == wanted
