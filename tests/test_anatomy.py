"""The anatomy by itself: what calls, loops and values are taken for, in the forms of each provider and of Python."""

from __future__ import annotations

import textwrap

import libcst as cst
import pytest

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.drawing import draw
from lint_rules.anatomy.rounds.waits import Waits
from lint_rules.anatomy.turns.resources import Resources
from lint_rules.anatomy.vocabulary import Vocabulary
from lint_rules.output.maps.text import render
from lint_rules.syntax.module import SourceModule


def outline(source: str) -> str:
    """Of the file as it stands: what is made of it before it is checked is no matter here."""
    anatomy = Anatomy(SourceModule(textwrap.dedent(source), "agent.py"), Vocabulary())
    return "\n".join(render([draw(anatomy, ())]))


def values(text: str, title: str) -> set[str]:
    """The names listed under a title of the outline."""
    lines = text.partition(f"({title})\n")[2].partition("\n\n")[0].splitlines()
    return {line.split("`")[1] for line in lines if "`" in line}


ASKED = {
    "openai chat": "import openai as o\ndef f(log):\n    o.chat.completions.create(model='m', messages=log)",
    "openai responses": "def f(client, log):\n    log.append(1)\n    client.responses.create(model='m', input=log)",
    "anthropic": "def f(client, log):\n    client.messages.create(model='m', max_tokens=9, messages=log)",
    "litellm alias": "from litellm import acompletion as ask\nasync def f(log):\n await ask(model='m', messages=log)",
    "ollama": "from ollama import chat\ndef f(log):\n    chat(model='m', messages=log)",
    "gemini": "def f(c, log):\n    log.append(1)\n    c.models.generate_content(model='m', contents=log)",
    "bedrock": "def f(runtime, log):\n    runtime.converse(modelId='m', messages=log)",
    "attribute": "class A:\n def f(self, log):\n  self.client.chat.completions.create(model='m', messages=log)",
    "unpacked request": "def f(c, log):\n    r = {'model': 'm', 'messages': log}\n    c.chat.completions.create(**r)",
    "plain http": "import requests\ndef f(log):\n    requests.post('u', json={'model': 'm', 'messages': log})",
    "body of a function": (
        "import requests\ndef body(log):\n    b = {'model': 'm', 'messages': log}\n    return b\n"
        "def f(log):\n    b = body(log)\n    requests.post('u', json=b)"
    ),
    "own wrapper": "def f(brain, log, tools):\n    r = brain.chat_with_tools(log, tools)\n    return r.tool_calls",
}


@pytest.mark.parametrize("source", ASKED.values(), ids=ASKED.keys())
def test_a_call_that_asks_a_model_is_known(source: str) -> None:
    text = outline(source)
    assert text.startswith("LLM calls\n")
    assert "`f` reaches a model" in text or "`A.f` reaches a model" in text


@pytest.mark.parametrize("name", [name for name in ASKED if name != "own wrapper"])
def test_what_is_sent_is_the_history(name: str) -> None:
    assert "log" in values(outline(ASKED[name]), "history")


@pytest.mark.parametrize(
    "source",
    [
        "def f(twilio):\n    twilio.messages.create(to='+1', from_='+2', body='hi')",
        "def f(messages):\n    for m in messages:\n        print(m.subject, m.content)",
        "history = []\ndef f(line):\n    history.append(line)",
        "def f(user):\n    return user.role == 'user'",
    ],
    ids=["twilio", "mail", "shell", "permissions"],
)
def test_look_alikes_are_nothing(source: str) -> None:
    assert outline(source) == "no parts of an agent found"


def test_functions_reach_a_model_through_calls_of_any_depth() -> None:
    text = outline(
        """
        class Agent:
            def run(self): return self.turn()
            def turn(self): return [self.ask(x) for x in (1, 2)]
            def ask(self, x): return self.client.chat.completions.create(model="m", messages=[])
        """
    )
    for name in ("run", "turn", "ask"):
        assert f"`Agent.{name}` reaches a model" in text


def test_a_round_loop_has_its_limit_and_a_prompt_loop_is_none() -> None:
    text = outline(
        """
        def rounds(client, log, tools):
            for _ in range(9):
                reply = client.chat.completions.create(model="m", messages=log, tools=tools).choices[0].message
                log.append(reply)
                for call in reply.tool_calls:
                    log.append({"role": "tool", "content": tools[call.function.name](), "tool_call_id": call.id})

        def prompt(client, log, tools):
            while True:
                log.append({"role": "user", "content": input()})
                rounds(client, log, tools)
        """
    )
    loops = text.partition("round loops\n")[2].partition("\n\n")[0].splitlines()
    heads = [line for line in loops if not line.startswith("    ")]
    assert heads == ["  line 3: in `rounds`, asks in line 4, limit `range(9)`"]


def test_who_sits_there_is_asked_under_any_name() -> None:
    source = """
        from prompt_toolkit import prompt as pt_ask

        def talk(client, log):
            while True:
                log.append({"role": "user", "content": pt_ask("you: ")})
                log.append(client.chat.completions.create(model="m", messages=log).choices[0].message)
    """
    anatomy = Anatomy(SourceModule(textwrap.dedent(source), "agent.py"), Vocabulary())
    loop = anatomy.module.nodes_of(cst.While)[0]
    assert Waits(anatomy.calls, anatomy.flow).in_each_round(loop, anatomy.module.scope_of[loop].function) is not None


@pytest.mark.parametrize(
    "way",
    [
        "client.chat.completions.create(**packed(rows))",
        "attempt(**packed(rows))",
        "attempt(model='m', messages=rows)",
    ],
    ids=["spread", "spread twice", "keywords kept"],
)
def test_what_is_spread_into_a_request_is_its_history(way: str) -> None:
    text = outline(
        f"""
        from openai import OpenAI
        client = OpenAI()

        def packed(things):
            order = {{"model": "m", "messages": things}}
            return order

        def attempt(**order):
            return client.chat.completions.create(**order)

        def ask(rows):
            return {way}
        """
    )
    assert "rows" in values(text, "history")


@pytest.mark.parametrize(
    "use",
    [
        "for m in log:\n        if m['role'] == 'assistant': pass",
        "if (last := log[-1])['role'] == 'tool': pass",
        "roles = [m for m in log if m.role in ('assistant', 'tool')]",
        "match log[-1]['role'] == 'assistant':\n        case True: pass",
        "log.append({'role': 'user', 'content': 'hi'})",
        "log += [{'role': 'user', 'content': 'hi'}]",
        "add(log)",
        "copied = list(log)\n    add(copied)",
    ],
    ids=["loop", "walrus", "comprehension", "match", "append", "add", "helper", "copy"],
)
def test_a_history_is_known_by_what_is_done_with_it(use: str) -> None:
    helper = "def add(xs):\n    xs.append({'role': 'assistant', 'content': ''})\n"
    assert "log" in values(outline(f"{helper}def f(log):\n    {use}\n"), "history")


def test_arguments_are_followed_through_calls_and_streams() -> None:
    text = outline(
        """
        import json
        def collect(stream):
            pieces = ""
            for chunk in stream:
                for part in chunk.choices[0].delta.tool_calls or ():
                    pieces += part.function.arguments
            return parse(pieces)
        def parse(text):
            return json.loads(text)
        """
    )
    assert {"pieces", "text"} <= values(text, "arguments_text")


def test_locks_and_concurrent_starts() -> None:
    text = outline(
        """
        import threading
        class Chat:
            def __init__(self):
                self.gate = threading.Lock()
                self.log = []
                threading.Thread(target=self.tick).start()
            def tick(self):
                with self.gate:
                    self.note("tick")
            def note(self, text):
                self.log.append({"role": "user", "content": text})
        """
    )
    assert "`Chat.tick` as a thread" in text
    assert "append of `self.log` under `self.gate`" in text


def test_evidence_is_kept_as_a_chain() -> None:
    text = outline(
        "def f(client, log):\n    g(client, log)\ndef g(c, xs):\n    c.messages.create(model='m', messages=xs)"
    )
    assert "`log` in `f`: is passed to `g` (line 2) <- is sent as `messages=` to `messages.create` (line 4)" in text


@pytest.mark.parametrize(
    "read",
    [
        "last['tool_calls']",
        "last.tool_calls",
        "last.get('tool_calls')",
        "last.pop('tool_calls', None)",
        "getattr(last, 'tool_calls', None)",
        "hasattr(last, 'tool_calls')",
        "'tool_calls' in last and last['content']",
        "'tool_calls' not in last or last.get('content')",
        "last.get('tool_call_id')",
    ],
)
def test_a_message_is_known_by_the_calls_it_is_asked_for(read: str) -> None:
    text = outline(f"def f(log):\n    last = log[-1]\n    return {read}\n")
    assert "last" in values(text, "message")
    assert "log" in values(text, "history")


def test_a_word_in_a_text_makes_no_message_of_it() -> None:
    source = "def f(lines):\n    return [line for line in lines if 'tool_calls' in line]"
    assert outline(source) == "no parts of an agent found"


@pytest.mark.parametrize(
    "ask",
    [
        "client.models.generate_content(model='m', contents={}).text",
        "client.responses.create(model='m', input={}).output_text",
        "client.complete({}, 'm').choices[0].message.content",
        "answer(client, {})",
    ],
    ids=["gemini", "responses", "wrapper", "helper"],
)
def test_a_list_of_answers_is_no_history(ask: str) -> None:
    text = outline(
        f"""
        def collect(client, questions):
            answers = []
            for question in questions:
                answers.append({ask.format("question")})
            return client.responses.create(model="m", input=answers)

        def answer(client, question):
            return client.responses.create(model="m", input=question).output_text
        """
    )
    assert "(history)" not in text


@pytest.mark.parametrize(
    "growth",
    ["log.append(reply.output_text)", "log.extend(more)", "log += more", "log.append(read())"],
)
def test_texts_that_are_a_conversation_or_unknown_stay_a_history(growth: str) -> None:
    text = outline(
        f"""
        def talk(client, lines, more):
            log = ["You are a guide."]
            for line in lines:
                log.append(f"User: {{line}}")
                reply = client.responses.create(model="m", input=log)
                {growth}
        """
    )
    assert "log" in values(text, "history")


@pytest.mark.parametrize(
    "begun", ["model.start_chat()", "genai.Client().chats.create(model='m')", "model.start_chat() if new else None"]
)
def test_a_chat_session_is_asked_and_a_bot_is_not(begun: str) -> None:
    asked = f"class A:\n def __init__(self, model, new):\n  self.chat = {begun}\n def f(self, text):\n  {{}}(text)"
    assert "`A.f` reaches a model" in outline(asked.format("self.chat.send_message"))
    assert "reaches a model" not in outline(asked.format("self.bot.send_message"))


@pytest.mark.parametrize(
    ("read", "is_chat"),
    [
        ("answer.candidates[0].content.parts", True),
        ("[part for each in answer.candidates for part in each.content.parts]", True),
        ("answer.candidates[0].name", False),
        ("answer.choices[0].message", False),
    ],
)
def test_a_chat_that_is_handed_over_is_known_by_its_replies(read: str, is_chat: bool) -> None:
    text = outline(f"def f(chat, text):\n    answer = chat.send_message(text)\n    return {read}")
    assert ("goes on with a chat session" in text) is is_chat


def test_how_a_file_is_written_tells_not_which() -> None:
    source = (
        "def f(path, text):\n    open(path, mode='a', encoding='utf-8').write(text.encode('utf-8'))\n    get('a:b')"
    )
    anatomy = Anatomy(SourceModule(source, "agent.py"), Vocabulary())
    calls = anatomy.module.nodes_of(cst.Call)
    assert set().union(*(Resources(anatomy).of(call).outside for call in calls)) == {"a:b"}


def test_what_stands_in_the_body_of_a_class_comes_behind_no_test() -> None:
    source = "import talk\n\nclass Desk:\n    if BUSY:\n        raise RuntimeError\n    first = talk.turn('hello')\n"
    anatomy = Anatomy(SourceModule(source, "agent.py"), Vocabulary())
    body = next(function for function in anatomy.module.classes if function.name == "Desk")
    call = next(iter(body.nodes_of(cst.Call)))
    flags = anatomy.unguarded.races.flags
    assert list(flags.tests_before(call, body)) == []
    assert not flags.guard(call, body)


@pytest.mark.parametrize(
    ("handler", "fails"),
    [("return None", False), ("raise", True), ("log(1)\n                raise ValueError from None", True)],
    ids=["taken", "raised again", "raised otherwise"],
)
def test_the_error_of_a_request_may_leave_what_asks(handler: str, fails: bool) -> None:
    source = f"""
        def ask(client, rows):
            try:
                return client.chat.completions.create(model="m", messages=rows)
            except Exception:
                {handler}

        def turn(client, rows):
            return ask(client, rows)
    """
    anatomy = Anatomy(SourceModule(textwrap.dedent(source), "agent.py"), Vocabulary())
    turn = next(function for function in anatomy.module.functions if function.name == "turn")
    [request] = anatomy.turns.requests(turn)
    assert anatomy.turns.may_fail(request) is fails


@pytest.mark.parametrize(
    ("between", "leads"),
    [
        ("log(reply)", False),
        ("reply = ask()", True),
        ("reply['calls'] = []", True),
        ("reply.pop('calls')", True),
        ("for reply in replies: log(reply)", True),
    ],
    ids=["read", "bound anew", "part set", "part taken out", "bound by a loop"],
)
def test_a_side_that_all_ways_contradict_is_no_way(between: str, leads: bool) -> None:
    source = f"""
        def turn(reply, replies, ask, log):
            if not reply.get("calls"):
                return None
            {between}
            if reply.get("calls"):
                return 1
            return 2
    """
    anatomy = Anatomy(SourceModule(textwrap.dedent(source), "agent.py"), Vocabulary())
    turn = next(function for function in anatomy.module.functions if function.name == "turn")
    last = turn.nodes_of(cst.Return)[-1]
    graph = anatomy.flow(turn)
    assert graph.reaches(graph.entry, graph.at(last), exceptions=False) is leads
