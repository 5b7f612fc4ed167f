"""One file from bytes to findings: whatever the bytes are, there is a report."""

from __future__ import annotations

import gc
import subprocess
import sys
import textwrap
import weakref
from pathlib import Path
from typing import Any

import libcst
import pytest

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.program.locks import Locks
from lint_rules.check import Options, Report, Vocabulary, check_source, find_fixes, map_source
from lint_rules.files import neighbours
from lint_rules.finding import NOT_ANALYSED
from lint_rules.rules.catalogue import BY_CODE
from lint_rules.syntax import depth
from lint_rules.syntax.memo import once
from lint_rules.syntax.module import SourceModule
from lint_rules.syntax.python import Unreadable

ALL = Options(codes=frozenset({"AGL101", "AGL201", "AGL301", "AGL401", "AGL501"}))
"""What the samples here are about; what other rules say of them is not."""
FIXTURES = Path(__file__).parent.parent / "fixtures"
BAD = (FIXTURES / "shallow_message_copy/bad_squeeze_arguments.py").read_text("utf-8")
FOUND = ["AGL201"]
GOOD = FIXTURES / "shallow_message_copy/good_bookkeeping_on_objects.py"


def check(source: str | bytes) -> Report:
    return check_source(source.encode() if isinstance(source, str) else source, "a.py", ALL)


def codes(report: Report) -> list[str]:
    return [finding.code for finding in report.findings]


# -- nesting ------------------------------------------------------------------------------------------------------

DEEP = {
    "parentheses": lambda n: "(" * n + "x" + ")" * n,
    "and": lambda n: "x" + " and x" * n,
    "plus": lambda n: "x" + " + x" * n,
    "not": lambda n: "not " * n + "x",
    "lambda": lambda n: "lambda: " * n + "x",
    "attributes": lambda n: "x" + ".x" * n,
    "calls": lambda n: "x" + "()" * n,
    "comprehension": lambda n: "[x " + "for x in x " * n + "]",
    "elif": lambda n: "if x: pass\n" + "elif x: pass\n" * n,
    "import": lambda n: "import x" + ".x" * n,
    "strings": lambda n: "x = (" + "'a'\n" * n + ")",
}


@pytest.mark.parametrize("kind", DEEP)
def test_deep_code_keeps_its_findings(kind: str) -> None:
    assert codes(check(f"{BAD}\n{DEEP[kind](80)}\n")) == FOUND


@pytest.mark.parametrize("kind", ["and", "elif", "import"])
def test_very_deep_code_keeps_its_findings(kind: str) -> None:
    assert codes(check(f"{BAD}\n{DEEP[kind](800)}\n")) == FOUND


def test_code_too_deep_for_libcst_ends_no_process(tmp_path: Path) -> None:
    """In a process of its own: a stack that overflows would take this one along."""
    script = (
        "import sys; from pathlib import Path; from test_check import check\n"
        "for path in sys.argv[1:]:\n"
        "    print(check(Path(path).read_bytes()).findings[0].message)\n"
    )
    paths = [tmp_path / f"{kind}.py" for kind in DEEP if kind != "strings"]
    for path in paths:
        path.write_text(f"{BAD}\n{DEEP[path.stem](20_000)}\n")
    done = subprocess.run(
        [sys.executable, "-c", script, *map(str, paths)], cwd=Path(__file__).parent, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert set(done.stdout.splitlines()) == {"the code is nested too deeply to be analysed"}


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="this Python knows the syntax")
def test_newer_syntax_is_analysed_when_it_is_not_too_deep() -> None:
    newer = f"{BAD}\ntype X = int\nx = f'{{f'{{1}}'}}'\n"
    assert codes(check(newer)) == FOUND
    assert codes(check(newer + DEEP["elif"](800))) == FOUND
    for kind in ("parentheses", "and", "lambda"):
        assert codes(check(newer + DEEP[kind](20_000))) == [NOT_ANALYSED]


@pytest.mark.parametrize(
    "source", ["x = [" + "(1, 'a, b'), " * 9_000 + "]", "x = 1  # (((\n" * 9_000, "'''" + "(" * 9_000 + "'''"]
)
def test_long_text_is_not_deep(source: str) -> None:
    assert depth.levels_of_text(source.encode()) < 200


def test_room_gives_back_what_it_took() -> None:
    limit = sys.getrecursionlimit()
    assert depth.with_room(depth.SHALLOW + 1, sys.getrecursionlimit) > limit
    assert sys.getrecursionlimit() == limit
    assert depth.with_room(99, lambda: depth.with_room(99, lambda: "in one room")) == "in one room"
    with pytest.raises(KeyError):
        depth.with_room(depth.SHALLOW + 1, lambda: {}["x"])
    with pytest.raises(Unreadable, match="nested too deeply"):
        depth.with_room(depth.DEEPEST + 1, int)


def test_deep_code_in_the_other_doors() -> None:
    deep, deeper = (f"{BAD}\n{DEEP['elif'](n)}\n".encode() for n in (800, 3_000))
    assert len(find_fixes(deep, "a.py", ALL)[1]) == 1
    assert "history" in {value.kind for value in map_source(deep, "a.py", ALL).known}
    with pytest.raises(ValueError, match="nested too deeply"):
        map_source(deeper, "a.py", ALL)


# -- bytes --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("source", "message", "line", "column"),
    [
        ("x = 1\n".encode("utf-16"), "the file is UTF-16", 1, 1),
        (b"x = 1\ny = '\0'\n", "the file holds a NUL byte", 2, 6),
        (b"# coding: unheard-of\nx = 1\n", "unknown encoding: unheard-of", 1, 1),
        (b"\xef\xbb\xbf# coding: latin-1\nx = 1\n", "a byte order mark says UTF-8", 1, 1),
        (b"x = 1\ny = '\xff'\n", "the file is not valid utf-8: byte 0xff", 2, 6),
        (b"x = 1\n# caf\xe9 au lait\n", "the file is not valid utf-8: byte 0xe9", 2, 6),
        ("x = 1\r# é ".encode() + b"\xe9\n", "the file is not valid utf-8: byte 0xe9", 2, 5),
        (b"# coding: utf-8\n# \xe9\n", "the file is not valid utf-8: byte 0xe9", 2, 3),
        ("x = 'é' é\n".encode(), "syntax error: invalid syntax", 1, 9),
        ("# coding: latin-1\nx = 'é' é\n".encode("latin-1"), "syntax error: invalid syntax", 2, 9),
        (b"def f(:\n", "syntax error: ", 1, 7),
    ],
)
@pytest.mark.parametrize("words", [b"", b"messages = 'role'"], ids=["no agent", "an agent"])
def test_a_broken_file_is_told_in_one_clear_line(
    source: bytes, message: str, line: int, column: int, words: bytes
) -> None:
    [finding] = check(source + words).findings
    assert finding.code == NOT_ANALYSED
    assert finding.message.startswith(message)
    assert (finding.span.line, finding.span.column) == (line, column)


@pytest.mark.parametrize("words", [b"", b"# messages\n"], ids=["no agent", "an agent"])
def test_other_encodings_may_be_in_comments(words: bytes) -> None:
    assert not check(b"# coding: latin-1\n# caf\xe9\n" + words).findings


@pytest.mark.parametrize("words", ["", "# messages\n"], ids=["no agent", "an agent"])
@pytest.mark.parametrize("source", ["nonlocal x\n", "def f(a, a): pass\n", "return 1\n", "async with a: await b\n"])
def test_what_only_the_compiler_refuses_is_fine(source: str, words: str) -> None:
    assert not check((words + source).encode()).findings


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "latin-1"])
def test_encodings_that_python_reads(encoding: str) -> None:
    cookie = "# coding: latin-1\n" if encoding == "latin-1" else ""
    report = check(f"{cookie}{BAD}\nx = 'é'\n".replace("—", "-").encode(encoding, "replace"))
    assert codes(report) == FOUND


def test_a_notebook_is_no_python_even_if_its_json_is() -> None:
    for path in ("a.ipynb", "A.IPYNB"):
        [finding] = check_source(b'{"cells": [{"role": "messages"}]}', path, ALL).findings
        assert finding.code == NOT_ANALYSED
        assert finding.message.startswith("this is a notebook, not its program")
        with pytest.raises(ValueError, match="notebook"):
            map_source(b"{}", path, ALL)


# -- values that come back to themselves --------------------------------------------------------------------------

CIRCLES = {
    "a list that its elements come from": """
        def run(calls, seen):
            for calls in calls:
                seen.add(calls["tool_calls"])
                handle(calls, seen)

        def handle(message, seen):
            for call in message["tool_calls"]:
                seen.add(call["id"])
            return client.chat.completions.create(model="m", messages=[message])
        """,
    "a function that unwraps what it is given": """
        def unwrap(message):
            if isinstance(message, list):
                return unwrap(message[0])
            message["tool_calls"] = []
            return message

        def run(messages):
            reply = client.chat.completions.create(model="m", messages=messages).choices[0].message
            messages.append(unwrap(reply))
        """,
    "the first of what a function gives of its own parts": """
        def depth(schema):
            return max(depth(child)[0] for child in schema["properties"].values()) + 1, "items" in schema

        def run(messages, last):
            calls = client.chat.completions.create(model="m", messages=messages).choices[0].message.tool_calls
            return depth(calls)[0] == depth(last)[0]
        """,
    "a text that is made of itself": """
        def shorten(messages, text):
            note = "a" f"{note}"
            text = text[:200] + note
            messages.append({"role": "tool", "tool_call_id": "1", "content": text})
            return client.chat.completions.create(model="m", messages=messages)
        """,
}


def test_context_managers_that_take_each_other_hold_no_lock() -> None:
    source = """
        class Agent:
            def first(self):
                with self.second():
                    yield

            def second(self):
                with self.first():
                    yield
        """
    anatomy = Anatomy(SourceModule(textwrap.dedent(source).encode(), "a.py"), Vocabulary())
    locks = Locks(anatomy.calls)
    managers = [function for function in anatomy.module.functions if function.nodes_of(libcst.Yield)]
    assert len(managers) == 2
    for function in managers:
        assert locks.around(function.nodes_of(libcst.Yield)[0], function) == frozenset()


def test_each_question_is_answered_once_and_no_chain_of_them_is_long() -> None:
    class Numbers:
        def __init__(self) -> None:
            self.asked: list[int] = []

        @once(circular=-1)
        def last(self, number: int) -> int:
            self.asked.append(number)
            return self.last((number + 1) % 1000) if number else 0

    numbers = Numbers()
    assert (numbers.last(999), numbers.last(999), numbers.asked) == (0, 0, [999, 0])
    assert numbers.last(1) == -1
    assert len(numbers.asked) < 20

    class Circle:
        @once(circular="round")
        def of(self, thing: str) -> str:
            return self.of("b" if thing == "a" else "a")

    assert Circle().of("a") == "round"


@pytest.mark.parametrize("circle", CIRCLES)
def test_what_leads_back_to_itself_has_an_end(circle: str) -> None:
    source = "from openai import OpenAI\n\nclient = OpenAI()\n" + textwrap.dedent(CIRCLES[circle])
    report = check_source(source.encode(), "a.py", Options(frozenset(BY_CODE)))
    assert [finding.message for finding in report.findings if finding.code == NOT_ANALYSED] == []


# -- libcst and rules that fail -----------------------------------------------------------------------------------


class Panic(BaseException):
    """What native code raises that has lost its way: no Exception."""


@pytest.mark.parametrize("error", [Panic("at the disco"), RuntimeError("lost"), RecursionError("deep"), MemoryError()])
def test_a_failure_of_libcst_is_a_finding(monkeypatch: pytest.MonkeyPatch, error: BaseException) -> None:
    def fail(*_: object) -> None:
        raise error

    monkeypatch.setattr(libcst, "parse_module", fail)
    assert codes(check(BAD)) == [NOT_ANALYSED]
    assert codes(check(f"{BAD}\n{DEEP['and'](100)}\n")) == [NOT_ANALYSED]


def test_an_interrupt_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(libcst, "parse_module", interrupt)
    with pytest.raises(KeyboardInterrupt):
        check(BAD)


# -- memory -------------------------------------------------------------------------------------------------------


def test_a_silent_file_is_let_go_of_without_a_look_for_garbage(monkeypatch: pytest.MonkeyPatch) -> None:
    indexed: list[weakref.ref[SourceModule]] = []
    make = SourceModule.__init__

    def noted(module: SourceModule, *given: Any, **more: Any) -> None:
        indexed.append(weakref.ref(module))
        make(module, *given, **more)

    monkeypatch.setattr(SourceModule, "__init__", noted)
    gc.disable()
    try:
        assert codes(check_source(GOOD.read_bytes(), str(GOOD), Options(frozenset(BY_CODE)))) == []
        assert indexed
        assert [module for module in indexed if module() is not None] == []
    finally:
        gc.enable()


@pytest.mark.parametrize("folder", sorted(FIXTURES.glob("*/")), ids=lambda folder: folder.name)
def test_a_file_is_let_go_of_without_a_look_for_garbage(folder: Path) -> None:
    """Its tree, its graphs and what was found: much of it is tied in knots."""
    paths = [next(iter(sorted(folder.glob(names))), None) for names in ("bad_*.py", "good_*.py")]
    gc.collect()
    gc.freeze()  # what other tests have left is not looked through
    gc.disable()
    try:
        for path in filter(None, paths):
            check_source(path.read_bytes(), str(path), Options(frozenset(BY_CODE)), neighbours=neighbours)
        gc.set_debug(gc.DEBUG_SAVEALL)
        gc.collect()
        kinds = {type(thing) for thing in gc.garbage}
    finally:
        gc.set_debug(0)
        gc.garbage.clear()
        gc.unfreeze()
        gc.enable()
    assert [kind for kind in kinds if kind.__module__.startswith(("lint_rules.", "libcst."))] == []


def test_a_tree_that_only_libcst_can_make_is_no_deeper_than_others() -> None:
    from lint_rules.reading import levels
    from lint_rules.syntax.depth import SHALLOW

    tree = libcst.parse_module("def f(a):\n    return g(a[0], b=[c for c in a])\n")
    assert levels(tree) < SHALLOW
