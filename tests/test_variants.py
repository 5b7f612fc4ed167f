"""Rewritten programs do the same as before, and what the linter finds in them does not get less.

LOOPLINT_HEAVY=1, as in CI, measures more fixtures; LOOPLINT_LONG=1 proves each rewrite with every port and with the
scenarios of rules, and measures still more.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from sampling import HEAVY
from variants import REWRITES, ratchet
from variants.habits import HABITS, Habit, messages_dumped, tokens_counted, with_habit
from variants.project import Files
from variants.survival import FIXTURES, SEED, SHARED, Tally, fixtures, read, write
from variants.words import own_words

LONG = os.environ.get("LOOPLINT_LONG") == "1"
ports_are_here = pytest.mark.skipif(
    not (SHARED / "ports").is_dir(), reason="the ports lie beside the project, and do not here"
)

PROGRAM = {
    "records.py": """
from __future__ import annotations
from dataclasses import dataclass, field, replace


@dataclass
class Request:
    id: str
    name: str = "?"


@dataclass
class Message:
    role: str
    content: str = ""
    requests: list[Request] = field(default_factory=list)

    @property
    def is_last(self) -> bool:
        return not self.requests

    def shorter(self) -> Message:
        return replace(self, content=self.content[:3])


class Store:
    def __init__(self, limit: int = 3) -> None:
        self.limit = limit
        self.messages: list[Message] = []

    def append(self, message: Message) -> None:
        self.messages.append(message)
        while len(self.messages) > self.limit:
            self.messages.pop(0)
""",
    "main.py": """
import json
import threading
from types import SimpleNamespace
from records import Message, Request, Store


def get_weather(city):
    return f"cold in {city}"


TOOLS = {"get_weather": get_weather}


class Agent(threading.Thread):
    def __init__(self, client, store: Store, **options):
        super().__init__()
        self.client = client
        self.store = store
        self.options = options

    def run(self):
        for number in range(3):
            sent = [vars_of(message) for message in self.store.messages]
            reply = self.client.chat.create(messages=sent, tools=list(TOOLS))
            requests = [Request(call.id, name=call.function.name) for call in reply.tool_calls or ()]
            self.store.append(Message("assistant", reply.content, requests=requests))
            match self.store.messages[-1]:
                case Message(requests=[Request(id, name), *_]):
                    arguments = json.loads(reply.tool_calls[0].function.arguments)
                    self.store.append(Message("tool", content=f"{id}: {TOOLS[name](**arguments)}"))
            if self.store.messages[-1].is_last and number:
                return


def vars_of(message):
    return {"role": message.role, "content": message.shorter().content}


def main():
    function = SimpleNamespace(name="get_weather", arguments='{"city": "Oslo"}')
    replies = [
        SimpleNamespace(content="", tool_calls=[SimpleNamespace(id="1", function=function)]),
        SimpleNamespace(content="It is cold.", tool_calls=None),
    ]
    def create(messages, tools):
        print(messages, tools)
        return replies.pop(0)
    client = SimpleNamespace(chat=SimpleNamespace(create=create))
    agent = Agent(client, store=Store(limit=5), retries=2)
    agent.store.append(Message(role="user", content="How is Oslo?"))
    agent.start()
    agent.join()
    print([(message.role, message.content) for message in agent.store.messages], agent.options["retries"])


main()
""",
}

CHAT = {
    "main.py": """
import json
from library import Client


class Talk:
    def __init__(self, client):
        self.client = client
        self.history = [{"role": "system", "content": "Be brief."}]

    def ask(self, text):
        self.history.append({"role": "user", "content": text})
        for _ in range(3):
            reply = self.client.chat.completions.create(model="m", messages=self.history, tools=[]).choices[0].message
            if not reply.tool_calls:
                self.history.append({"role": "assistant", "content": reply.content})
                return reply.content
            calls = [made.model_dump() for made in reply.tool_calls]
            self.history.append({"role": "assistant", "content": reply.content, "tool_calls": calls})
            for call in reply.tool_calls:
                arguments = json.loads(call.function.arguments)
                result = f"{call.function.name} of {arguments['city']}"
                self.history.append({"role": "tool", "tool_call_id": call.id, "content": result})
        return None


def once(client, text):
    messages = [{"role": "user", "content": text}]
    reply = client.chat.completions.create(model="m", messages=messages, tools=[]).choices[0].message
    messages.append({"role": "assistant", "content": reply.content})
    return client.chat.completions.create(model="m", messages=messages[-1:]).choices[0].message.content


client = Client()
talk = Talk(client)
assert talk.ask("How is Oslo?") == "answer 2"
assert once(client, "And Rome?") == "answer 4"
""",
}
LIBRARY = {
    "library.py": """
import json
from types import SimpleNamespace


class Call(SimpleNamespace):
    def model_dump(self):
        return {"id": self.id, "type": "function", "function": vars(self.function)}


class Client:
    def __init__(self):
        self.sent = []
        self.chat = SimpleNamespace(completions=SimpleNamespace(create=self.create))

    def create(self, *, messages, **settings):
        print(json.dumps(messages, sort_keys=True), settings)
        self.sent.append(len(messages))
        function = SimpleNamespace(name="get_weather", arguments='{"city": "Oslo"}')
        calls = [Call(id="1", function=function)] if len(self.sent) == 1 else None
        message = SimpleNamespace(content=f"answer {len(self.sent)}", tool_calls=calls)
        return SimpleNamespace(choices=[SimpleNamespace(message=message)])
"""
}


def printed(files: Files, folder: Path, script: str = "main.py") -> str:
    write(files, folder)
    return ran(folder, script)


def ran(folder: Path, script: str) -> str:
    done = subprocess.run(
        [sys.executable, "-B", script], cwd=folder, capture_output=True, encoding="utf-8", timeout=300, check=False
    )
    assert done.returncode == 0, f"{folder.name}: {done.stdout[-1500:]}{done.stderr[-1500:]}"
    return done.stdout


# -- what programs do ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", REWRITES)
@pytest.mark.parametrize("seed", [1, 2, 3] if LONG else [SEED])
def test_a_chat_does_the_same(name: str, seed: int, tmp_path: Path) -> None:
    made = REWRITES[name](CHAT, seed, frozenset())
    assert made is not None
    assert made != CHAT
    assert printed({**made, **LIBRARY}, tmp_path / "after") == printed({**CHAT, **LIBRARY}, tmp_path / "before")


@pytest.mark.parametrize("add", HABITS, ids=lambda add: add.__name__)
def test_a_chat_with_a_habit_does_the_same(add: Habit, tmp_path: Path) -> None:
    made = with_habit(add, CHAT, SEED)
    assert (made is None) == (add in {messages_dumped, tokens_counted})  # it keeps no reply as it is
    if made is not None:
        before = printed({**CHAT, **LIBRARY}, tmp_path / "before")
        assert printed({**made, **LIBRARY}, tmp_path / "after") == before


def test_a_program_of_two_files_does_the_same_with_its_own_words(tmp_path: Path) -> None:
    made = own_words(PROGRAM, SEED)
    assert made is not None
    assert printed(made, tmp_path / "after") == printed(PROGRAM, tmp_path / "before")


PORTS = sorted((SHARED / "ports").glob("*/*/" if LONG else "*/before/"))


@ports_are_here
@pytest.mark.parametrize("name", REWRITES if LONG else ["own_words"])
@pytest.mark.parametrize("port", PORTS, ids=lambda path: f"{path.parent.name}-{path.name}")
def test_the_scenario_of_a_port_shows_the_same(port: Path, name: str, tmp_path: Path) -> None:
    made = REWRITES[name](read(port), SEED, frozenset())
    if made is None:
        pytest.skip("does not apply")
    printed(made, tmp_path / "port", "run_scenario.py")


RULES = sorted(path.parent for path in FIXTURES.glob("*/scenario.py"))


@pytest.mark.skipif(not LONG, reason="takes minutes: LOOPLINT_LONG=1 runs it")
@pytest.mark.parametrize("name", REWRITES)
@pytest.mark.parametrize("rule", RULES[::4], ids=lambda path: path.name)
def test_the_scenario_of_a_rule_shows_the_same(rule: Path, name: str, tmp_path: Path) -> None:
    """The bad programs of the rule still do harm, and the good ones none. Words of the scenario stay."""
    shutil.copy(FIXTURES / "fake_model.py", tmp_path)
    folder = shutil.copytree(rule, tmp_path / rule.name)
    outside = frozenset(re.findall(r"[A-Za-z_]\w*", (rule / "scenario.py").read_text(encoding="utf-8")))
    for program in (one for one in fixtures() if one.name.startswith(f"{rule.name}/")):
        if (made := REWRITES[name](program.files, SEED, outside)) is not None:
            path = tmp_path / program.name
            write(made, path if path.is_dir() else folder)
    assert ran(folder, "scenario.py").count("ok ") >= 2


# -- own words ----------------------------------------------------------------------------------------------------


def test_own_words_leave_what_others_demand() -> None:
    made = own_words(PROGRAM, SEED)
    assert made is not None
    left = set(re.findall(r"[A-Za-z_]\w*", "".join(made.values())))
    assert not left & {
        "Message",
        "Request",
        "Store",
        "Agent",
        "is_last",
        "shorter",
        "store",
        "limit",
        "number",
        "TOOLS",
        "vars_of",
    }
    for demanded in (
        ".chat.create(messages=",
        ".function.name",
        ".content",
        "tools=list(",
        "def run(self)",
        "(city)",
        "name=",
    ):
        assert demanded in made["main.py"], demanded


def test_own_words_are_others_for_each_seed_and_the_same_for_one() -> None:
    assert own_words(PROGRAM, 1) == own_words(PROGRAM, 1)
    assert own_words(PROGRAM, 1) != own_words(PROGRAM, 2)


# -- the ratchet --------------------------------------------------------------------------------------------------


def test_figures_may_rise_and_not_fall() -> None:
    figures = {"some": {"bad": [8, 10], "good": [5, 5]}}
    assert not ratchet.check(figures, {"some": Tally((9, 10), (5, 5), ())})
    assert ratchet.check(figures, {"some": Tally((7, 10), (5, 5), ("a/bad_b.py c", "a/good_b.py c"))}) == [
        "some, bad: 7 of 10, was 8 of 10. Lost: a/bad_b.py c"
    ]
    assert ratchet.check(figures, {}) == ["some: not measured any more"]


def test_a_new_fixture_is_no_step_back_and_one_that_is_gone_lets_the_figures_be_taken_anew() -> None:
    figures = {"some": {"bad": [8, 10], "good": [5, 5]}}
    assert not ratchet.check(figures, {"some": Tally((8, 11), (5, 5), ("a/bad_new.py c",))})
    gone = {"some": Tally((7, 9), (5, 5), ())}
    assert ratchet.check(figures, gone)
    assert not ratchet.same_cases(figures, gone)


SECTIONS = ratchet.sections(heavy=HEAVY, long=LONG)


@pytest.mark.parametrize("section", SECTIONS)
def test_survival_has_not_fallen(section: str) -> None:
    if not ratchet.is_here(section):
        pytest.skip("the ports and the other rewrites lie beside the project, and do not here")
    assert ratchet.check(ratchet.read_figures().get(section, {}), SECTIONS[section]()) == []
