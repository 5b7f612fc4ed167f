"""The gate lets pass what a rule could speak about, and keeps libcst away from the rest."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest
from sampling import sample

from lint_rules.check import Options, Vocabulary, check_source, passes_gate
from lint_rules.gate import mentions
from lint_rules.gate.speaking import Gate
from lint_rules.rules.catalogue import BY_CODE

FIXTURES = Path(__file__).parent.parent / "fixtures"
PROGRAMS = sorted(FIXTURES.rglob("*.py"))
ALL = Options(codes=frozenset(BY_CODE))


@pytest.mark.parametrize("path", sample(PROGRAMS, 8, "gate"), ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_no_finding_is_lost(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each rule by itself: another rule's need must not be what lets a file pass.

    That the rule of its folder is let through is seen at every fixture: `test_fixtures.py` asks that rule alone.
    """
    source = path.read_bytes()
    with monkeypatch.context() as patch:
        patch.setattr(mentions, "agent", lambda *_: True)
        patch.setattr(Gate, "speaking", lambda _, codes: frozenset(codes))
        found = {finding.code for finding in check_source(source, "a.py", ALL).findings}
    kept_back = [code for code in found if not passes_gate(source, "a.py", Options(codes=frozenset({code})))]
    assert not kept_back


def may_speak(source: str, *codes: str) -> bool:
    return bool(Gate(ast.parse(source)).speaking(codes or BY_CODE))


@pytest.mark.parametrize(
    "source",
    [
        "text = 'The assistant has a role: to be content.'",
        "for message in messages:\n    print(message)",
        "queue.append(dict(item))",
        "user = {'role': 'admin', 'name': name}",
        "data = json.loads(body)",
        "history = FileHistory(path)\nhistory.append(line)",
        "producer.send(topic, messages=list(messages))",
        "from events import ToolCall\nhandlers[ToolCall] = print",
        "emit(event.tool_call_id, tool_call=name)",
        "def show(calls: dict[str, ToolCall]): calls.clear()",
        "if member.role == 'user' or member.type == 'admin': members.append(member)",
        "Message(role, content)",
    ],
)
def test_what_is_no_agent_is_kept_back(source: str) -> None:
    assert not may_speak(source)


@pytest.mark.parametrize(
    "source",
    [
        "m = {'role': 'user', 'content': x}\nc = {**m}\nc['content']['a'] = 1",
        "slim = dict(Message(role=r, content=c))\nslim.parts.append(1)",
        "def f(h: list['ChatMessage']):\n    h.append(h[:])",
        "ask(messages=h[1:], **request)\nh.append(1)",
        "r.post(url, json={'model': m, 'messages': h[-5:]})\nh.append(1)",
        "from litellm import completion as c\nc(model, h[:])\nh += [1]",
        "agent.memory = []\nagent.ask(question)\nagent.memory.append(agent.memory[0])\nagent.memory[:1]",
    ],
)
def test_an_agent_in_any_form_passes(source: str) -> None:
    assert may_speak(source, "AGL201")


_REPLY = "reply = client.chat.completions.create(model=m, messages=h)\n"


@pytest.mark.parametrize(
    ("code", "without", "needed"),
    [
        ("AGL101", "h.append(reply.tool_calls)", "threading.Thread(target=f)"),
        ("AGL103", "h.append(reply.tool_calls)", "class A:\n    h = []"),
        ("AGL104", "h.append(reply.tool_calls)", "async def f(): pass"),
        ("AGL302", _REPLY, "while x:\n    reply = ask_model(h)"),
        ("AGL408", "run(reply.tool_calls)", "try:\n    pass\nexcept E:\n    pass"),
        ("AGL410", _REPLY, "ask(tools=t)"),
        ("AGL601", "reply.tool_calls", "h.append({'role': 'tool'})"),
        ("AGL602", "reply.tool_calls[:n]", "h[-n:]"),
        ("AGL606", "reply.tool_calls", _REPLY),
        ("AGL610", "{'role': 'system', 'content': c}", "h.pop(0)"),
        ("AGL612", "if reply.tool_calls == h: pass", "if m not in h: pass"),
        ("AGL701", "reply.tool_calls[n:]", "text[:n]"),
        ("AGL705", "try:\n    reply.tool_calls\nexcept E:\n    'token'", "try:\n    pass\nexcept E as e:\n    pass"),
    ],
)
def test_a_rule_asks_for_what_it_cannot_do_without(code: str, without: str, needed: str) -> None:
    assert not may_speak(without, code)
    assert may_speak(f"{without}\n{needed}", code)


@pytest.mark.parametrize(
    ("source", "loops"),
    [
        (_REPLY + "for m in h: print(m)", False),
        (f"for m in h:\n    {_REPLY}", True),
        (f"def ask(h):\n    {_REPLY}def run(h):\n    return ask(h)\nwhile x: run(h)", True),
        (f"class A:\n    def ask(self, h):\n        {_REPLY}while x: a.ask(h)", True),
        (f"def ask(h):\n    {_REPLY}while x: print(h)\nask(h)", False),
    ],
)
def test_rounds_ask_a_model_by_any_way(source: str, loops: bool) -> None:
    assert Gate(ast.parse(source)).asks_in_loop is loops


def test_a_rule_it_does_not_know_gets_all_agents() -> None:
    assert may_speak("if reply.tool_calls: pass", "AGL999")
    assert not may_speak("if reply.calls: pass", "AGL999")


@pytest.mark.parametrize(
    "vocabulary",
    [
        Vocabulary(llm_calls=("gateway.brew",)),
        Vocabulary(history_names=("brew",)),
        Vocabulary(tool_call_attributes=("brew",)),
    ],
)
def test_the_words_of_the_user_pass(vocabulary: Vocabulary) -> None:
    assert mentions.agent(b"brew(xs)\n", vocabulary)
    assert mentions.user_words(b"brew(xs)\n", vocabulary)
    assert not mentions.agent(b"cook(xs)\n", vocabulary)


@pytest.mark.parametrize(
    ("source", "deep"),
    [
        ("x" + " and x" * 300, True),
        ("if x: pass\n" + "elif x: pass\n" * 300, True),
        ("import a" + ".a" * 300, True),
        ("[x " + "for x in x " * 300 + "]", True),
        ("x = [\n" + "    (1, 'a', {'b': 2}),\n" * 300 + "]", False),
        ("x = 1\n" * 300, False),
    ],
)
def test_levels_are_those_of_libcst(source: str, deep: bool) -> None:
    assert (Gate(ast.parse(source)).levels >= 300) is deep


def test_a_file_without_agents_does_not_import_libcst() -> None:
    script = (
        "import sys\n"
        "from lint_rules.check import Options, check_source\n"
        "from lint_rules.rules.catalogue import BY_CODE\n"
        "source = b'def f(messages):\\n    print(messages)\\n'\n"
        "assert not check_source(source, 'a.py', Options(frozenset(BY_CODE))).findings\n"
        "assert not any(name.partition('.')[0] == 'libcst' for name in sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True, cwd=FIXTURES.parent)


SLOW = {
    "concurrent", "dataclasses", "hashlib", "inspect", "libcst", "multiprocessing", "pathlib", "random",
    "shutil", "signal", "tempfile", "tokenize", "unicodedata",
}  # fmt: skip
"""Modules that take longer to import than a small file to check."""
TREES = {"ast", "importlib.util", "lint_rules.fix", "threading"}
"""Those that only a file with words of agents is worth."""


@pytest.mark.parametrize("options", [[], ["--no-cache", "--isolated"]])
@pytest.mark.parametrize(("name", "slow"), [("messages", SLOW), ("people", SLOW | TREES)])
def test_a_file_without_agents_imports_little(name: str, slow: set[str], options: list[str], tmp_path: Path) -> None:
    """Some of these may be there before we begin: what the interpreter's own start brings is not ours."""
    (tmp_path / "a.py").write_text(f"def f({name}):\n    print({name})\n")
    (tmp_path / "pyproject.toml").write_text("[tool.looplint]\nextend-exclude = ['old/']\n")
    script = (
        "import sys\n"
        "before = set(sys.modules)\n"
        "from lint_rules.cli import main\n"
        f"assert main(['check', *{options}, 'a.py']) == 0\n"
        f"assert not (set(sys.modules) - before) & {slow}, set(sys.modules) & {slow}\n"
    )
    environ = {**os.environ, "PYTHONPATH": str(FIXTURES.parent)}
    for _ in range(2):  # the second time, the cache knows it
        subprocess.run([sys.executable, "-c", script], check=True, cwd=tmp_path, env=environ)


def test_links_that_other_plugins_leave_on_the_tree_are_not_followed() -> None:
    """pyflakes gives nodes a parent, also the `Load` that all trees of a process share: a walk would never end."""
    tree = ast.parse("x = messages[0]")
    for node in ast.walk(tree):
        for child in ast.iter_child_nodes(node):
            child._pyflakes_parent = node  # type: ignore[attr-defined]
    assert Gate(tree).levels < 20
