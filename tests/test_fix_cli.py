"""Fixes from the command line: what is written, what is said, and the exit code."""

from __future__ import annotations

import json
import os
import re
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from marked_engine import Project, Run
from test_fix import SHALLOW, STALE

from lint_rules import check, files
from lint_rules.fix import fix_source
from lint_rules.layer import Layer
from lint_rules.options import Wish
from lint_rules.rules.catalogue import RULES
from lint_rules.settings import Resolver

posix = pytest.mark.skipif(os.name != "posix", reason="modes and links")
real_check = check.check_source
ENDLESS = """\
def run(client, history, tools, execute):
    while True:
        message = client.chat.completions.create(model="gpt-5", messages=history, tools=tools).choices[0].message
        history.append(message)
        if not message.tool_calls:
            return message.content
        history.extend(execute(call) for call in message.tool_calls)
"""
ABOUT = "--select=AGL201,AGL301"
"""The rules whose fixes SHALLOW and STALE are about; others may find more in them."""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Project:
    project = Project(tmp_path, monkeypatch, capsys)
    project.use(real_check)
    project.write("safe.py", content=STALE)
    return project


def moved(text: str = STALE) -> str:
    """STALE, fixed."""
    line, loop = "    request = list(history)\n", "    for _ in range(20):\n"
    return text.replace(line, "").replace(loop, f"{loop}    {line}")


def text_of(project: Project, name: str) -> str:
    return (project.path / name).read_text(encoding="utf-8")


def snapshot(project: Project) -> dict[str, tuple[bytes, int]]:
    """All files but the cache: their bytes and time of change."""
    found = (path for path in project.path.rglob("*") if path.is_file() and ".looplint_cache" not in path.parts)
    return {str(path): (path.read_bytes(), path.stat().st_mtime_ns) for path in found}


# -- what is written ----------------------------------------------------------------------------------------------


def test_without_fix_nothing_is_written(project: Project) -> None:
    before = snapshot(project)
    for words in ([], ["--unsafe-fixes"], ["--show-fixes"], ["--diff"]):
        assert project.run("check", *words).code == 1
    assert snapshot(project) == before


def test_fix(project: Project) -> None:
    run = project.run("check", "--fix")
    assert (run.code, run.out, run.err) == (0, "Applied 1 fix in 1 file.\nAll clear: 1 file checked.\n", "")
    assert text_of(project, "safe.py") == moved()


def test_unsafe_fixes(project: Project) -> None:
    project.write("unsafe.py", content=SHALLOW)
    run = project.run("check", "--fix", ABOUT)
    assert run.code == 1
    assert text_of(project, "unsafe.py") == SHALLOW
    assert run.out.endswith(
        "Applied 1 fix in 1 file.\nFound 1 problem in 1 file (2 files checked).\n"
        "Fixes are at hand: 1 with --fix --unsafe-fixes.\n"
    )
    assert project.run("check", "--fix", "--unsafe-fixes", ABOUT).code == 0
    assert "copy.deepcopy(message)" in text_of(project, "unsafe.py")


def test_a_file_without_applied_fixes_is_not_written(project: Project) -> None:
    project.write("unsafe.py", content=SHALLOW)
    project.write("clean.py", content="x = 1\n")
    before = snapshot(project)
    project.run("check", "--fix")
    after = snapshot(project)
    assert {os.path.basename(path) for path in after if after[path] != before.get(path)} == {"safe.py"}
    assert after.keys() == before.keys()


def test_the_exit_code_tells_what_remains(project: Project) -> None:
    project.write("safe.py", content=STALE + "\n\n" + SHALLOW)
    assert project.run("check", "--fix", ABOUT).code == 1
    assert project.run("check", "--fix", "--unsafe-fixes", ABOUT).code == 0
    assert project.run("check", "--fix", "--unsafe-fixes", ABOUT).out == "All clear: 1 file checked.\n"


def test_fix_only(project: Project) -> None:
    project.write("safe.py", content=STALE + "\n\n" + SHALLOW)
    run = project.run("check", "--fix-only")
    assert (run.code, run.out, run.err) == (0, "Applied 1 fix in 1 file.\n", "")


def test_a_file_that_cannot_be_analysed_is_told_with_fix_only_too(project: Project) -> None:
    project.write("broken.py", content="messages = (\n")
    run = project.run("check", "--fix-only")
    assert run.code == 2
    assert "AGL000" in run.out
    assert text_of(project, "safe.py") == moved()


def test_show_fixes(project: Project) -> None:
    run = project.run("check", "--fix", "--show-fixes", "--quiet")
    assert run.out == "safe.py:2: AGL301 stale-history-snapshot: take the copy in the loop, in each round\n"


def test_what_a_person_must_choose_is_shown_and_never_applied(project: Project) -> None:
    project.write("safe.py", content=ENDLESS)
    for words in (["--fix"], ["--fix", "--unsafe-fixes"], ["--diff", "--unsafe-fixes"]):
        assert project.run("check", *words).code == (0 if "--diff" in words else 1)
        assert text_of(project, "safe.py") == ENDLESS
    run = project.run("check", "--show-fixes")
    assert "when they are used up (shown by --show-fixes)\n\n--- a/safe.py\n+++ b/safe.py\n@@" in run.out
    assert "\n-    while True:\n+    for _ in range(MAX_ROUNDS):\n" in run.out
    assert run.out.endswith("Fixes are at hand: 1 to look at with --show-fixes.\n")
    assert text_of(project, "safe.py") == ENDLESS
    [finding] = project.check().json
    assert finding["fix"]["applicability"] == "display"
    [result] = json.loads(project.run("check", "--output-format=sarif").out)["runs"][0]["results"]
    assert "fixes" not in result, "a viewer would apply it"


def test_show_fixes_shows_what_a_fix_would_change(project: Project) -> None:
    run = project.run("check", "--show-fixes")
    patch = project.run("check", "--diff").out
    assert patch.rstrip() in run.out


def test_data_on_stdout_stays_data(project: Project) -> None:
    run = project.check("--fix", "--show-fixes")
    assert json.loads(run.out) == []
    assert "Applied 1 fix in 1 file." in run.err


def test_json_tells_of_fixes(project: Project) -> None:
    [finding] = project.check().json
    assert finding["fix"] == {"applicability": "safe", "title": "take the copy in the loop, in each round"}


def test_text_tells_of_fixes(project: Project) -> None:
    run = project.run("check")
    assert "  = fix: take the copy in the loop, in each round (--fix)\n" in run.out
    assert run.out.endswith("Fixes are at hand: 1 with --fix.\n")


def test_processes_fix_as_one_does(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    from lint_rules import run as runner

    monkeypatch.setattr(runner, "FEW_BYTES", 1)
    for number in range(20):
        project.write(f"a{number}.py", content=STALE)
    assert project.run("check", "--fix", "--jobs=2").out.startswith("Applied 21 fixes in 21 files.\n")
    assert all(text_of(project, f"a{number}.py") == moved() for number in range(20))


# -- diff ---------------------------------------------------------------------------------------------------------


def test_diff(project: Project) -> None:
    run = project.run("check", "--diff")
    assert run.code == 1
    assert run.err == "Would apply 1 fix in 1 file.\n"
    assert run.out == (
        "--- a/safe.py\n+++ b/safe.py\n@@ -1,6 +1,6 @@\n def run(client, history, tools, execute):\n"
        "-    request = list(history)\n     for _ in range(20):\n+        request = list(history)\n"
        + "".join(f" {line}\n" for line in STALE.splitlines()[3:6])
    )


def test_diff_of_nothing(project: Project) -> None:
    project.write("safe.py", content=moved())
    run = project.run("check", "--diff")
    assert (run.code, run.out, run.err) == (0, "", "")


def diff(project: Project, *words: str) -> bytes:
    """What `--diff` writes to a pipe."""
    command = [sys.executable, "-m", "lint_rules", "check", "--isolated", "--diff", *words]
    root = str(Path(check.__file__).parent.parent)
    return subprocess.run(command, cwd=project.path, capture_output=True, env=os.environ | {"PYTHONPATH": root}).stdout


def apply(patch: bytes, folder: Path) -> None:
    subprocess.run(["git", "apply", "--whitespace=nowarn"], input=patch, cwd=folder, check=True)


STALE_BYTES = STALE.encode()


@pytest.mark.parametrize(
    "content",
    [
        STALE_BYTES,
        STALE_BYTES.rstrip(b"\n"),
        STALE_BYTES.replace(b"\n", b"\r\n"),
        STALE_BYTES.replace(b"\n", b"\r\n").rstrip(b"\r\n"),
        b"\xef\xbb\xbf" + STALE_BYTES,
        b"# coding: latin-1\n# \xe9\n" + STALE_BYTES,
        b"# \x1b[31m \xe2\x80\xae \x0c \xc2\x85 \xe2\x80\xa8\n" + STALE_BYTES,
    ],
)
def test_a_diff_can_be_applied(project: Project, content: bytes) -> None:
    project.write("safe.py", content=content)
    apply(diff(project), project.path)
    fixed = fix_source(content, "safe.py", check.Options(frozenset({"AGL301"})), Wish(unsafe=True)).source
    assert (project.path / "safe.py").read_bytes() == fixed != content


@posix
@pytest.mark.parametrize(
    "name",
    [
        *("with space.py", "sub folder/a.py", "é ü.py", 'quo"te.py', "back\\slash.py", "tab\t.py", "new\nline.py"),
        *("2020-01-01 00:00:00.py", " .py", "a\x1b[31m.py", os.fsdecode(b"not utf-8 \xff.py")),
    ],
)
def test_a_diff_of_any_file_can_be_applied(project: Project, name: str) -> None:
    try:
        project.write(name, content=STALE)
    except OSError:
        pytest.skip("this file system knows no such name")
    apply(diff(project), project.path)
    assert text_of(project, name) == text_of(project, "safe.py") == moved()


def test_a_diff_of_a_file_elsewhere_starts_at_the_root(project: Project) -> None:
    project.write("here/there.txt")
    path = (project.path / "safe.py").as_posix()
    assert diff(project, str(project.path / "safe.py")).startswith(b"--- a/safe.py\n")
    os.chdir(project.path / "here")
    assert project.run("check", "--diff", "../safe.py").out.startswith(f"--- a/{path.lstrip('/')}\n")


@posix
def test_what_people_see_of_a_diff_does_nothing_to_a_terminal(project: Project) -> None:
    hostile = "    # \x1b[31m \u202e \x9b \x07 \t. \r# .\n"
    project.write("safe.py", content=STALE.replace("    request = ", f"{hostile}    request = "))
    in_colour = project.run("check", "--diff", "--color=always").out
    shown = re.sub("\x1b\\[[0-9;]*m", "", in_colour)
    assert "     # ␛[31m \ufffd \ufffd ␇ \t. ␍# .\n" in shown
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e]", shown)


@posix
def test_a_terminal_is_told_from_a_pipe(project: Project) -> None:
    import pty

    project.write("safe.py", content=STALE.replace("    request = ", "    # \x1b[31m\n    request = "))
    reading, writing = pty.openpty()
    command = [sys.executable, "-m", "lint_rules", "check", "--isolated", "--diff", "--color=never"]
    environment = os.environ | {"PYTHONPATH": str(Path(check.__file__).parent.parent), "PYTHONUTF8": "1"}
    subprocess.run(command, stdout=writing, stderr=subprocess.DEVNULL, env=environment, timeout=60)
    os.close(writing)
    shown = os.read(reading, 65536).decode()
    os.close(reading)
    assert "# ␛[31m" in shown
    assert "\x1b" not in shown
    assert b"# \x1b[31m" in diff(project)


# -- standard input -----------------------------------------------------------------------------------------------


def run_on_stdin(project: Project, *words: str, source: str) -> subprocess.CompletedProcess[bytes]:
    root = str(Path(check.__file__).parent.parent)
    command = [sys.executable, "-m", "lint_rules", "check", "--isolated", *words, "-"]
    return subprocess.run(command, input=source.encode(), capture_output=True, env=os.environ | {"PYTHONPATH": root})


def test_stdin_goes_to_stdout(project: Project) -> None:
    done = run_on_stdin(project, "--fix", source=STALE.replace("\n", "\r\n"))
    assert (done.returncode, done.stdout) == (0, moved().replace("\n", "\r\n").encode())
    assert b"Applied 1 fix" in done.stderr


@pytest.mark.parametrize("source", [SHALLOW, "x = 1\n", "messages = (\n", ""])
def test_stdin_that_is_not_fixed_goes_to_stdout_as_it_is(project: Project, source: str) -> None:
    done = run_on_stdin(project, "--fix", source=source)
    assert done.stdout == source.encode()


def test_the_report_on_stdin_goes_to_stderr(project: Project) -> None:
    done = run_on_stdin(project, "--fix", source=SHALLOW)
    assert done.returncode == 1
    assert b"<stdin>:4:9: AGL201" in done.stderr


# -- which rules --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "codes"),
    [
        ([], {"AGL301", "AGL201"}),
        (["--unfixable", "AGL301"], {"AGL201"}),
        (["--fixable", "AGL301"], {"AGL301"}),
        (["--fixable", "stale-history-snapshot,AGL2", "--unfixable", "AGL2"], {"AGL301"}),
    ],
)
def test_fixable(project: Project, words: list[str], codes: set[str]) -> None:
    project.write("unsafe.py", content=SHALLOW)
    offered = {finding["code"] for finding in project.check(ABOUT, *words).json if finding["fix"]}
    assert offered == codes
    project.run("check", "--fix", "--unsafe-fixes", ABOUT, *words)
    left = {finding["code"] for finding in project.check(ABOUT).json}
    assert left == {"AGL301", "AGL201"} - codes


def test_fixable_in_the_configuration(project: Project) -> None:
    project.configure('unfixable = ["AGL3"]')
    assert project.run("check", "--fix").code == 1
    assert text_of(project, "safe.py") == STALE


def test_fixable_must_name_rules(project: Project) -> None:
    project.configure('fixable = ["AGL999"]')
    run = project.run("check")
    assert run.code == 2
    assert "AGL999" in run.err


def test_the_command_line_beats_the_file(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text('[tool.looplint]\nfixable = ["AGL1"]\nunfixable = ["AGL2"]\n')
    command = Layer(str(tmp_path), fixable=("AGL2", "AGL3"))
    assert Resolver(command).settings(str(tmp_path)).fixable == {r.code for r in RULES if r.code.startswith("AGL3")}


def test_a_suppressed_finding_is_not_fixed(project: Project) -> None:
    project.write("safe.py", content=STALE.replace("list(history)", "list(history)  # noqa: AGL301"))
    before = snapshot(project)
    assert project.run("check", "--fix").code == 0
    assert snapshot(project) == before


def test_force_exclude(project: Project) -> None:
    project.configure('exclude = ["safe.py"]')
    before = snapshot(project)
    assert project.run("check", "--fix", "--force-exclude", "safe.py").code == 0
    assert snapshot(project) == before


# -- writing ------------------------------------------------------------------------------------------------------


@posix
def test_mode_and_links_survive(project: Project) -> None:
    target = project.path / "elsewhere" / "target.py"
    project.write("elsewhere/target.py", content=STALE)
    target.chmod(0o750)
    link = project.path / "link.py"
    link.symlink_to(target)
    (project.path / "safe.py").unlink()
    project.run("check", "--fix", "link.py")
    assert link.is_symlink()
    assert target.read_text() == moved()
    assert stat.S_IMODE(target.stat().st_mode) == 0o750


def fail_to_write(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """The system refuses to put the new file in its place."""
    real = os.replace

    def replace(source: str, target: str) -> None:
        if os.path.basename(target) == name:
            raise PermissionError(13, "Permission denied")
        real(source, target)

    monkeypatch.setattr(files.os, "replace", replace)


def test_a_file_that_cannot_be_written_is_one_line_and_costs_no_other(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.write("other.py", content=STALE)
    fail_to_write(monkeypatch, "safe.py")
    run = project.run("check", "--fix")
    assert run.code == 2
    assert run.err == "looplint: error: safe.py: cannot be written: permission denied\n"
    assert run.out.startswith("safe.py:2:5: AGL301 "), "what is still in it"
    assert (
        "\nApplied 1 fix in 1 file.\nFound 1 problem in 1 file (2 files checked, 1 could not be written).\n" in run.out
    )
    assert text_of(project, "safe.py") == STALE
    assert text_of(project, "other.py") == moved()
    assert [*project.path.glob(".looplint-*")] == [], "nothing is left behind"


@posix
@pytest.mark.skipif(os.name == "posix" and os.geteuid() == 0, reason="the administrator may write anywhere")
def test_a_file_that_is_read_only_is_not_replaced(project: Project) -> None:
    (project.path / "safe.py").chmod(0o444)
    run = project.run("check", "--fix")
    assert run.code == 2
    assert "safe.py: cannot be written: permission denied" in run.err
    assert text_of(project, "safe.py") == STALE


def test_a_write_that_breaks_off_leaves_the_old_file(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    def fsync(descriptor: int) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(files.os, "fsync", fsync)
    run: Run = project.run("check", "--fix")
    assert run.code == 130
    assert run.err == "looplint: note: stopped: files that were done are fixed, all others are as they were\n"
    assert text_of(project, "safe.py") == STALE
    assert [path.name for path in project.path.iterdir()] == ["safe.py"]


def test_a_fix_that_is_dropped_is_told(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    from lint_rules.repairs import edits

    monkeypatch.setattr(edits, "apply", lambda tree, edits: tree)
    run = project.run("check", "--fix")
    assert run.code == 1
    assert run.err.startswith("looplint: note: safe.py:2: AGL301 is not fixed: its result")
    assert text_of(project, "safe.py") == STALE
