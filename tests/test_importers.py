"""Who imports a file, and what that tells of it: the way back along its imports."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from lint_rules import run
from lint_rules.cache import Cache
from lint_rules.check import Options, check_source
from lint_rules.files import forget_neighbours
from lint_rules.finding import NOT_ANALYSED
from lint_rules.importers import Given
from lint_rules.project import MOST_IMPORTERS, importers_of, is_imported
from lint_rules.rules.catalogue import BY_CODE
from lint_rules.run import Outcome, Task

STORE = """
from openai import AsyncOpenAI

client = AsyncOpenAI()


class Desk:
    def __init__(self):
        self.talks = {}

    async def shorten(self, guest):
        talk = self.talks[guest]
        order = {"role": "user", "content": "Sum up."}
        reply = await client.chat.completions.create(model="gpt-4o", messages=[*talk, order])
        self.talks[guest] = [*talk[:1], {"role": "assistant", "content": reply.choices[0].message.content}]

    def hear(self, guest, text):
        self.talks[guest].append({"role": "user", "content": text})
"""
HANDLERS = """
from fastapi import FastAPI
from desk import Desk

app = FastAPI()
desk = Desk()


@app.post("/shorten")
async def shorten(guest: str):
    await desk.shorten(guest)
"""
SERVES = "from fastapi import FastAPI\n"
RACE = Options(frozenset({"AGL101"}))


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    forget_neighbours()


def written(files: dict[str, str]) -> Given:
    for path, source in files.items():
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        Path(path).write_text(source)
    return Given(sorted(files))


def importers(given: Given, path: str) -> list[str]:
    return [importer.replace(os.sep, "/") for importer, _ in given.importers(path)]


def test_each_way_to_write_an_import() -> None:
    ways = {
        "plain.py": "import pkg.desk\n",
        "named.py": "import pkg.desk as d, os\n",
        "taken.py": "from pkg.desk import Desk\n",
        "module.py": "from pkg import (\n    other,\n    desk,\n)\n",
        "inside.py": "def f():\n    from pkg.desk import *\n",
        "pkg/beside.py": "from .desk import Desk\n",
        "pkg/dot.py": "from . import desk\n",
        "pkg/sub/above.py": "from ..desk import Desk\n",
        "not.py": "import desk\nx = 'from pkg.desk import Desk'\n# import pkg.desk\n",
    }
    given = written({**ways, "pkg/__init__.py": "", "pkg/sub/__init__.py": "", "pkg/other.py": "", "pkg/desk.py": ""})
    assert importers(given, "pkg/desk.py") == sorted(set(ways) - {"not.py"})


def test_a_package_passes_names_on() -> None:
    given = written(
        {"pkg/__init__.py": "from .desk import Desk\n", "pkg/desk.py": "", "app.py": "from pkg import Desk\n"}
    )
    assert importers(given, "pkg/desk.py") == ["app.py"]


def test_files_that_import_each_other_come_to_an_end() -> None:
    given = written(
        {"a.py": "import b\n", "b.py": "import a\n", "pkg/__init__.py": "from . import c\n", "pkg/c.py": "import pkg\n"}
    )
    assert importers(given, "a.py") == ["b.py"]
    assert importers_of("a.py", given) == []
    assert importers(given, "pkg/c.py") == []


def test_only_files_that_were_given_count_and_what_is_gone_is_left_out() -> None:
    written({"desk.py": "", "app.py": "import desk\n", "late.py": "import desk\n"})
    given = Given(["desk.py", "app.py", "gone.py"])
    assert importers(given, "desk.py") == ["app.py"]
    assert importers(given, "app.py") == []
    assert given.importers("gone.py") == []


def test_the_nearest_come_first_and_there_is_a_bound() -> None:
    many = {f"far{n:02}.py": f"import near\n{SERVES}" for n in range(MOST_IMPORTERS + 5)}
    given = written({"desk.py": "", "near.py": "import desk\n", **many})
    found = [path for path, _ in importers_of("desk.py", given)]
    assert found[0] == "near.py"
    assert len(found) == MOST_IMPORTERS


def test_only_files_on_the_way_to_what_runs_several_things_at_once() -> None:
    given = written(
        {
            "desk.py": "",
            "middle.py": "import desk\n",
            "app.py": f"import middle\n{SERVES}",
            "script.py": "import desk\n",
            "test_desk.py": f"import desk\n{SERVES}\n\ndef test_desk(): ...\n",
            "test_bot.py": f"import desk\n{SERVES}\n\ndef test_command(): ...\n".replace("def test_", "def "),
        }
    )
    assert [path for path, _ in importers_of("desk.py", given)] == ["middle.py", "test_bot.py", "app.py"]


@pytest.mark.parametrize(
    ("source", "beside"),
    [
        (SERVES, True),
        ("import threading\nthreading.Thread(target=f)\n", True),
        ("import json\n", False),
    ],
)
def test_what_runs_several_things_at_once(source: str, beside: bool) -> None:
    given = written({"desk.py": "", "middle.py": "import desk\n", "app.py": f"import middle\n{source}"})
    assert is_imported("desk.py", given) is beside
    assert not is_imported("desk.py", None)


# -- what it brings -----------------------------------------------------------------------------------------------


def found(given: Given | None) -> list[tuple[int, str]]:
    report = check_source(STORE.encode(), "desk.py", RACE, neighbours=given)
    return [(finding.span.line, finding.code) for finding in report.findings]


def test_a_race_that_only_a_caller_shows() -> None:
    given = written({"desk.py": STORE, "app.py": HANDLERS})
    assert found(given) == [(15, "AGL101")]
    assert found(None) == []
    assert found(Given(["desk.py"])) == []


def test_the_finding_names_the_call_in_the_other_file() -> None:
    alone = STORE.partition("    def hear")[0]
    given = written({"desk.py": alone, "app.py": HANDLERS})
    [finding] = check_source(alone.encode(), "desk.py", RACE, neighbours=given).findings
    assert [(note.path, note.span.line) for note in finding.related if note.path] == [("app.py", 11)]


@pytest.mark.parametrize(
    "handlers",
    [
        HANDLERS.replace("    await desk", "    async with locks[guest]:\n        await desk").replace(
            "desk = Desk()", "desk = Desk()\nlocks = defaultdict(asyncio.Lock)"
        ),
        HANDLERS.replace("desk = Desk()\n", "").replace("    await desk", "    desk = Desk()\n    await desk"),
        HANDLERS.replace('@app.post("/shorten")\n', ""),
    ],
    ids=["locked", "own object", "no handler"],
)
def test_callers_that_keep_runs_apart(handlers: str) -> None:
    given = written({"desk.py": STORE, "app.py": f"import asyncio\nfrom collections import defaultdict\n{handlers}"})
    assert found(given) == []


def test_a_caller_that_cannot_be_read_costs_nothing() -> None:
    given = written(
        {"desk.py": STORE, "app.py": HANDLERS, "broken.py": "from desk import Desk\nfrom fastapi import (\n"}
    )
    assert found(given) == [(15, "AGL101")]


def test_callers_through_other_files() -> None:
    middle = "from desk import Desk\n\ndesk = Desk()\n\n\nasync def short(guest):\n    await desk.shorten(guest)\n"
    outer = HANDLERS.replace("from desk import Desk", "import middle").replace("desk = Desk()\n", "")
    given = written({"desk.py": STORE, "middle.py": middle, "app.py": outer.replace("desk.shorten", "middle.short")})
    assert found(given) == [(15, "AGL101")]


@pytest.mark.parametrize(
    ("start", "workers", "told"),
    [
        ("Thread(target=desk.shorten, args=('a',)).start()", "", ["AGL101"]),
        ("pool.submit(desk.shorten, 'a')", "max_workers=4", ["AGL101"]),
        ("pool.submit(desk.shorten, 'a')", "max_workers=1", []),
    ],
)
def test_functions_that_are_handed_on(start: str, workers: str, told: list[str]) -> None:
    alone = STORE.partition("    def hear")[0]
    source = alone.replace("async def", "def").replace("AsyncOpenAI", "OpenAI").replace("await ", "")
    starting = (
        "from concurrent.futures import ThreadPoolExecutor\nfrom threading import Thread\nfrom flask import Flask\n"
        "from desk import Desk\n\napp = Flask(__name__)\n"
        f"pool = ThreadPoolExecutor({workers})\ndesk = Desk()\n\n\n"
        f"@app.post('/')\ndef shorten():\n    {start}\n"
    )
    given = written({"desk.py": source, "app.py": starting})
    report = check_source(source.encode(), "desk.py", RACE, neighbours=given)
    assert [finding.code for finding in report.findings] == told


@pytest.mark.parametrize(("called", "told"), [("await to_thread({})", ["AGL101"]), ("{}()", [])])
def test_a_thread_that_a_coroutine_waits_for(called: str, told: list[str]) -> None:
    """On one event loop nobody gets between two lines that do not wait; in threads somebody does."""
    desk = """
from openai import OpenAI

talk = []


def hear():
    reply = OpenAI().chat.completions.create(model="gpt-4o", messages=talk).choices[0].message
    talk.append(reply)


def trim():
    global talk
    talk = talk[-9:]
"""
    bot = (
        "from asyncio import to_thread\nfrom fastapi import FastAPI\nfrom desk import hear, trim\n"
        "app = FastAPI()\n\n\n"
        f"@app.post('/')\nasync def post():\n    {called.format('hear')}\n    {called.format('trim')}\n"
    )
    given = written({"desk.py": desk, "bot.py": bot})
    report = check_source(desk.encode(), "desk.py", RACE, neighbours=given)
    assert sorted({finding.code for finding in report.findings}) == told


# -- the cache ----------------------------------------------------------------------------------------------------


def checked(*names: str) -> list[Outcome]:
    return list(run.check_tasks([Task(name, RACE) for name in names], 1, Cache("cached")))


def codes(outcomes: list[Outcome]) -> dict[str, list[str]]:
    return {outcome.path: [finding.code for finding in outcome.findings] for outcome in outcomes}


def test_what_a_caller_does_is_part_of_what_is_kept() -> None:
    written({"desk.py": STORE, "app.py": HANDLERS})
    assert codes(checked("desk.py", "app.py"))["desk.py"] == ["AGL101"]
    assert codes(checked("desk.py", "app.py"))["desk.py"] == ["AGL101"], "from the cache"
    assert codes(checked("desk.py"))["desk.py"] == [], "without the file that calls"
    Path("app.py").write_text(HANDLERS.replace('@app.post("/shorten")\n', ""))
    assert codes(checked("desk.py", "app.py"))["desk.py"] == [], "the caller is no handler any more"
    Path("other.py").write_text(HANDLERS)
    assert codes(checked("desk.py", "app.py", "other.py"))["desk.py"] == ["AGL101"], "another one is new"


def test_what_lies_behind_a_caller_is_part_of_what_is_kept() -> None:
    written(
        {
            "desk.py": STORE,
            "app.py": HANDLERS.replace("from desk import Desk", "from shop import Desk"),
            "shop.py": "from desk import Desk\n",
        }
    )
    assert codes(checked("app.py", "desk.py", "shop.py"))["desk.py"] == ["AGL101"]
    Path("shop.py").write_text("class Desk:\n    async def shorten(self, guest): ...\n\nimport desk\n")
    assert codes(checked("app.py", "desk.py", "shop.py"))["desk.py"] == []


def test_processes_know_the_files_that_were_given() -> None:
    more = {f"agent{n}.py": STORE.replace("Desk", f"Desk{n}") + "\n" * 20_000 for n in range(20)}
    written({"desk.py": STORE, "app.py": HANDLERS, **more})
    outcomes = run.check_tasks([Task(name, RACE) for name in ("desk.py", "app.py", *more)], 2)
    assert codes(list(outcomes))["desk.py"] == ["AGL101"]


def test_objects_that_run_each_other_from_two_files() -> None:
    Path("desk.py").write_text(
        "from oracle import made\n"
        "\n"
        "class Desk:\n"
        "    def ask(self, words):\n"
        "        oracle, desk = made(self)\n"
        "        words, rest = words.partition(rest)\n"
        "        return oracle.answer(words) or desk.ask(rest)\n"
        "\n"
        "def both(words):\n"
        "    return Desk(), words\n"
        "\n"
        "def talk(history):\n"
        "    other, history = both(history)\n"
        "    history.append({'role': 'user', 'content': other.ask(history)})\n"
    )
    Path("oracle.py").write_text(
        "from openai import OpenAI\n"
        "from desk import Desk\n"
        "\n"
        "class Oracle:\n"
        "    def __init__(self, desk):\n"
        "        self.desk = desk\n"
        "    def answer(self, words):\n"
        "        said = [{'role': 'user', 'content': words}]\n"
        "        return self.desk.ask(OpenAI().chat.completions.create(model='gpt-5', messages=said))\n"
        "\n"
        "def made(desk):\n"
        "    return Oracle(desk), Desk()\n"
    )
    given = Given(["desk.py", "oracle.py"])
    for path in given.paths:
        report = check_source(Path(path).read_bytes(), path, Options(frozenset(BY_CODE)), neighbours=given)
        assert [finding.message for finding in report.findings if finding.code == NOT_ANALYSED] == []
