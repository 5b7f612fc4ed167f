"""Rewritten programs do the same as before, and what the linter finds in them does not get less.

LOOPLINT_HEAVY=1 proves each rewrite with every port and with the scenarios of all rules, and measures all fixtures.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from variants import REWRITES, ratchet
from variants.project import Files
from variants.survival import FIXTURES, SEED, SHARED, Tally, read, write
from variants.words import own_words

HEAVY = os.environ.get("LOOPLINT_HEAVY") == "1"
heavy = pytest.mark.skipif(not HEAVY, reason="takes minutes: LOOPLINT_HEAVY=1 runs it")
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
def test_a_program_of_two_files_does_the_same(name: str, tmp_path: Path) -> None:
    made = REWRITES[name](PROGRAM, SEED, frozenset())
    assert made is not None
    assert made != PROGRAM
    assert printed(made, tmp_path / "after") == printed(PROGRAM, tmp_path / "before")


PORTS = sorted((SHARED / "ports").glob("*/*/" if HEAVY else "*/before/"))


@ports_are_here
@pytest.mark.parametrize("name", REWRITES)
@pytest.mark.parametrize("port", PORTS, ids=lambda path: f"{path.parent.name}-{path.name}")
def test_the_scenario_of_a_port_shows_the_same(port: Path, name: str, tmp_path: Path) -> None:
    made = REWRITES[name](read(port), SEED, frozenset())
    if made is None:
        pytest.skip("does not apply")
    printed(made, tmp_path / "port", "run_scenario.py")


@heavy
@pytest.mark.parametrize("name", REWRITES)
@pytest.mark.parametrize(
    "rule", sorted(path.parent for path in FIXTURES.glob("*/scenario.py")), ids=lambda path: path.name
)
def test_the_scenario_of_a_rule_shows_the_same(rule: Path, name: str, tmp_path: Path) -> None:
    """The bad programs of the rule still do harm, and the good ones none. Words of the scenario stay."""
    shutil.copy(FIXTURES / "fake_model.py", tmp_path)
    folder = shutil.copytree(rule, tmp_path / rule.name)
    outside = frozenset(re.findall(r"[A-Za-z_]\w*", (rule / "scenario.py").read_text(encoding="utf-8")))
    for path in sorted(rule.glob("*_*")):
        if path.name.startswith(("bad_", "good_")):
            if (made := REWRITES[name](read(path), SEED, outside)) is not None:
                write(made, folder / path.name if path.is_dir() else folder)
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


def test_a_new_fixture_that_survives_needs_no_new_figures_and_one_that_is_lost_does() -> None:
    figures = {"some": {"bad": [8, 10], "good": [5, 5]}}
    assert not ratchet.check(figures, {"some": Tally((9, 11), (6, 6), ())})
    fallen = Tally((8, 11), (5, 5), ("a/bad_new.py c",))
    assert ratchet.check(figures, {"some": fallen})
    assert not ratchet.same_cases(figures, {"some": fallen})


def test_survival_has_not_fallen() -> None:
    figures = ratchet.read_figures()
    for section, tallies in ratchet.sections(heavy=HEAVY).items():
        fallen = ratchet.check(figures[section], tallies)
        assert not fallen, f"{section}: " + "\n".join(fallen)
