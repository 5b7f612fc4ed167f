"""How a project with findings of old begins: a baseline, changed lines by real git, noqa comments."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest
from marked_engine import Project, marked

from lint_rules import check
from lint_rules.suppress import Suppressions

ENVIRONMENT = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
IDENTITY = ("-c", "user.name=test", "-c", "user.email=test@example.org", "-c", "commit.gpgsign=false")
ONE = "a = 1  # AGL301 first\n"
TWO = "b = 2  # AGL101 second\n"


def git(*words: str) -> str:
    done = subprocess.run(["git", *IDENTITY, *words], env=ENVIRONMENT, check=True, capture_output=True, text=True)
    return done.stdout


def heeding(source: bytes, path: str, options: check.Options, *, noqa: bool = True, **given: object) -> check.Report:
    """The stand-in engine, with noqa comments read as the real one reads them."""
    report = marked(source, path, options)
    comments = Suppressions(source.decode("utf-8-sig", "replace"))
    kept = [found for found in report.findings if not (noqa and comments.covers(found.code, found.span.line))]
    return check.Report(tuple(kept), len(report.findings) - len(kept))


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Project:
    project = Project(tmp_path, monkeypatch, capsys)
    project.use(heeding)
    return project


# -- baseline -----------------------------------------------------------------------------------------------------


@pytest.fixture
def listed(project: Project) -> Project:
    """A project whose two findings, in two files, are in its baseline."""
    project.configure('baseline = "looplint-baseline.json"')
    project.write("a.py", content=ONE)
    project.write("sub/b.py", content=TWO)
    assert project.run("baseline").out == "Wrote 2 problems to looplint-baseline.json.\n"
    return project


def test_what_is_in_the_baseline_is_hidden_wherever_it_moves(listed: Project) -> None:
    listed.write("a.py", content=f"# a\n\nif x:\n    {ONE}")
    run = listed.run("check")
    assert (run.code, run.err) == (0, "")
    assert run.out == "All clear: 2 files checked, 2 problems in the baseline.\n"


def test_the_baseline_says_what_it_lists(listed: Project) -> None:
    assert json.loads(Path("looplint-baseline.json").read_text()) == {
        "version": 1,
        "findings": {
            "a.py": [{"code": "AGL301", "line": "a = 1 # AGL301 first"}],
            "sub/b.py": [{"code": "AGL101", "line": "b = 2 # AGL101 second"}],
        },
    }


@pytest.mark.parametrize("content", [ONE + TWO, ONE * 2, ONE.replace("AGL301", "AGL302"), ONE.replace("a =", "c =")])
def test_what_is_not_in_the_baseline_is_found(listed: Project, content: str) -> None:
    listed.write("a.py", content=content)
    run = listed.run("check", "a.py", "--output-format", "json")
    assert (run.code, len(run.json)) == (1, 1)


def test_what_is_solved_has_to_be_taken_out_and_cannot_return(listed: Project) -> None:
    listed.write("a.py", content="a = 1\n")
    run = listed.run("check")
    assert run.code == 1
    assert run.err == (
        "looplint: error: 1 of AGL301 in a.py in the baseline is solved: "
        "`looplint baseline` takes out what is solved, so that it cannot come back unseen\n"
    )
    assert listed.run("check", "--exit-zero").code == 0
    assert listed.run("baseline").out == ("Took 1 solved problem out of looplint-baseline.json; 1 are left in it.\n")
    assert listed.run("check").code == 0
    listed.write("a.py", content=ONE)
    assert listed.run("check").code == 1
    run = listed.run("baseline")
    assert run.out.splitlines()[1] == "Left out 1 new problem: correct them, or put them in with --add-new."
    assert listed.run("check").code == 1, "a baseline takes in nothing unasked"
    listed.run("baseline", "--add-new")
    assert listed.run("check").code == 0


def test_a_file_that_is_gone_is_solved(listed: Project) -> None:
    Path("a.py").unlink()
    assert "1 of AGL301 in a.py" in listed.run("check", "sub").err


@pytest.mark.parametrize("words", [["sub"], ["--select", "AGL1"], ["--per-file-ignores", "a.py:AGL3"]])
def test_what_was_not_looked_for_is_not_solved(listed: Project, words: list[str]) -> None:
    listed.write("a.py", content="a = 1\n")
    assert listed.run("check", *words).code == 0
    before = Path("looplint-baseline.json").read_bytes()
    assert listed.run("baseline", *words).code == 0
    assert Path("looplint-baseline.json").read_bytes() == before


def test_what_cannot_be_analysed_is_neither_known_nor_solved(listed: Project) -> None:
    listed.write("a.py", content="BOOM")
    run = listed.run("check")
    assert (run.code, run.err) == (2, "")
    before = Path("looplint-baseline.json").read_bytes()
    assert listed.run("baseline", "--add-new").code == 2
    assert Path("looplint-baseline.json").read_bytes() == before


def test_a_baseline_holds_from_every_folder(listed: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir("sub")
    assert listed.run("check", "..").code == 0


def test_a_baseline_without_configuration(project: Project) -> None:
    project.write("a.py", content=ONE)
    run = project.run("baseline", "--baseline", "old.json")
    assert 'write `baseline = "old.json"`' not in run.out
    assert project.run("check").code == 1
    assert project.run("check", "--baseline", "old.json").code == 0
    assert 'write `baseline = "looplint-baseline.json"` under [tool.looplint]' in project.run("baseline").out


@pytest.mark.parametrize(
    "content", ["", "[]", '{"version": 2}', '{"version": 1, "findings": {"a.py": [3]}}', "[" * 9999]
)
def test_a_file_that_is_no_baseline_is_left_alone(project: Project, content: str) -> None:
    project.write("a.py")
    project.write("old.json", content=content)
    for command in ("check", "baseline"):
        run = project.run(command, "--baseline", "old.json")
        assert (run.code, run.out) == (2, "")
        assert run.err == "looplint: error: old.json: is no baseline; `looplint baseline` writes one\n"
    assert Path("old.json").read_text() == content


def test_a_missing_baseline_is_said(project: Project) -> None:
    project.write("a.py")
    run = project.run("check", "--baseline", "none.json")
    assert run.code == 2
    assert run.err == (
        "looplint: error: none.json: the baseline cannot be read: no such file or folder; "
        "`looplint baseline` writes it\n"
    )


# -- --diff-base --------------------------------------------------------------------------------------------------


@pytest.fixture
def branch(project: Project) -> Project:
    """A branch of one commit, on which nothing is changed yet; main has gone on since."""
    project.write("a.py", content=ONE + "x = 0\n" * 5 + TWO)
    project.write("old name.py", content="y = 0\n" * 9 + TWO)
    git("init", "--quiet", "--initial-branch", "main")
    git("add", "--all")
    git("commit", "--quiet", "--message", "first")
    git("switch", "--quiet", "--create", "branch")
    git("switch", "--quiet", "main")
    project.write("a.py", content=ONE.replace("a =", "z =") + "x = 0\n" * 5 + TWO)
    git("commit", "--quiet", "--all", "--message", "main goes on")
    git("switch", "--quiet", "branch")
    return project


def changed(project: Project, *words: str) -> list[tuple[str, int]]:
    run = project.check("--diff-base", "main", *words)
    return [(found["path"], found["line"]) for found in run.json]


def test_nothing_is_found_where_nothing_changed(branch: Project) -> None:
    run = branch.run("check", "--diff-base", "main")
    assert (run.code, run.err) == (0, "")
    assert run.out == "All clear: 2 files checked, 3 problems on lines that did not change.\n"


def test_changed_lines_are_those_of_the_branch_and_of_the_folder(branch: Project) -> None:
    branch.write("a.py", content=ONE + "x = 1\n" * 5 + TWO.replace("b", "c"))
    assert changed(branch) == [("a.py", 7)]
    git("commit", "--quiet", "--all", "--message", "second")
    assert changed(branch) == [("a.py", 7)]
    branch.write("a.py", content="# new\n" + ONE.replace("a =", "w ="))
    assert changed(branch) == [("a.py", 2)]
    branch.write("a.py", content=ONE + TWO)
    assert changed(branch) == [], "lines were only taken out"


def test_new_files_are_changed_and_moved_ones_where_they_differ(branch: Project) -> None:
    branch.write("new.py", "staged.py", content=ONE)
    git("add", "staged.py")
    git("mv", "old name.py", "moved ü.py")
    branch.write("moved ü.py", content="y = 0\n" * 9 + TWO + ONE)
    assert changed(branch) == [("moved ü.py", 11), ("new.py", 1), ("staged.py", 1)]


def test_changed_lines_from_a_folder_below(branch: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    branch.write("sub/c.py", content=ONE)
    git("config", "diff.relative", "true")
    git("config", "diff.mnemonicPrefix", "true")
    monkeypatch.chdir("sub")
    assert changed(branch, "..") == [("c.py", 1)]
    branch.write("a.py", content=ONE.replace("a =", "w ="))
    assert [line for _, line in changed(branch, "..")] == [1, 1]


def test_what_cannot_be_analysed_is_told_wherever_it_is(branch: Project) -> None:
    branch.use(lambda *words, **given: marked(b"BOOM", *words[1:]))
    assert branch.run("check", "--diff-base", "main").code == 2


@pytest.mark.parametrize("revision", ["nowhere", "--output=made", "HEAD:a.py"])
def test_a_revision_that_is_none(branch: Project, revision: str) -> None:
    run = branch.run("check", f"--diff-base={revision}")
    assert (run.code, run.out) == (2, "")
    assert run.err.startswith("looplint: error: --diff-base: ")
    assert revision in run.err
    assert run.err.count("\n") == 1
    assert not Path("made").exists()


def test_a_revision_of_which_the_history_is_missing(branch: Project) -> None:
    git("switch", "--quiet", "--orphan", "apart")
    git("commit", "--quiet", "--allow-empty", "--message", "apart")
    run = branch.run("check", "--diff-base", "main")
    assert run.code == 2
    assert "no commit in common" in run.err


def test_outside_git(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(project.path.parent))
    project.write("a.py")
    run = project.run("check", "--diff-base", "main")
    assert run.code == 2
    assert run.err.startswith("looplint: error: --diff-base: git says: fatal: not a git repository")
    monkeypatch.setenv("PATH", "")
    assert "git is needed" in project.run("check", "--diff-base", "main").err


# -- --add-noqa ---------------------------------------------------------------------------------------------------


def commented(project: Project, content: str | bytes) -> str:
    """A file after --add-noqa, in which nothing is found any more."""
    project.write("a.py", content=content)
    run = project.run("check", "--add-noqa")
    assert (run.code, run.err) == (0, "")
    assert project.run("check").code == 0
    return Path("a.py").read_bytes().decode()


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("x = 1  # AGL301\n", "x = 1  # AGL301  # noqa: AGL301\n"),
        ("x = 1  # AGL301  \r\ny = 2\r\n", "x = 1  # AGL301  # noqa: AGL301\r\ny = 2\r\n"),
        ("x = 1  # AGL301", "x = 1  # AGL301  # noqa: AGL301"),
        ("x = 1  # AGL301 # noqa: E501\n", "x = 1  # AGL301 # noqa: E501, AGL301\n"),
        ("x = 1  # AGL301 # noqa:E501,W1 for now\n", "x = 1  # AGL301 # noqa:E501,W1, AGL301 for now\n"),
        ("\ufeffx = 1  # AGL301\n", "\ufeffx = 1  # AGL301  # noqa: AGL301\n"),
        ('x = """# AGL301\n"""\ny = 2\n', 'x = """# AGL301\n"""  # noqa: AGL301\ny = 2\n'),
        ('x = """# AGL301\n# AGL101\n"""\n', 'x = """# AGL301\n# AGL101\n"""  # noqa: AGL101, AGL301\n'),
        ('x = f("# AGL301", \\\n  2)\n', 'x = f("# AGL301", \\\n  2)  # noqa: AGL301\n'),
    ],
)
def test_noqa_is_added(project: Project, before: str, after: str) -> None:
    assert commented(project, before) == after


def test_noqa_is_added_in_the_files_own_encoding(project: Project) -> None:
    project.write("a.py", content="# coding: latin-1\nx = 'é'  # AGL301\n".encode("latin-1"))
    assert project.run("check", "--add-noqa").out == "Added 1 noqa directive.\n"
    assert Path("a.py").read_bytes().endswith(b"\xe9'  # AGL301  # noqa: AGL301\n")


def test_noqa_that_would_be_part_of_a_string_is_not_added(project: Project) -> None:
    content = 'x = """# noqa: E501\n# AGL301\n"""\n'
    project.write("a.py", content=content)
    run = project.run("check", "--add-noqa")
    assert (run.code, run.out) == (2, "Added 0 noqa directives.\n")
    assert run.err == (
        "looplint: error: a.py: a `# noqa` would become part of a string; write it by hand, behind the string\n"
    )
    assert Path("a.py").read_text() == content


def test_noqa_is_added_for_what_is_reported_only(branch: Project) -> None:
    branch.write("a.py", content=ONE + TWO.replace("b", "c"))
    assert branch.run("check", "--add-noqa", "--diff-base", "main").out == "Added 1 noqa directive.\n"
    assert Path("a.py").read_text() == ONE + TWO.replace("b", "c").rstrip() + "  # noqa: AGL101\n"


def test_noqa_of_what_cannot_be_analysed(project: Project) -> None:
    project.write("a.py", content="BOOM")
    run = project.run("check", "--add-noqa")
    assert (run.code, run.out) == (2, "Added 0 noqa directives.\n")
    assert run.err.startswith("looplint: error: a.py: ")


@pytest.mark.parametrize("words", [["--fix"], ["--diff"], ["-"], ["--stdin-filename", "a.py"]])
def test_noqa_goes_alone(project: Project, words: list[str]) -> None:
    run = project.run("check", "--add-noqa", *words)
    assert (run.code, run.out) == (2, "")
    assert "--add-noqa" in run.err


# -- --report-unused-noqa -----------------------------------------------------------------------------------------


def unused(project: Project, content: str, *words: str) -> list[tuple[int, int, str]]:
    project.write("a.py", content=content)
    run = project.check("--report-unused-noqa", *words)
    assert all(found["code"] == "AGL001" for found in run.json)
    assert run.code == bool(run.json)
    return [(found["line"], found["column"], found["message"]) for found in run.json]


@pytest.mark.parametrize(
    ("content", "column", "codes"),
    [
        ("x = 1  # noqa: AGL301\n", 8, "AGL301"),
        ("x = 1  # AGL301 # noqa: AGL301, AGL1\n", 17, "AGL1"),
        ("x = 1  # noqa: AGL999\n", 8, "AGL999"),
        ("x = 1  # noqa: E501, AGL301, AGL302 because\n", 8, "AGL301, AGL302"),
    ],
)
def test_a_comment_that_hides_nothing_is_found(project: Project, content: str, column: int, codes: str) -> None:
    assert unused(project, content) == [(1, column, f"this `noqa` hides nothing: {codes} is not found here")]


@pytest.mark.parametrize(
    "content",
    [
        "x = 1  # AGL301 # noqa: AGL301\n",
        "x = 1  # AGL301 # noqa: AGL3\n",
        "x = 1  # noqa\n",
        "x = 1  # noqa: E501\n",
        "x = 1  # noqa: AGL901\n",
        'x = """# AGL301\n"""  # noqa: AGL301\n',
        'x = """\ny = 1  # noqa: AGL301\n"""\n',
    ],
)
def test_a_comment_that_hides_something_or_may_is_not(project: Project, content: str) -> None:
    assert unused(project, content) == []


def test_unused_comments_are_not_reported_unasked_nor_remembered(project: Project) -> None:
    content = "x = 1  # noqa: AGL301\n"
    for _ in range(2):
        assert len(unused(project, content)) == 1
        assert project.run("check").code == 0
    project.configure("report-unused-noqa = true")
    assert project.run("check").code == 1


def test_the_page_of_unused_noqa(project: Project) -> None:
    assert project.run("explain", "AGL001").out.startswith("# unused-noqa (AGL001)")
    assert "--report-unused-noqa" in project.run("check", "--select", "AGL001").err


def test_the_real_engine_hides_and_reports(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from lint_rules.cli import main

    monkeypatch.chdir(tmp_path)
    bad = Path(__file__).parent.parent / "fixtures" / "negative_zero_slice" / "bad_last_but_first.py"
    Path("agent.py").write_text(bad.read_text(encoding="utf-8") + "\nx = 1  # noqa: AGL301\n", encoding="utf-8")
    words = ["check", "--isolated", "--output-format", "json", "--report-unused-noqa"]
    assert main(["check", "--isolated", "--add-noqa"]) == 0
    capsys.readouterr()
    assert main(words) == 1
    assert [found["code"] for found in json.loads(capsys.readouterr().out)] == ["AGL001"]
    Path("agent.py").write_text("y = 1  # noqa: AGL301\n")
    assert main(words) == 1, "a file that no rule looks at has comments, too"
