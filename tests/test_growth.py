"""No check may cost more than its file grows: counted in calls of functions, which no load of a machine changes."""

from __future__ import annotations

import cProfile
import importlib.util
from collections import Counter
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from lint_rules import noting
from lint_rules.check import check_source
from lint_rules.importers import Given
from lint_rules.syntax.module import SourceModule


def _growth() -> ModuleType:
    path = Path(__file__).parent.parent / "benchmarks" / "growth.py"
    spec = importlib.util.spec_from_file_location("growth", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


growth = _growth()
SMALL, TIMES, MOST, FEW = 200, 4, 10, 600
"""Lines of the small file, how much longer the large one is, how many times as often it may call a function, and so
many calls of one function that nobody minds them: what looks at everything once for each thing calls 16 times as often.
"""


def calls(source: str) -> Counter[str]:
    """How often each function is called to check a file."""
    profile = cProfile.Profile()
    profile.runcall(check_source, source.encode(), "agent.py", growth.ALL)
    found: Counter[str] = Counter()
    for entry in profile.getstats():
        code = entry.code
        found[code if isinstance(code, str) else f"{code.co_filename}:{code.co_firstlineno} {code.co_name}"] += (
            entry.callcount
        )
    return found


@pytest.mark.parametrize("shape", growth.SHAPES)
def test_no_function_is_called_more_often_than_the_file_is_long(shape: str) -> None:
    make = growth.SHAPES[shape]
    calls(make(14))  # what is imported and cached once
    small, large = calls(make(SMALL)), calls(make(SMALL * TIMES))
    dear = {name: (small[name], count) for name, count in large.items() if count > small[name] * MOST + FEW}
    assert not dear, "\n".join(f"{name}: {few} calls, then {many}" for name, (few, many) in sorted(dear.items()))


TURNS = """
def answer(client, messages, record):
    for _ in range(9):
        message = ask(client, messages)
        record(message)
        if not message.tool_calls:
            return message.content
        for call in message.tool_calls:
            record({"role": "tool", "tool_call_id": call.id, "content": run(call)})
"""
PROJECT = {
    "far.py": "def ask(client, messages):\n"
    "    return client.chat.completions.create(messages=messages).choices[0].message\n",
    "turn.py": f"from far import ask\n{TURNS}",
    "talk.py": "import threading\nfrom turn import answer\n\n"
    "def talk(client, history):\n    history.append({'role': 'user', 'content': 'x'})\n"
    "    return answer(client, list(history), history.append)\n\n"
    "def start(client, history):\n    threading.Thread(target=talk, args=(client, history)).start()\n",
}


@pytest.mark.parametrize("room", [0, noting.MOST_KEPT])
def test_a_file_is_analysed_once_for_all_that_look_at_it(
    room: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As it is checked, as those that import it see it, and for what it says of those: however many these are."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(noting, "MOST_KEPT", room)
    indexed: Counter[str] = Counter()
    make = SourceModule.__init__

    def noted(module: SourceModule, source: str, path: str, *given: Any, **more: Any) -> None:
        indexed[path] += 1
        make(module, source, path, *given, **more)

    monkeypatch.setattr(SourceModule, "__init__", noted)
    talks = [f"talk{number}.py" for number in range(8)]
    files = {**PROJECT, **dict.fromkeys(talks, PROJECT["talk.py"])}
    for path, source in files.items():
        Path(path).write_text(source, encoding="utf-8")
    near = Given(sorted(files))
    found = [
        (finding.path, finding.code)
        for path in near.paths
        for finding in check_source(files[path].encode(), path, growth.ALL, neighbours=near).findings
    ]
    assert {path for path, code in found if code == "AGL301"} == {"talk.py", *talks}
    assert (max(indexed.values()) <= 3) == bool(room), indexed
