"""`Suppressions` and flake8 agree, comment form by comment form: flake8 itself is asked."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from lint_rules.suppress import Suppressions

LONG = "word " * 16 + "end"

ON_ONE_LINE = (
    "# noqa",
    "#noqa",
    "#  noqa",
    "# NoQA",
    "# noqa because",
    "# a reason # noqa",
    "# noqaF401",
    "# noqa: F401",
    "# noqa:F401",
    "# noqa:  F401",
    "# noqa:  E501",
    "# noqa : F401",
    "# noqa : E501",
    "# noqa=E501",
    "# noqa: E501",
    "# noqa: f401",
    "# NOQA:F401",
    "# noqa: F4",
    "# noqa: F",
    "# noqa: E5",
    "# noqa: F4011",
    "# noqa: E501,F401",
    "# noqa: E501, F401",
    "# noqa: E501 F401",
    "# noqa: E501,,  F401",
    "# noqa: E501F401",
    "# noqa: E501;F401",
    "# noqa: ,F401",
    "# noqa: E501 because F401",
    "# noqa: because",
    "# noqa: E501 # noqa: F401",
    "# noqa: F401 # noqa: E501",
    "# noqa: AGL101",
    "# type: ignore # noqa: F401",
    "# flake8: noqa",
    "# nothing",
)

SOURCES: dict[str, str] = {
    **{comment: f"import os  {comment}\nimport sys\n" for comment in ON_ONE_LINE},
    "no newline at the end": "import os\nimport sys  # noqa",
    "crlf": "import os  # noqa\r\nimport sys\r\n",
    "cr": "import os  # noqa\rimport sys\r",
    "cr, second line": "import os\rimport sys  # noqa\r",
    "bom": "\ufeffimport os  # noqa\nimport sys\n",
    "bom, whole file": "\ufeff# flake8: noqa\nimport os\n",
    "form feed": "import os\n\x0c\nimport sys  # noqa\n",
    "line separator in a string": "a = '\u2028\x1c\x85'\nimport os  # noqa\nimport sys\n",
    "brackets": "from os import (\n    path,  # noqa\n    sep,\n)\n",
    "first line of brackets": "from os import (  # noqa\n    path,\n    sep,\n)\n",
    "backslashes": "import os, \\\n    sys  # noqa\nimport re\n",
    "codes after backslashes": "import os, \\\n    sys  # noqa: E501\nimport re\n",
    "string over lines": f'a = """\n{LONG}\n{LONG}\n"""  # noqa\nb = "{LONG}"\n',
    "codes after a string over lines": f'a = """\n{LONG}\n"""  # noqa: E501\n',
    "noqa within a string": f'a = """\n{LONG}\n# noqa: E501\n{LONG}\n"""\nb = "{LONG}"\n',
    "two comments for one string": f'a = f("""# noqa: F4\n{LONG}\n""",  # noqa: E501\n"{LONG}")\n',
    "f-string over lines": f'a = f"""\n{LONG} {{\nnope}}\n"""  # noqa: E501\n',
    "string in brackets": f'f(\n    """\n{LONG}\n""",  # noqa\n    "{LONG}",\n)\n',
    "docstring": f'def f():\n    """One.\n\n    {LONG}\n    """  # noqa: E501\n    a = "{LONG}"\n',
    "last line of a block": "if 1:\n    import os  # noqa\nimport sys\n",
    "comment above": "# noqa\nimport os\n",
    "whole file": "import os\n# flake8: noqa\n",
    "whole file, indented": "if 1:\n    import os\n    # FLAKE8=NOQA\n",
    "whole file, with codes": "import os\n# flake8: noqa: E501\n",
    "whole file, after code": "import os\nimport sys  # flake8: noqa\n",
    "whole file, in a string": "import os\na = '''\n# flake8: noqa\n'''\n",
    "whole file, without a space": "import os\n#flake8: noqa\n",
    "whole file, after other words": "import os\n# see flake8: noqa\n",
    "the word alone": "noqa = 1\nimport os\n",
}


@dataclass(frozen=True)
class Answers:
    """(code, line) of what flake8 finds in one file, and what of it is left when it reads the comments."""

    found: set[tuple[str, int]]
    left: set[tuple[str, int]]


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Answers]:
    folder = tmp_path_factory.mktemp("noqa")
    for number, source in enumerate(SOURCES.values()):
        (folder / f"f{number}.py").write_bytes(source.encode())
    found, left = flake8(folder, "--disable-noqa"), flake8(folder)
    return {
        name: Answers(found.get(f"f{number}.py", set()), left.get(f"f{number}.py", set()))
        for number, name in enumerate(SOURCES)
    }


def flake8(folder: Path, *options: str) -> dict[str, set[tuple[str, int]]]:
    """(code, line) of the entries of each file."""
    command = [sys.executable, "-m", "flake8", "--isolated", "--select=F,E501", *options, "."]
    run = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120)
    assert run.stderr == ""
    entries: dict[str, set[tuple[str, int]]] = {}
    for entry in run.stdout.splitlines():
        path, line, _, text = entry.split(":", 3)
        entries.setdefault(Path(path).name, set()).add((text.split()[0], int(line)))
    return entries


@pytest.mark.parametrize("name", SOURCES)
def test_agrees_with_flake8(name: str, answers: dict[str, Answers]) -> None:
    suppressions = Suppressions(SOURCES[name])
    found = answers[name].found
    assert found, "the example shows nothing"
    ours = {(code, line) for code, line in found if not suppressions.covers(code, line)}
    assert ours == answers[name].left


def test_the_examples_show_both_answers(answers: dict[str, Answers]) -> None:
    assert sum(len(answer.found - answer.left) for answer in answers.values()) > 30
    assert sum(len(answer.left) for answer in answers.values()) > 30


def test_a_text_without_the_word_is_not_tokenized(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tokenize.generate_tokens", None)
    assert not Suppressions("import os\n").covers("AGL101", 1)
    with pytest.raises(TypeError):
        Suppressions("import os  # NOQA\n").covers("AGL101", 1)


def test_physical_lines_count_where_there_are_no_tokens() -> None:
    suppressions = Suppressions("f(\n'''  # noqa: AGL1\n1  # noqa: AGL2\n")
    assert suppressions.covers("AGL101", 2)
    assert suppressions.covers("AGL201", 3)
    assert not suppressions.covers("AGL101", 3)


def test_lines_beyond_the_file_are_not_covered() -> None:
    assert not Suppressions("x = 1  # noqa\n").covers("AGL101", 2)
    assert not Suppressions("").covers("AGL000", 1)


@pytest.mark.parametrize(
    ("comment", "misread"),
    [
        ("# noqa", None),
        ("# noqa because", None),
        ("# noqa: AGL101", None),
        ("# noqa: AGL101 for this reason", None),
        ("# noqa  # AGL101 is wrong here", None),
        ("# noqa: unbounded-rounds", (1, "# noqa: unbounded-rounds")),
        ("# why # NoQA: because", (1, "# NoQA: because")),
        ("# noqa:  AGL101", (1, "# noqa:  AGL101")),
        ("# noqa : AGL101", (1, "# noqa : AGL101")),
        ("# noqa=AGL101", (1, "# noqa=AGL101")),
        ("# noqa AGL101", (1, "# noqa AGL101")),
    ],
)
def test_a_comment_that_covers_more_than_it_seems_to_is_told(comment: str, misread: tuple[int, str] | None) -> None:
    suppressions = Suppressions(f"x = 1  {comment}\ny = 2\n")
    assert suppressions.covers("AGL101", 1)
    assert suppressions.misread(1) == misread
    assert suppressions.misread(2) is None


@pytest.mark.parametrize(
    ("comment", "text"), [("# flake8: noqa", None), ("# flake8: noqa: AGL1", "# flake8: noqa: AGL1")]
)
def test_a_comment_for_the_file_that_names_codes_is_told(comment: str, text: str | None) -> None:
    suppressions = Suppressions(f"x = 1  # noqa: AGL1\n{comment}\n")
    assert suppressions.covers("AGL301", 1)
    assert suppressions.misread(1) == (None if text is None else (2, text))
