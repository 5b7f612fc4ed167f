"""A program's own words: which classes are messages and calls, and what is found in a program that names all itself."""

from __future__ import annotations

import ast
from functools import partial
from pathlib import Path

import pytest

from lint_rules.anatomy.dialect import lower
from lint_rules.anatomy.dialect.parts import Parts
from lint_rules.anatomy.dialect.votes import Votes, votes_of
from lint_rules.check import Options, check_source
from lint_rules.files import neighbours
from lint_rules.finding import Finding
from lint_rules.program.modules import MOST_HOPS, MOST_IMPORTED, Program, indexed
from lint_rules.program.values import Values
from lint_rules.rules.catalogue import BY_CODE

RECORDS = """
from dataclasses import dataclass, field


@dataclass
class Wish:
    ref: str
    tool: str
    options: dict


@dataclass
class Turn:
    speaker: str
    said: str = ""
    wishes: list[Wish] = field(default_factory=list)
    answers: str = ""
"""

LOOP = """
import json

from openai import OpenAI

{records}


class Desk:
    def __init__(self, tools):
        self.client = OpenAI()
        self.tools = tools
        self.turns: list[Turn] = []

    def sent(self):
        found = []
        for turn in self.turns:
            if turn.answers:
                found.append({{"role": "tool", "tool_call_id": turn.answers, "content": turn.said}})
                continue
            message = {{"role": turn.speaker, "content": turn.said}}
            if turn.wishes:
                message["tool_calls"] = [
                    {{"id": w.ref, "function": {{"name": w.tool, "arguments": json.dumps(w.options)}}}}
                    for w in turn.wishes
                ]
            found.append(message)
        return found

    def work(self, question):
        self.turns.append(Turn("user", question))
        for _ in range(8):
            reply = self.client.chat.completions.create(model="gpt-4o", messages=self.sent()).choices[0].message
            wishes = [
                Wish(c.id, c.function.name, json.loads(c.function.arguments or "{{}}")) for c in reply.tool_calls or []
            ]
            self.turns.append(Turn("assistant", reply.content or "", wishes))
            if not wishes:
                return reply.content
            for wish in wishes:
                {skip}
                result = self.tools[wish.tool](**wish.options)
                self.turns.append(Turn("tool", str(result), answers=wish.ref))
        raise RuntimeError("too many rounds")

    def trim(self):
        {cut}
"""


def program(records: str = RECORDS, cut: str = "pass", skip: str = "pass") -> str:
    return LOOP.format(records=records, cut=cut, skip=skip)


def findings(source: str, path: Path, *codes: str) -> list[Finding]:
    path.write_text(source)
    options = Options(frozenset(codes or BY_CODE))
    return list(check_source(source.encode(), str(path), options, neighbours=neighbours).findings)


def test_what_classes_are_is_told_by_what_is_done_with_them() -> None:
    module = indexed("desk.py", program().encode())
    assert module is not None
    values = Values(Program(None, module))
    parts = Parts(values, module, [Votes(values, module)])
    assert {cls.name: words for cls, words in parts.words.items()} == {
        "Wish": {"ref": "id", "tool": "name", "options": "input"},
        "Turn": {"speaker": "role", "said": "content", "wishes": "tool_calls", "answers": "tool_call_id"},
    }
    assert [parts.kind(cls) for cls in module.classes] == ["call", "message", None]


def test_a_class_with_the_same_fields_that_nothing_is_done_with_is_neither() -> None:
    module = indexed("desk.py", (RECORDS + "\nTurn('alice', 'hello').speaker == 'bob'\n").encode())
    assert module is not None
    values = Values(Program(None, module))
    assert Parts(values, module, [Votes(values, module)]).words == {}


def test_what_only_says_who_speaks_is_no_message() -> None:
    source = """
class Desk:
    def __init__(self, speaker="system"):
        self.speaker = speaker

    def opening(self, text):
        return {"role": self.speaker, "content": text}
"""
    module = indexed("desk.py", source.encode())
    assert module is not None
    values = Values(Program(None, module))
    assert Parts(values, module, [Votes(values, module)]).words == {}


@pytest.mark.parametrize("apart", [False, True], ids=["one file", "two files"])
def test_a_cut_of_turns_is_a_cut_of_messages(tmp_path: Path, apart: bool) -> None:
    (tmp_path / "records.py").write_text(RECORDS)
    records = "from records import Turn, Wish" if apart else RECORDS
    (found,) = findings(program(records, cut="self.turns = self.turns[-20:]"), tmp_path / "desk.py", "AGL602")
    assert "`self.turns`" in found.message
    assert findings(program(records), tmp_path / "desk.py", "AGL602") == []


def test_no_fix_is_offered_that_would_be_written_in_the_words_of_the_provider(tmp_path: Path) -> None:
    source = program(skip="if wish.tool not in self.tools: continue")
    found = findings(source, tmp_path / "desk.py", "AGL601")
    assert [finding.fix for finding in found if finding.fix is not None] == []
    assert any("`wish`" in finding.message for finding in found)


def test_a_fix_that_says_no_word_of_a_message_is_offered(tmp_path: Path) -> None:
    source = program(cut="room = max(12 - len(self.tools), 0); self.turns = self.turns[-room:]")
    (found,) = findings(source, tmp_path / "desk.py", "AGL703")
    assert "`self.turns[-0:]`" in found.message
    assert found.fix is not None


def test_nothing_but_words_changes() -> None:
    """Places and statements are those of the file."""
    source = program().encode()
    tree = ast.parse(source)
    assert lower(tree, source, "desk.py", None, partial(votes_of, find=None)).has_parts
    places = [(type(node), node.lineno, node.col_offset) for node in ast.walk(tree) if isinstance(node, ast.stmt)]
    assert places == [
        (type(node), node.lineno, node.col_offset) for node in ast.walk(ast.parse(source)) if isinstance(node, ast.stmt)
    ]


KIT = """
from litellm import acompletion
from openai import OpenAI

client = OpenAI()


def line(who, said, **more):
    return {"role": who, "content": said, **more}


class Entry(dict):
    def __init__(self, who, said, **more):
        super().__init__(role=who, content=said, **more)


class Turn:
    def __init__(self, who, said="", wishes=None, ref=None):
        self.who = who
        self.said = said
        self.wishes = wishes
        self.ref = ref

    def packed(self):
        made = {"role": self.who, "content": self.said}
        if self.wishes:
            made["tool_calls"] = self.wishes
        if self.ref is not None:
            made["tool_call_id"] = self.ref
        return made


def told(text):
    return Turn("user", f"({text})").packed()


def step(client, strand, **rest):
    reply = client.chat.completions.create(messages=strand, max_tokens=100, **rest)
    return reply.choices[0].message


async def later(strand, **rest):
    return await acompletion(messages=strand, **rest)


def put_down(rows, leaf):
    "Adds one."
    rows.append(leaf)


def settled(strand):
    return client.chat.completions.create(model="m", messages=strand)


def twice(rows, leaf):
    rows.append(leaf)
    rows.append(leaf)


def doubled(who, said):
    return {"role": who, "content": said, "again": said}


async def slow(who, said):
    return {"role": who, "content": said}
"""


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("line('user', text)", "{'role': 'user', 'content': text}"),
        ("line(said=text, who=side, name='n')", "{'role': side, 'content': text, 'name': 'n'}"),
        ("line('user', line('tool', text))", "{'role': 'user', 'content': {'role': 'tool', 'content': text}}"),
        ("Entry('user', text, name='n')", "{'role': 'user', 'content': text, 'name': 'n'}"),
        ("Turn('user', text).packed()", "{'role': 'user', 'content': text}"),
        ("Turn('tool', ask(text), ref='1').packed()", "{'role': 'tool', 'content': ask(text), 'tool_call_id': '1'}"),
        (
            "Turn('assistant', wishes=x).packed()",
            "{'role': 'assistant', 'content': '', **({'tool_calls': x} if x else {})}",
        ),
        ("told(text)", "{'role': 'user', 'content': '(' + str(text) + ')'}"),
        (
            "step(client, log, tools=t)",
            "client.chat.completions.create(messages=log, max_tokens=100, tools=t).choices[0].message",
        ),
        ("await later(log)", "await litellm.acompletion(messages=log)"),
        ("put_down(self.log, line('user', text))", "self.log.append({'role': 'user', 'content': text})"),
        ("settled(log)", "kit.client.chat.completions.create(model='m', messages=log)"),
        ("doubled('user', text)", "{'role': 'user', 'content': text, 'again': text}"),
    ],
)
def test_a_call_is_what_it_comes_to(written: str, meant: str) -> None:
    assert ast.unparse(_in_kit(written)) == meant


@pytest.mark.parametrize(
    "written",
    [
        "twice(log, text)",
        "doubled('user', ask(text))",
        "line(*parts)",
        "line('user', **more, **more)",
        "put_down(rows(), text)",
        "slow('user', text)",
        "later(log)",
        "put_down",
    ],
)
def test_a_call_that_does_more_stays(written: str) -> None:
    assert ast.unparse(_in_kit(written)) == ast.unparse(ast.parse(written))


def _in_kit(written: str) -> ast.AST:
    """The expression in a file that imports the kit, in the provider's words."""
    names = "line, Entry, Turn, told, step, later, put_down, twice, doubled, slow, settled"
    source = f"from kit import {names}\nasync def f():\n    x = {written}\n    line('user', x)\n"

    def find(path: str, module: str) -> tuple[str, bytes] | None:
        return ("kit.py", KIT.encode()) if module == "kit" else None

    tree = ast.parse(source)
    assert lower(tree, source.encode(), "main.py", find, partial(votes_of, find=find)).is_changed
    function = tree.body[1]
    assert isinstance(function, ast.AsyncFunctionDef)
    assert isinstance(function.body[0], ast.Assign)
    return function.body[0].value


def test_what_a_file_does_itself_is_looked_at_there() -> None:
    """Only messages that it puts together are put where they are made."""
    source = KIT + "\n\ndef f(c, log):\n    put_down(log, step(c, log))\n"
    tree = ast.parse(source)
    lower(tree, source.encode(), "kit.py", None, partial(votes_of, find=None))
    assert ast.unparse(tree.body[-1]).endswith("put_down(log, step(c, log))")


def test_objects_that_are_sent_under_one_role_are_messages_of_it(tmp_path: Path) -> None:
    records = (
        RECORDS
        + """

@dataclass
class Outcome:
    about: str
    words: str

    def sent(self):
        return {"role": "tool", "tool_call_id": self.about, "content": self.words}
"""
    )
    module = indexed("desk.py", program(records).encode())
    assert module is not None
    values = Values(Program(None, module))
    parts = Parts(values, module, [Votes(values, module)])
    outcome = next(cls for cls in module.classes if cls.name == "Outcome")
    assert parts.kind(outcome) == "message"
    assert parts.roles == {outcome: "tool"}
    assert parts.words[outcome] == {"about": "tool_call_id", "words": "content"}


PROTOCOL = """
from dataclasses import dataclass, field
from typing import Protocol


@dataclass
class Wish:
    ref: str
    tool: str = ""
    options: dict | None = None


@dataclass
class Turn:
    speaker: str
    said: str = ""
    wishes: list[Wish] = field(default_factory=list)
    answers: str = ""


@dataclass
class Outcome:
    said: str = ""
    wishes: list[Wish] = field(default_factory=list)


class Engine(Protocol):
    async def move(self, strand: list[Turn]) -> Outcome: ...


class Shed:
    def __init__(self, *tools):
        self.tools = {tool.name: tool for tool in tools}

    async def use(self, title, given):
        tool = self.tools.get(title)
        return await tool.work(given)
"""
WORK = """
from protocol import Engine, Shed, Turn


async def work(engine: Engine, shed: Shed, strand: list[Turn]):
    while True:
        outcome = await engine.move(strand)
        strand.append(Turn("assistant", outcome.said, outcome.wishes))
        if not outcome.wishes:
            return outcome.said
        for wish in outcome.wishes:
            found = await shed.use(wish.tool, wish.options)
            strand.append(Turn("tool", str(found), answers=wish.ref))
"""


def _protocol(path: str, module: str) -> tuple[str, bytes] | None:
    return ("protocol.py", PROTOCOL.encode()) if module == "protocol" else None


def test_calls_are_what_is_run_by_name_and_answered_also_where_nothing_is_rendered() -> None:
    """A helper of another file looks the tool up; a reply is what holds calls and becomes a message."""
    module = indexed("work.py", WORK.encode())
    assert module is not None
    program = Program(_protocol, module, WORK.encode())
    protocol = votes_of("protocol.py", PROTOCOL.encode(), _protocol)
    assert protocol is not None
    values = Values(program)
    parts = Parts(values, module, [Votes(values, module), protocol])
    assert {cls.name: (parts.kind(cls), words) for cls, words in parts.words.items()} == {
        "Wish": ("call", {"ref": "id", "tool": "name", "options": "arguments"}),
        "Turn": ("message", {"speaker": "role", "said": "content", "wishes": "tool_calls", "answers": "tool_call_id"}),
        "Outcome": ("reply", {"said": "content", "wishes": "tool_calls"}),
    }


def test_what_was_told_of_classes_that_have_moved_meanwhile_is_passed_over() -> None:
    """The file of the classes is written anew while files are checked."""
    before = votes_of("work.py", WORK.encode(), lambda path, name: ("protocol.py", f"\n{PROTOCOL}".encode()))
    program = Program(_protocol, module := indexed("work.py", WORK.encode()), WORK.encode())
    assert before is not None
    assert module is not None
    assert before.given
    told = Parts(values := Values(program), module, [before, Votes(values, module)])
    assert told.words == Parts(values, module, [Votes(values, module)]).words


def test_what_gets_a_history_and_gives_a_reply_asks_a_model() -> None:
    tree = ast.parse(WORK)
    assert lower(tree, WORK.encode(), "work.py", _protocol, partial(votes_of, find=_protocol)).has_parts
    called = [node.func for node in ast.walk(tree) if isinstance(node, ast.Call)]
    names = [func.attr for func in called if isinstance(func, ast.Attribute)]
    assert [str(name) for name in names if name == "chat"] == ["move"]


def test_what_is_looked_up_and_never_answered_is_no_call() -> None:
    source = """
class Edge:
    def __init__(self, source, target):
        self.source = source
        self.target = target


def link(nodes, edges: list[Edge]):
    for edge in edges:
        nodes[edge.source].add(edge.target)
"""
    module = indexed("graph.py", source.encode())
    assert module is not None
    values = Values(Program(None, module))
    assert Parts(values, module, [Votes(values, module)]).words == {}


def test_a_file_sees_no_more_of_its_project_than_the_bounds_say() -> None:
    """However far its imports reach, and however many there are."""
    read = []

    def find(path: str, module: str) -> tuple[str, bytes]:
        read.append(module)
        return f"{module}.py", "".join(f"from {module}_{n} import C{n}\n" for n in range(3)).encode()

    names = "".join(f"from m{n} import A{n}\n" for n in range(40))
    values = Values(Program(find))
    module = indexed("all.py", (names + "x = [" + ", ".join(f"A{n}.y" for n in range(40)) + "]\n").encode())
    assert module is not None
    for frame in module.frames:
        for node in frame.nodes:
            values.of(node, frame)
    assert len(values.program._far) == MOST_IMPORTED
    assert max(values.program._far.values()) <= MOST_HOPS
    assert len(read) < 500


def test_a_type_that_is_made_of_itself_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    source = b"""\
from typing import Dict, List, Union
Json = Union[Dict[str, "Json"], List["Json"], Dict[int, "Json"], str]
def given(value: Json):
    return value
"""
    read: list[object] = []
    module = indexed("types.py", source)
    assert module is not None
    monkeypatch.setattr(
        ast, "parse", lambda *given, parse=ast.parse, **more: read.append(given) or parse(*given, **more)
    )
    values = Values(Program(None))
    for frame in module.frames:
        for node in frame.nodes:
            if isinstance(node, ast.expr):
                values.of(node, frame)
    assert len(read) <= 3
