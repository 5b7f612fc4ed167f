"""Notebooks: made, read and judged by nbformat, which all of Jupyter uses; checked and mended as programs."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import nbformat
import pytest
from marked_engine import Project, marked, reporting
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output
from published import validate

from lint_rules.cli import main
from lint_rules.finding import Finding, Related, Report, Span
from lint_rules.notebook import Cells, program, written

AGENT = """\
def run(text):
    history.append({"role": "user", "content": text})
    request = list(history)
    for _ in range(9):
        reply = client.chat.completions.create(model="m", messages=request, tools=T).choices[0].message
        history.append(reply)
        if not reply.tool_calls:
            return reply.content
        for call in reply.tool_calls:
            history.append({"role": "tool", "tool_call_id": call.id, "content": go(call)})
    raise RuntimeError("too many rounds")"""
FIXED = AGENT.replace("    request = list(history)\n", "").replace(
    "range(9):\n", "range(9):\n        request = list(history)\n"
)
BARE: dict[str, Any] = {"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
CELLS = (
    new_markdown_cell("# An agent: é"),
    new_code_cell("%pip install openai", outputs=[new_output("stream", text="ok\n")], execution_count=1),
    new_code_cell("from openai import OpenAI\n\nclient = OpenAI()\nhistory = []"),
    new_code_cell(AGENT, metadata={"tags": ["x"]}, execution_count=7),
    new_code_cell("await run('hi')"),
)


def notebook(*sources: str) -> bytes:
    cells = [new_code_cell(source) for source in sources] if sources else CELLS
    return nbformat.writes(new_notebook(cells=list(cells))).encode()


def cells(source: bytes) -> list[str]:
    """The texts of a notebook's cells, which is valid."""
    read = nbformat.reads(source.decode(), as_version=4)
    nbformat.validate(read)
    return [cell.source for cell in read.cells]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Project:
    return Project(tmp_path, monkeypatch, capsys)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with one notebook, for the real engine."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "agent.ipynb").write_bytes(notebook())
    return tmp_path


# -- programs -----------------------------------------------------------------------------------------------------


def test_code_cells_are_one_program() -> None:
    made = program(notebook())
    ast.parse(made)
    text = Cells(made.decode())
    assert [line for line in made.decode().splitlines() if line.startswith("#looplint:")] == [
        *("#looplint:notebook", "#looplint:cell 2", "#looplint:cell 3", "#looplint:cell 4", "#looplint:cell 5")
    ]
    assert text.text(4) == AGENT
    assert text.place(made.decode().splitlines().index("client = OpenAI()") + 1) == (3, 3)


PYTHON = (
    "x = await f()\nasync for a in b:\n    pass",
    "a = (1\n  %b)",
    's = """\n%time\n!ls\n"""\n',
    "# coding: latin-1\nx = 'é'",
    "",
    "\n\nx = 1\n\n",
    "x = 1;",
)
IPYTHON = (
    "%time x = 1",
    "!ls\n\n!pwd",
    "if x:\n    !ls\nelse:\n    %cd ..\n",
    "files = !ls\nx, y = %sx pwd\nd['a'] = !date",
    "print?\n?print\nnp.sum??\nx = 1",
    "!pip install a \\\n   b \\\n   c\nx = 1",
    "x = (1\n%3)\n%time\ny = '''\n!ls\n'''",
    "%%time\nx = 1\n%matplotlib inline",
    "%%bash\nfor f in *; do echo $f; done",
    "%%html\n<b>hi</b>",
    "\n%%writefile a.py\nimport x y",
    "x = a \\\n%b\n%time",
)


@pytest.mark.parametrize("text", [*PYTHON, *IPYTHON])
def test_what_ipython_reads_python_reads_too_and_it_comes_back(text: str) -> None:
    source = notebook("first = 1", text, "last = 1")
    made = program(source)
    ast.parse(made)
    assert Cells(made.decode()).text(2).rstrip("\n") == text.rstrip("\n")
    assert Cells(made.decode()).place(made.decode().splitlines().index("last = 1") + 1) == (3, 1)
    assert written(source, made) == source
    changed = made.replace(b"first = 1", b"first = 2").replace(b"last = 1", b"import os\nlast = 2")
    assert cells(written(source, changed)) == ["first = 2", text, "import os\nlast = 2"]
    if text.strip() and b"%%bash" not in made and b"%%html" not in made and b"%%writefile" not in made:
        more = program(source).replace(b"#looplint:cell 3\n", b"more = 1\n#looplint:cell 3\n")
        assert cells(written(source, more))[1] == text.removesuffix("\n") + "\nmore = 1" + "\n" * text.endswith("\n")


@pytest.mark.parametrize("text", PYTHON)
def test_python_stays_as_it_is(text: str) -> None:
    assert text.strip("\n") in program(notebook(text)).decode()


@pytest.mark.parametrize("text", ["%time x", "if x:\n    !ls"])
def test_a_magic_moves_with_its_block(text: str) -> None:
    source = notebook(text)
    moved = program(source).decode().replace("    pass", "        pass").replace("\npass", "\n    pass")
    after = cells(written(source, moved.encode()))[0]
    assert after == text.replace("    !ls", "        !ls").replace("%time", "    %time")


@pytest.mark.parametrize("text", ["#looplint:cell 9", "x = 1\n#looplint:notebook", "'#looplint:'", "#looplint:ls"])
def test_words_of_ours_in_a_cell_mean_nothing(text: str) -> None:
    source = notebook("x = 1", text)
    made = program(source)
    assert Cells(made.decode()).text(2) == text
    assert cells(written(source, made.replace(b"x = 1\n#looplint:cell 2", b"x = 2\n#looplint:cell 2"))) == [
        "x = 2",
        text,
    ]


@pytest.mark.parametrize("layout", [None, 1])
def test_a_cell_may_become_empty_or_stop_being_so(layout: int | None) -> None:
    document = {**BARE, "cells": [{"cell_type": "code", "source": lines} for lines in ([], ["x = 1\n", "y = 1"])]}
    source = json.dumps(document, indent=layout).encode()
    moved = b"#looplint:notebook\n#looplint:cell 1\nx = 1\n#looplint:cell 2\n"
    read = json.loads(written(source, moved))
    assert [cell["source"] for cell in read["cells"]] == [["x = 1"], []]


@pytest.mark.parametrize("order", [b"#looplint:cell 2\n", b"#looplint:cell 1\n"])
def test_a_program_without_a_cell_is_not_written(order: bytes) -> None:
    source = notebook("x = 1", "y = 1")
    with pytest.raises(ValueError, match="mixed up"):
        written(source, program(source).replace(order, b""))


# -- files --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "not a notebook: no JSON in line 1"),
        (b'{"cells": [}', "not a notebook: no JSON in line 1"),
        (b"\xff", "not a notebook: it is not UTF-8"),
        (b"[" * 100_000, "not a notebook: "),
        (b"[]", "not a notebook: it does not say its `nbformat`"),
        (b'{"nbformat": 4}', "not a notebook: it has no list of `cells`"),
        (b'{"nbformat": 4, "cells": [{"cell_type": "code"}]}', "not a notebook: cell 1 has no `source`"),
        (b'{"nbformat": 4, "cells": [{"cell_type": "code", "source": [1]}]}', "not a notebook: cell 1 has no"),
        (b'{"nbformat": 3, "worksheets": []}', "a notebook of an old format: `jupyter nbconvert --to notebook"),
    ],
)
def test_what_is_no_notebook_is_one_clear_line(folder: Path, content: bytes, said: str, capsys: Any) -> None:
    (folder / "agent.ipynb").write_bytes(content)
    assert main(["check", "--isolated", "--output-format", "concise"]) == 2
    out, err = capsys.readouterr()
    assert out.startswith(f"agent.ipynb:1:1: AGL000 {said}")
    assert (out.count("\n"), err) == (1, "")
    assert main(["map", "agent.ipynb"]) == 2
    assert capsys.readouterr().err.startswith(f"looplint: error: agent.ipynb: {said}")


def test_a_syntax_error_is_told_in_its_cell(folder: Path, capsys: Any) -> None:
    (folder / "agent.ipynb").write_bytes(notebook("x = 1", "%time\n\ny = = 2"))
    assert main(["check", "--isolated", "--output-format", "concise"]) == 2
    assert capsys.readouterr().out.startswith("agent.ipynb:cell 2:3:5: AGL000 syntax error")


@pytest.mark.parametrize("metadata", [{"kernelspec": {"language": "julia"}}, {"language_info": {"name": "R"}}])
def test_notebooks_of_other_languages_have_nothing_to_check(folder: Path, metadata: Any) -> None:
    content = {**BARE, "metadata": metadata, "cells": [{"cell_type": "code", "source": "x <- = 1"}]}
    (folder / "agent.ipynb").write_text(json.dumps(content))
    assert main(["check", "--isolated"]) == 0
    assert Cells(program(json.dumps(content).encode()).decode()).text(1) == ""


def test_notebooks_are_found_in_folders_but_for_their_copies(project: Project) -> None:
    project.write("sub/a.ipynb", "sub/.ipynb_checkpoints/a-checkpoint.ipynb", content=notebook("x = 1  # AGL301 a"))
    (found,) = project.check().json
    assert (found["path"], found["cell"], found["line"], found["column"]) == ("sub/a.ipynb", 1, 1, 1)


def test_outputs_do_not_count_as_code(project: Project) -> None:
    output = new_output("stream", text="x" * 10_000)
    source = nbformat.writes(new_notebook(cells=[new_code_cell("x = 1  # AGL301 a", outputs=[output])]))
    project.write("a.ipynb", content=source)
    assert len(project.check("--max-file-bytes", "1000").json) == 1


def test_what_is_known_of_a_notebook_is_remembered_when_it_was_only_run(project: Project) -> None:
    calls: list[int] = []

    def engine(*words: Any, **given: Any) -> Report:
        calls.append(1)
        return marked(*words, **given)

    project.use(engine)
    project.write("a.ipynb", content=notebook("x = 1  # AGL301 a"))
    project.check()
    text = Path("a.ipynb").read_text().replace('"execution_count": null', '"execution_count": 3')
    project.write("a.ipynb", content=text)
    assert len(project.check().json) == 1
    assert len(calls) == 1


# -- places in every format ---------------------------------------------------------------------------------------


def test_places_are_cell_and_line_in_every_format(folder: Path, capsys: Any) -> None:
    def out(output_format: str) -> str:
        main(["check", "--isolated", "--output-format", output_format])
        return str(capsys.readouterr().out)

    text = out("text")
    assert text.startswith("agent.ipynb:cell 4:3:5: AGL301 ")
    assert "\n3 |     request = list(history)\n  |     ^^^^" in text
    assert out("concise").startswith("agent.ipynb:cell 4:3:5: AGL301 ")
    (found,) = json.loads(out("json"))
    assert (found["path"], found["cell"], found["line"], found["end_line"]) == ("agent.ipynb", 4, 3, 3)
    assert {(note["path"], note["cell"]) for note in found["related"]} == {("agent.ipynb", 4)}
    assert out("github").startswith("::error file=agent.ipynb,line=1,col=1,endLine=1,title=AGL301 stale-")
    assert "::cell 4, line 3: each round" in out("github")
    log = json.loads(out("sarif"))
    validate(log, "sarif-2.1.0")
    (result,) = log["runs"][0]["results"]
    assert result["message"]["text"].startswith("cell 4, line 3: each round")
    assert result["locations"][0]["logicalLocations"][0]["name"] == "cell 4"
    assert result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "agent.ipynb"
    (issue,) = json.loads(out("gitlab"))
    assert issue["location"] == {"path": "agent.ipynb", "lines": {"begin": 1, "end": 1}}
    assert ": cell 4, line 3: each round" in issue["description"]
    assert "agent.ipynb:cell 4:3:5: each round" in out("junit")


def test_places_in_other_cells(project: Project) -> None:
    source = notebook("a = 1", "b = 2\nc = 3")
    note = Related(Span(3, 1, 3, 2), "made here (line 3), see line 6")
    project.write("a.ipynb", content=source)
    project.use(reporting(Finding("a.ipynb", Span(6, 1, 6, 6), "AGL301", "x", "bad since line 3", related=(note,))))
    assert project.run("check").out.startswith(
        """\
a.ipynb:cell 2:2:1: AGL301 x: bad since cell 1, line 1
  |
2 | c = 3
  | ^^^^^
  |
 ::: a.ipynb:cell 1:1:1
  |
1 | a = 1
  | - made here (line 1), see cell 2, line 2
  |
"""
    )


def test_the_map_of_a_notebook(folder: Path, capsys: Any) -> None:
    assert main(["map", "agent.ipynb"]) == 0
    assert "cell 4, line 5: `client.chat.completions.create` calls" in capsys.readouterr().out


# -- fixes --------------------------------------------------------------------------------------------------------


def formatted(indent: int | None, **options: Any) -> bytes:
    return json.dumps(json.loads(notebook()), indent=indent, **options).encode()


@pytest.mark.parametrize(
    "source",
    [
        notebook(),
        formatted(2, ensure_ascii=True) + b"\n",
        formatted(None),
        formatted(4, ensure_ascii=False, sort_keys=True),
        notebook().replace(b"\n", b"\r\n"),
        b"\xef\xbb\xbf" + notebook(),
    ],
    ids=["nbformat", "ascii", "one line", "sorted", "crlf", "bom"],
)
def test_a_fix_touches_nothing_but_the_lines_it_changes(folder: Path, source: bytes, capsys: Any) -> None:
    path = folder / "agent.ipynb"
    path.write_bytes(source)
    assert main(["check", "--isolated", "--fix", "--show-fixes"]) == 0
    assert "agent.ipynb:cell 4:3: AGL301" in capsys.readouterr().out
    after = path.read_bytes()
    assert cells(after.removeprefix(b"\xef\xbb\xbf")) == [
        FIXED if cell.source == AGENT else cell.source for cell in CELLS
    ]
    moved = json.dumps("    request = list(history)\n").encode()
    indented = json.dumps("        request = list(history)\n").encode()
    assert sorted(after.replace(indented, moved)) == sorted(source), "the same bytes, but for the line that moved"
    assert main(["check", "--isolated", "--fix"]) == 0
    assert path.read_bytes() == after


def test_a_source_that_is_one_string_stays_one(folder: Path) -> None:
    document = json.loads(notebook())
    document["cells"][3]["source"] = AGENT
    (folder / "agent.ipynb").write_text(json.dumps(document))
    main(["check", "--isolated", "--fix"])
    assert json.loads((folder / "agent.ipynb").read_text())["cells"][3]["source"] == FIXED


def test_the_diff_of_a_notebook_is_a_patch_of_its_file(folder: Path) -> None:
    command = [sys.executable, "-m", "lint_rules", "check", "--isolated", "--diff"]
    patch = subprocess.run(command, capture_output=True).stdout
    subprocess.run(["git", "apply"], input=patch, check=True)
    assert cells((folder / "agent.ipynb").read_bytes())[3] == FIXED


def test_a_notebook_from_standard_input(project: Project) -> None:
    run = project.check("-", "--stdin-filename", "a.ipynb", stdin=notebook("x = 1", "y = 1  # AGL301 a"))
    assert [(found["cell"], found["line"]) for found in run.json] == [(2, 1)]


def test_noqa_in_notebooks(folder: Path) -> None:
    assert main(["check", "--isolated", "--add-noqa"]) == 0
    assert cells((folder / "agent.ipynb").read_bytes())[3].splitlines()[2].endswith("list(history)  # noqa: AGL301")
    assert main(["check", "--isolated"]) == 0


def test_a_baseline_knows_cells_that_move(project: Project) -> None:
    project.write("a.ipynb", content=notebook("x = 1  # AGL301 a"))
    project.run("baseline", "--baseline", "old.json")
    project.write("a.ipynb", content=notebook("new = 1", "x = 1  # AGL301 a"))
    assert project.run("check", "--baseline", "old.json").code == 0


# -- other doors --------------------------------------------------------------------------------------------------


def test_flake8_by_way_of_nbqa(folder: Path) -> None:
    pytest.importorskip("nbqa", reason="in the group dev")
    command = [sys.executable, "-m", "nbqa", "flake8", "agent.ipynb", "--extend-select=AGL", "--ignore=E,F,W,AGL9"]
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert done.stdout.startswith("agent.ipynb:cell_3:3:5: AGL301 "), done.stdout + done.stderr
    assert done.returncode == 1


def test_flake8_itself_says_how(folder: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "flake8", "--select=AGL", "agent.ipynb"], capture_output=True, text=True
    )
    assert done.stdout == (
        "agent.ipynb:1:1: AGL000 this is a notebook, not its program: use `looplint check`, or `nbqa flake8`\n"
    )
