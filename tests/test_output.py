"""What findings look like: for people, for editors, for programs, for GitHub."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
from marked_engine import Project, reporting

from lint_rules.finding import Finding, FixOffer, Related, Span
from lint_rules.output import renderer
from lint_rules.output.page import Page

SOURCE = """\
def answer(client, history):
    working = copy.copy(history)
    # a line
    while True:
        reply = client.send(
            messages=working,
        )
        history.append(reply)
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Project:
    return Project(tmp_path, monkeypatch, capsys)


def finding(span: Span, *related: Related, help: str = "", message: str = "what goes wrong") -> Finding:
    return Finding("agent.py", span, "AGL301", "stale-history-snapshot", message, help, related=related)


def drawn(source: str, span: Span, *related: Related, help: str = "", others: dict[str, str] | None = None) -> str:
    """The text block of one finding, without its header."""
    files = {"agent.py": source, **(others or {})}
    header, *rows = renderer("text")([finding(span, *related, help=help)], Page(files.get))
    assert header == f"agent.py:{span.line}:{span.column}: AGL301 stale-history-snapshot: what goes wrong"
    assert rows.pop() == ""
    return "\n".join(rows) + "\n"


# -- text ---------------------------------------------------------------------------------------------------------


def test_text_from_end_to_end(project: Project) -> None:
    project.write("agent.py", content=SOURCE)
    related = Related(Span(2, 15, 2, 33), "copied here, before the loop")
    project.use(reporting(finding(Span(6, 22, 6, 29), related, help="copy in each round")))
    assert project.run("check").out == (
        """\
agent.py:6:22: AGL301 stale-history-snapshot: what goes wrong
  |
2 |     working = copy.copy(history)
  |               ------------------ copied here, before the loop
...
6 |             messages=working,
  |                      ^^^^^^^
  |
  = help: copy in each round

Found 1 problem in 1 file (1 file checked).
"""
    )


def test_a_gap_of_one_line_is_filled() -> None:
    assert drawn(SOURCE, Span(4, 5, 4, 16), Related(Span(2, 5, 2, 12), "the copy")) == (
        """\
  |
2 |     working = copy.copy(history)
  |     ------- the copy
3 |     # a line
4 |     while True:
  |     ^^^^^^^^^^^
  |
"""
    )


def test_two_places_on_one_line() -> None:
    related = (Related(Span(2, 25, 2, 32), "this"), Related(Span(2, 5, 2, 12), "that"))
    assert drawn(SOURCE, Span(2, 15, 2, 33), *related) == (
        """\
  |
2 |     working = copy.copy(history)
  |               ^^^^^^^^^^^^^^^^^^
  |     ------- that
  |                         ------- this
  |
"""
    )


def test_the_first_line_of_a_range_is_marked() -> None:
    assert drawn(SOURCE, Span(5, 17, 7, 10)) == (
        """\
  |
5 |         reply = client.send(
  |                 ^^^^^^^^^^^^
  |
"""
    )


def test_line_numbers_stand_in_a_column() -> None:
    source = "first\n" + "\n" * 98 + "last\n"
    assert drawn(source, Span(100, 1, 100, 5), Related(Span(1, 1, 1, 6), "before")) == (
        """\
    |
  1 | first
    | ----- before
...
100 | last
    | ^^^^
    |
"""
    )


def test_places_in_other_files() -> None:
    related = (
        Related(Span(2, 3, 2, 7), "locked here", path="locks.py"),
        Related(Span(9, 1, 9, 2), "gone", path="gone.py"),
        Related(Span(1, 1, 1, 2), "and here", path="locks.py"),
    )
    assert drawn("x = 1\n", Span(1, 1, 1, 2), *related, others={"locks.py": "a\n  lock\n"}) == (
        """\
  |
1 | x = 1
  | ^
  |
 ::: gone.py:9:1: gone
 ::: locks.py:2:3
  |
1 | a
  | - and here
2 |   lock
  |   ---- locked here
  |
"""
    )


def test_help_of_several_lines() -> None:
    assert drawn("x\n", Span(1, 1, 1, 2), help="write\n    y\ninstead").endswith(
        """\
  = help: write
              y
          instead
"""
    )


@pytest.mark.parametrize(
    ("line", "mark", "shown", "marks"),
    [
        ("\tif x:\ty()", "y()", "    if x:    y()", "             ^^^"),
        ("名前 = 値(1)", "値(1)", "名前 = 値(1)", "       ^^^^^"),
        ("e\u0301 = 1", "1", "e\u0301 = 1", "    ^"),
        ("'\U0001f600' + x", "x", "'\U0001f600' + x", "       ^"),
        ("'\x1b[31m' + x", "x", "'␛[31m' + x", "          ^"),
        ("'\u202e' + x", "x", "'\ufffd' + x", "      ^"),
        ("a\x0cb", "b", "a␌b", "  ^"),
        ("x = 1   ", "1", "x = 1", "    ^"),
    ],
)
def test_marks_stand_under_what_they_mark(line: str, mark: str, shown: str, marks: str) -> None:
    start = line.index(mark) + 1
    rows = drawn(line + "\n", Span(1, start, 1, start + len(mark))).splitlines()
    assert rows[1:3] == [f"1 | {shown}", f"  | {marks}"]


def test_a_long_line_is_cut_around_the_mark() -> None:
    line = "a" * 3000 + "MARK" + "b" * 3000
    _, shown, marks, _ = drawn(line, Span(1, 3001, 1, 3005)).splitlines()
    assert len(shown) < 200
    assert shown[4:].startswith("...a")
    assert shown.endswith("b...")
    assert shown[marks.index("^") : marks.rindex("^") + 1] == "MARK"
    _, shown, marks, _ = drawn(line, Span(1, 3001, 1, 6001)).splitlines()
    assert len(marks) <= len(shown), "marks end with what is shown"


@pytest.mark.parametrize(
    "span", [Span(1, 1, 1, 1), Span(1, 99, 1, 120), Span(3, 1, 3, 1), Span(2, 1, 1, 1), Span(1, 3, 1, 2)]
)
def test_a_range_outside_the_text_is_marked_all_the_same(span: Span) -> None:
    assert drawn("x = 1\r\n\r\n", span).count("^") == 1


@pytest.mark.parametrize("span", [Span(9, 1, 9, 2), Span(0, 0, 0, 0)])
def test_a_line_that_does_not_exist_is_not_drawn(span: Span) -> None:
    assert drawn("x = 1\n", span, help="help") == "  = help: help\n"


def test_lines_end_where_python_says() -> None:
    assert "2 | y" in drawn("x = '\u2028\x0c'\ry", Span(2, 1, 2, 2))


def test_colour_changes_no_character() -> None:
    findings = [finding(Span(6, 22, 6, 29), Related(Span(2, 15, 2, 33), "copied"), help="copy")]
    bare = list(renderer("text")(findings, Page(lambda _: SOURCE)))
    coloured = list(renderer("text")(findings, Page(lambda _: SOURCE, colour=True)))
    assert coloured != bare
    assert [re.sub("\x1b\\[[0-9;]*m", "", line) for line in coloured] == bare


def test_a_file_that_is_gone_leaves_the_header_and_the_help() -> None:
    found = finding(Span(1, 1, 1, 2), help="help")
    assert list(renderer("text")([found], Page(lambda _: None)))[1:] == ["  = help: help", ""]


# -- concise ------------------------------------------------------------------------------------------------------


def test_concise(project: Project) -> None:
    project.write("agent.py", content=SOURCE)
    project.use(reporting(finding(Span(6, 22, 6, 29), message="what\ngoes \x1b[31mwrong")))
    run = project.run("check", "--output-format", "concise")
    assert run.out == "agent.py:6:22: AGL301 what\\ngoes \\x1b[31mwrong\n"


# -- json ---------------------------------------------------------------------------------------------------------


def test_json(project: Project) -> None:
    project.write("agent.py", content=SOURCE)
    project.use(
        reporting(
            Finding(
                "agent.py",
                Span(6, 22, 6, 29),
                "AGL301",
                "stale-history-snapshot",
                "it is “stale”",
                "copy in each round",
                "medium",
                (Related(Span(2, 15, 2, 33), "here"), Related(Span(4, 1, 4, 2), "there", path="other.py")),
                FixOffer("unsafe", "Send the history"),
            ),
            finding(Span(1, 1, 1, 1)),
        )
    )
    first, second = project.check().json
    assert first == {
        "path": "agent.py",
        "cell": None,
        "line": 6,
        "column": 22,
        "end_line": 6,
        "end_column": 29,
        "code": "AGL301",
        "name": "stale-history-snapshot",
        "message": "it is “stale”",
        "help": "copy in each round",
        "confidence": "medium",
        "related": [
            {"path": "agent.py", "cell": None, "line": 2, "column": 15, "message": "here"},
            {"path": "other.py", "cell": None, "line": 4, "column": 1, "message": "there"},
        ],
        "fix": {"applicability": "unsafe", "title": "Send the history"},
    }
    assert (second["related"], second["fix"], second["help"], second["confidence"]) == ([], None, "", "high")


def test_json_of_nothing(project: Project) -> None:
    project.write("agent.py", content=SOURCE)
    assert project.check().out == "[]\n"


# -- github -------------------------------------------------------------------------------------------------------


def test_github(project: Project) -> None:
    project.write("agent.py", content=SOURCE)
    project.use(reporting(finding(Span(5, 17, 7, 10), message="100% wrong: a, b\nc\r::error::")))
    run = project.run("check", "--output-format", "github")
    assert run.out == (
        "::error file=agent.py,line=5,col=17,endLine=7,title=AGL301 stale-history-snapshot"
        "::100%25 wrong: a, b%0Ac%0D::error::\n"
    )


@pytest.mark.skipif(os.name != "posix", reason="names that Windows forbids")
def test_github_escapes_the_file_name(project: Project) -> None:
    project.write("a,b:c%\n.py")
    run = project.run("check", "--output-format", "github")
    assert run.out.startswith("::error file=a%2Cb%3Ac%25%0A.py,line=1,")
