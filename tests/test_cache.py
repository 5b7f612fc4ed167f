"""The cache: never another answer than without it, whatever was done to it."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from test_dialect import RECORDS, program

from lint_rules import cache as cache_module
from lint_rules import check, run
from lint_rules.cache import Cache
from lint_rules.run import Outcome, Task

FIXTURE = Path(__file__).parent.parent / "fixtures/shallow_message_copy/bad_squeeze_arguments.py"
BAD = FIXTURE.read_text(encoding="utf-8")
OPTIONS = check.Options(frozenset({"AGL101", "AGL201", "AGL301"}))


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def tasks(*names: str, options: check.Options = OPTIONS) -> list[Task]:
    return [Task(name, options) for name in names]


def checked(*names: str, options: check.Options = OPTIONS) -> list[Outcome]:
    return list(run.check_tasks(tasks(*names, options=options), 1, Cache("cached")))


def analysed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The files that are analysed from now on."""
    seen: list[str] = []
    real = check.check_source

    def spy(source: bytes, path: str, *args: object, **options: object) -> check.Report:
        seen.append(path)
        return real(source, path, *args, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(check, "check_source", spy)
    return seen


def facts(outcomes: list[Outcome]) -> list[object]:
    return [(o.path, o.findings, o.suppressed, o.error) for o in outcomes]


def index() -> Path:
    [found] = Path("cached").glob("*/*.json")
    return found


def entries() -> dict[str, Any]:
    return json.loads(index().read_bytes().partition(b"\n")[2])


def test_an_unchanged_file_is_not_analysed_again(monkeypatch: pytest.MonkeyPatch) -> None:
    Path("agent.py").write_text(BAD)
    Path("clean.py").write_text("x = 1\n")
    first = checked("agent.py", "clean.py")
    assert first[0].findings
    seen = analysed(monkeypatch)
    assert facts(checked("agent.py", "clean.py")) == facts(first)
    assert seen == []


def test_changed_bytes_are_analysed_and_the_time_alone_says_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    Path("agent.py").write_text(BAD)
    checked("agent.py")
    seen = analysed(monkeypatch)
    os.utime("agent.py", (1, 1))
    checked("agent.py")
    assert seen == []
    Path("agent.py").write_text("x = 1\n")
    os.utime("agent.py", (1, 1))
    assert not checked("agent.py")[0].findings
    assert seen == ["agent.py"]


def test_other_options_are_another_question(monkeypatch: pytest.MonkeyPatch) -> None:
    Path("agent.py").write_text(BAD)
    assert checked("agent.py")[0].findings
    assert not checked("agent.py", options=check.Options(frozenset({"AGL301"})))[0].findings
    seen = analysed(monkeypatch)
    assert checked("agent.py")[0].findings
    assert seen == []


@pytest.mark.parametrize(
    ("checkout", "changed", "known"),
    [(True, "rules/rule.py", False), (False, "__init__.py", False), (False, "rules/rule.py", True)],
)
def test_another_program_of_the_same_version(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, checkout: bool, changed: str, known: bool
) -> None:
    """A file of a checkout may be another at any time; an installation is written as a whole."""
    package = tmp_path / "package"
    (package / "rules").mkdir(parents=True)
    for name in ("__init__.py", "rules/rule.py"):
        (package / name).write_text("")
    if checkout:
        (tmp_path / "pyproject.toml").write_text("")
    monkeypatch.setattr(cache_module, "__file__", str(package / "cache.py"))
    Path("agent.py").write_text(BAD)
    checked("agent.py")
    os.utime(package / changed, (1, 1))
    seen = analysed(monkeypatch)
    assert checked("agent.py")[0].findings
    assert seen == ([] if known else ["agent.py"])


def two_files() -> None:
    """An agent with a finding that rests on its neighbour."""
    Path("agent.py").write_text(
        "from turn import answer\n"
        "def talk(client, history):\n"
        "    history.append({'role': 'user', 'content': 'x'})\n"
        "    return answer(client, list(history), history.append)\n"
    )
    loop = (
        "def answer(client, messages, record):\n"
        "    for _ in range(9):\n"
        "        m = client.chat.completions.create(model='m', messages=messages).choices[0].message\n"
        "        record(m)\n"
        "        if not m.tool_calls:\n"
        "            return m.content\n"
        "        for c in m.tool_calls:\n"
        "            record({'role': 'tool', 'tool_call_id': c.id, 'content': run(c)})\n"
    )
    Path("turn.py").write_text(loop)


def test_findings_that_rest_on_a_neighbour_change_with_it(monkeypatch: pytest.MonkeyPatch) -> None:
    two_files()
    assert [f.code for f in checked("agent.py")[0].findings] == ["AGL301"]
    seen = analysed(monkeypatch)
    assert [f.code for f in checked("agent.py")[0].findings] == ["AGL301"]
    assert seen == []
    Path("turn.py").write_text("def answer(client, messages, record):\n    return ''\n")
    assert not checked("agent.py")[0].findings
    Path("turn.py").unlink()
    assert not checked("agent.py")[0].findings
    assert seen == ["agent.py", "agent.py"]


def test_what_others_have_asked_of_a_neighbour_before_counts_for_each(monkeypatch: pytest.MonkeyPatch) -> None:
    """A neighbour of several files is analysed once: with the first, the others rest on what that has read for it."""
    two_files()
    Path("again.py").write_text(Path("agent.py").read_text())
    made = "client.chat.completions.create(model='m', messages=messages).choices[0].message"
    asking = Path("turn.py").read_text().replace(made, "ask(client, messages)")
    Path("turn.py").write_text(f"from far import ask\n{asking}")
    Path("far.py").write_text(f"def ask(client, messages):\n    return {made}\n")
    assert [[f.code for f in found.findings] for found in checked("again.py", "agent.py")] == [["AGL301"], ["AGL301"]]
    seen = analysed(monkeypatch)
    checked("again.py", "agent.py")
    assert seen == []
    Path("far.py").write_text("def ask(client, messages):\n    return None\n")
    checked("again.py", "agent.py")
    assert seen == ["again.py", "agent.py"]


CUT = check.Options(frozenset({"AGL602"}))


def desk(records: str) -> str:
    """A program whose own classes, which it imports, are messages."""
    return program(records, cut="self.turns = self.turns[-20:]")


@pytest.mark.parametrize("dots", ["", "."], ids=["absolute", "relative"])
def test_what_a_neighbour_imports_is_looked_for_beside_it(monkeypatch: pytest.MonkeyPatch, dots: str) -> None:
    """`records` is one module for the file, another one for the package `kept` from which it imports."""
    Path("kept").mkdir()
    Path("desk.py").write_text(desk(f"from {dots}kept.turns import Turn, Wish\nfrom {dots}records import LIMIT"))
    Path("kept/turns.py").write_text(f"from {dots}records import Turn, Wish\n")
    Path("kept/records.py").write_text(RECORDS)
    Path("records.py").write_text("LIMIT = 3\n")
    assert [f.code for f in checked("desk.py", options=CUT)[0].findings] == ["AGL602"]
    seen = analysed(monkeypatch)
    checked("desk.py", options=CUT)
    assert seen == []
    Path("kept/records.py").write_text("Turn = Wish = None\n")
    assert not checked("desk.py", options=CUT)[0].findings
    assert seen == ["desk.py"]


def test_an_unrelated_module_of_the_name_that_a_neighbour_imports_is_no_change(monkeypatch: pytest.MonkeyPatch) -> None:
    Path("kept").mkdir()
    Path("desk.py").write_text(desk("from kept.turns import Turn, Wish"))
    Path("kept/turns.py").write_text("from .records import Turn, Wish\n")
    Path("kept/records.py").write_text(RECORDS)
    first = checked("desk.py", options=CUT)
    assert first[0].findings
    seen = analysed(monkeypatch)
    Path("records.py").write_text(RECORDS.replace("speaker", "person"))
    assert facts(checked("desk.py", options=CUT)) == facts(first)
    assert seen == []


@pytest.mark.parametrize(
    "damage",
    [
        b"",
        b"[]",
        b"{",
        b'{"agent.py": 1}',
        b'{"agent.py": ["x", 1, 2]}',
        b'{"agent.py": {}}',
        b"\xff\xfe\0",
        b"[" * 100_000,
    ],
)
def test_a_damaged_index_is_none(damage: bytes) -> None:
    Path("agent.py").write_text(BAD)
    first = checked("agent.py")
    index().write_bytes(damage)
    assert facts(checked("agent.py")) == facts(first)
    assert facts(checked("agent.py")) == facts(first)


def any_json(chance: random.Random, like: Any) -> Any:
    """A value that resembles another, with something in it exchanged for any JSON."""
    strange = [None, True, -1, 10**400, 1e400, "", "x", [], {}, [[]], {"a": 1, "b": 2}, ["AGL000"] * 8, [1] * 5]
    if chance.random() < 0.1 or not isinstance(like, list | dict) or not like:
        return chance.choice(strange)
    place = chance.choice(list(like) if isinstance(like, dict) else range(len(like)))
    exchanged = like.copy()
    exchanged[place] = any_json(chance, like[place])
    return exchanged


def test_any_json_in_its_place_is_none() -> None:
    """Also what has the right shape, and wrong types or values deep within it."""
    two_files()
    first = checked("agent.py")
    whole, like = index().read_bytes(), entries()
    assert like["agent.py"][4], "neighbours are in it"
    chance = random.Random(18)
    for number in range(100):
        damaged = json.dumps(any_json(chance, like)).encode()
        if damaged != whole.partition(b"\n")[2]:
            confirmed = chance.random() < 0.5
            index().write_bytes((whole.partition(b"\n")[0] + b"\n") * confirmed + damaged)
            assert facts(checked("agent.py")) == facts(first), (number, damaged)
            assert index().read_bytes() == whole


def test_a_damaged_entry_is_none() -> None:
    Path("agent.py").write_text(BAD)
    first = checked("agent.py")
    damaged = entries()
    damaged["agent.py"][3][0][1:3] = [None, 5]
    confirmation = index().read_bytes().partition(b"\n")[0]
    index().write_bytes(confirmation + b"\n" + json.dumps(damaged).encode())
    assert facts(checked("agent.py")) == facts(first)


def test_what_could_not_be_analysed_is_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    Path("broken.py").write_text("def f(:\n")
    checked("broken.py")
    seen = analysed(monkeypatch)
    assert [f.code for f in checked("broken.py")[0].findings] == ["AGL000"]
    assert seen == ["broken.py"]


def test_an_entry_that_nobody_used_for_long_is_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    Path("old.py").write_text("x = 1\n")
    Path("new.py").write_text("x = 1\n")
    checked("old.py")
    now = cache_module.time.time()
    monkeypatch.setattr(cache_module.time, "time", lambda: now + 31 * 86_400)
    checked("new.py")
    assert set(entries()) == {"new.py"}


def test_where_nothing_can_be_kept_the_run_goes_on() -> None:
    Path("agent.py").write_text(BAD)
    Path("cached").write_text("a file where the folder would be")
    assert checked("agent.py")[0].findings


@pytest.mark.skipif(os.name != "posix", reason="limits")
@pytest.mark.parametrize("size", [0, 30, 100])
def test_a_disk_that_is_full(size: int) -> None:
    """A limit on the size of files stands for the disk: not all that is first written in the folder fits."""
    Path("agent.py").write_text(BAD)
    limited = (
        "import resource, sys; from lint_rules.cli import main; "
        f"resource.setrlimit(resource.RLIMIT_FSIZE, ({size}, {size})); "
        "sys.exit(main(['check', '--select=AGL201', '--isolated', '--output-format=concise', 'agent.py']))"
    )
    env = {**os.environ, "PYTHONPATH": str(Path(__file__).parent.parent)}
    run = subprocess.run([sys.executable, "-c", limited], capture_output=True, text=True, check=False, env=env)
    assert (run.returncode, run.stderr) == (1, "")
    assert run.stdout.startswith("agent.py:")
    left = sorted(path.name for path in Path(".looplint_cache").rglob("*") if path.is_file())
    assert left == ([] if size < 100 else [".gitignore", "CACHEDIR.TAG"]), "no folder that git would take up"
    assert Path(".looplint_cache").exists() == bool(left)


def test_a_folder_of_the_user_stays_as_it_is() -> None:
    Path("agent.py").write_text(BAD)
    Path("cached").mkdir()
    checked("agent.py")
    assert not Path("cached/.gitignore").exists()


def test_the_folder_keeps_itself_out_of_repositories() -> None:
    Path("agent.py").write_text(BAD)
    checked("agent.py")
    assert Path("cached/.gitignore").read_text().endswith("*\n")
    assert Path("cached/CACHEDIR.TAG").read_text().startswith("Signature: 8a477f597d28d172789f06886806bc55")


def test_the_command_line_keeps_beside_the_configuration_unless_told_not_to() -> None:
    Path("agent.py").write_text(BAD)
    root = str(Path(__file__).parent.parent)
    env = {**os.environ, "PYTHONPATH": root}
    words = [sys.executable, "-m", "lint_rules", "check", "--select=AGL201", "agent.py"]
    subprocess.run([*words, "--no-cache"], capture_output=True, check=False, env=env)
    assert not Path(".looplint_cache").exists()
    first = subprocess.run(words, capture_output=True, text=True, check=False, env=env)
    assert Path(".looplint_cache").is_dir()
    again = subprocess.run(words, capture_output=True, text=True, check=False, env=env)
    assert (again.stdout, again.returncode) == (first.stdout, 1)
    subprocess.run([*words, "--cache-dir=elsewhere"], capture_output=True, check=False, env=env)
    assert Path("elsewhere").is_dir()


def test_runs_at_the_same_time_leave_a_whole_index() -> None:
    Path("agent.py").write_text(BAD)
    env = {**os.environ, "PYTHONPATH": str(Path(__file__).parent.parent)}
    words = [sys.executable, "-m", "lint_rules", "check", "--select=AGL201", "--cache-dir=cached", "agent.py"]
    running = [subprocess.Popen(words, stdout=subprocess.DEVNULL, env=env) for _ in range(4)]
    assert [process.wait(timeout=120) for process in running] == [1] * 4
    assert set(entries()) == {"agent.py"}
    assert os.listdir(index().parent) == [index().name], "no temporary file is left"
