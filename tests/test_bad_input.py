"""Whatever is in the files and folders: one clear word about each that is bad, and the others are checked.

Uses the real engine, in files without agents: what it says of broken ones is decided before any rule.
"""

from __future__ import annotations

import inspect
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from marked_engine import Project

from lint_rules import files
from lint_rules.finding import NOT_ANALYSED
from lint_rules.layer import OUTPUT_FORMATS

posix = pytest.mark.skipif(os.name != "posix", reason="file names of bytes")


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Project:
    return Project(tmp_path, monkeypatch, capsys)


def looplint(*arguments: str, cwd: Path, **environment: str) -> subprocess.CompletedProcess[bytes]:
    """The real command in a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", "lint_rules", *arguments],
        cwd=cwd,
        capture_output=True,
        timeout=60,
        env={**os.environ, **environment},
    )


BROKEN: dict[str, bytes] = {
    "syntax": b"def f(:\n    pass\n",
    "indent": b"x = 1\n\ty = 2\n",
    "unfinished": b"x = (\n",
    "python2": b"print 'hello'\n",
    "nul": b"x = 1\0\n",
    "only_nul": b"\0",
    "unknown_encoding": b"# -*- coding: unheard-of -*-\nx = 1\n",
    "wrong_encoding": b"x = '\xff'\n",
    "bom_and_cookie": b"\xef\xbb\xbf# coding: latin-1\nx = 1\n",
    "utf16": "x = 1\n".encode("utf-16"),
    "binary": bytes(range(256)),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_file_is_a_finding_and_the_others_are_checked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    from lint_rules.cli import main

    monkeypatch.chdir(tmp_path)
    (tmp_path / "broken.py").write_bytes(BROKEN[name])
    (tmp_path / "whole.py").write_bytes(b"\xef\xbb\xbfx = 1\r\n")
    assert main(["check", "--output-format", "json"]) == 2
    out, err = capsys.readouterr()
    assert err == ""
    (found,) = json.loads(out)
    assert (found["path"], found["code"], found["name"]) == ("broken.py", NOT_ANALYSED, "not-analysed")
    assert found["message"]
    assert main(["check", "--exit-zero", "--color=always"]) == 0
    text = capsys.readouterr().out
    assert "broken.py\x1b[0m:" in text
    assert text.endswith("No problems found (1 file checked, 1 could not be checked).\n")


def test_all_broken_files_at_once(tmp_path: Path) -> None:
    for name, source in BROKEN.items():
        (tmp_path / f"{name}.py").write_bytes(source)
    done = looplint("check", "--output-format=concise", cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr == b""
    assert [line.split(b".py:")[0].decode() for line in done.stdout.splitlines()] == sorted(BROKEN)


def test_nesting_beyond_all_measure(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_bytes(b"(" * 20_000 + b")" * 20_000)
    assert looplint("check", cwd=tmp_path).returncode == 2


def test_odd_but_valid_files(tmp_path: Path) -> None:
    for name, source in {
        "empty": b"",
        "bom": b"\xef\xbb\xbf",
        "no_newline": b"x = 1",
        "carriage_returns": b"x = 1\ry = 2\r",
        "form_feed": b"\x0cx = 1\n",
        "latin": b"# coding: latin-1\nx = '\xe9'\n",
        "invalid_escape": b"x = '\\d'\n",
        "assertion": b"assert (1, 'always true')\n",
    }.items():
        (tmp_path / f"{name}.py").write_bytes(source)
    done = looplint("check", cwd=tmp_path)
    assert (done.stdout.decode().strip(), done.stderr) == ("All clear: 8 files checked.", b"")


@pytest.mark.parametrize("content", ["BOOM", "PANIC"])
def test_a_failure_of_the_engine_costs_one_file(project: Project, content: str) -> None:
    project.write("a.py", "c.py")
    project.write("b.py", content=content)
    run = project.check()
    assert run.code == 2
    assert run.paths == ["a.py", "b.py", "c.py"]
    assert run.json[1]["code"] == NOT_ANALYSED
    assert "looplint itself failed on this file" in run.json[1]["message"]
    assert "\n" not in run.json[1]["message"]
    assert run.err == ""


# -- paths --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "complaint"),
    [
        ("missing.py", "missing.py: no such file or folder"),
        ("missing/", "missing/: no such file or folder"),
        ("", ": no such file or folder"),
        ("a.py/b.py", "a.py/b.py: not a directory"),
        ("x" * 5000, "file name too long"),
        ("nul\0", "nul\\x00: not a path"),
    ],
)
def test_a_bad_path_is_one_line_and_the_others_are_checked(project: Project, name: str, complaint: str) -> None:
    project.write("a.py", "z.py")
    run = project.check("a.py", name, "z.py")
    assert run.code == 2
    assert run.paths == ["a.py", "z.py"]
    assert complaint in run.err
    assert run.err.count("\n") == 1


@posix
def test_a_file_that_is_a_loop(project: Project) -> None:
    os.symlink("loop.py", project.path / "loop.py")
    project.write("z.py")
    for words in ([], ["loop.py", "z.py"]):
        run = project.check(*words)
        assert (run.code, run.paths) == (2, ["z.py"])
        assert run.err == "looplint: error: loop.py: a symbolic link that leads back to itself\n"


def refuse(monkeypatch: pytest.MonkeyPatch, function: str, name: str) -> None:
    """Make one path unreadable, for root, too, whom no permissions stop."""
    real: Any = getattr(os, function) if function == "scandir" else files.read

    def guarded(path: str, *rest: Any) -> Any:
        if os.path.basename(path) == name:
            raise PermissionError(13, "Permission denied", path)
        return real(path, *rest)

    monkeypatch.setattr(*((os, "scandir") if function == "scandir" else (files, "read")), guarded)


def test_an_unreadable_file(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    project.write("a.py", "locked.py", "z.py")
    refuse(monkeypatch, "read", "locked.py")
    run = project.check()
    assert (run.code, run.paths) == (2, ["a.py", "z.py"])
    assert run.err == "looplint: error: locked.py: permission denied\n"
    assert project.check("--exit-zero").code == 2
    assert project.run("check").out.endswith("Found 2 problems in 2 files (2 files checked, 1 could not be checked).\n")


def test_an_unreadable_folder(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    project.write("a.py", "locked/b.py", "z.py")
    refuse(monkeypatch, "scandir", "locked")
    run = project.check()
    assert (run.code, run.paths) == (2, ["a.py", "z.py"])
    assert run.err == "looplint: error: locked: permission denied\n"


@pytest.mark.skipif(os.name != "posix" or not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may read all")
def test_permissions(project: Project) -> None:
    project.write("a.py", "locked.py")
    (project.path / "locked.py").chmod(0)
    assert project.check().paths == ["a.py"]


@posix
def test_the_current_folder_may_be_gone(tmp_path: Path) -> None:
    script = "import os, sys; os.mkdir('gone'); os.chdir('gone'); os.rmdir('../gone')\n"
    script += "from lint_rules.cli import main; raise SystemExit(main(['check']))"
    done = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (2, "looplint: error: the current folder does not exist any more\n")


def test_folders_deeper_than_python_calls(project: Project) -> None:
    """With a low limit in place of folders so deep that nobody could remove them."""
    file = "/".join(["d"] * 200) + "/a.py"
    project.write(file, "b.py")
    assert project.check("b.py").paths == ["b.py"], "now all is imported"
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(len(inspect.stack()) + 100)
    try:
        run = project.check("d")
    finally:
        sys.setrecursionlimit(limit)
    assert run.paths == [file]


# -- names and terminals ------------------------------------------------------------------------------------------


@posix
@pytest.mark.skipif(sys.platform == "darwin", reason="names must be UTF-8 there")
@pytest.mark.parametrize("output_format", OUTPUT_FORMATS)
def test_names_that_are_no_text_on_terminals_that_know_little(tmp_path: Path, output_format: str) -> None:
    for name in (b"caf\xe9.py", "名.py".encode(), b"new\nline\x1b[31m.py"):
        Path(os.fsdecode(os.path.join(os.fsencode(tmp_path), name))).write_text("名 = (\n")
    done = looplint(
        "check", "--output-format", output_format, cwd=tmp_path, PYTHONIOENCODING="ascii", LC_ALL="C", PYTHONUTF8="0"
    )
    assert (done.returncode, done.stderr) == (2, b"")
    assert done.stdout.isascii()
    assert b"\x1b" not in done.stdout
    assert (b"caf%E9" if output_format == "sarif" else b"caf\\") in done.stdout
    if output_format == "json":
        assert len(json.loads(done.stdout)) == 3
    elif output_format == "concise":
        assert done.stdout.count(b"\n") == 3


@posix
def test_a_missing_name_that_is_no_text(tmp_path: Path) -> None:
    done = looplint("check", os.fsdecode(b"caf\xe9.py"), cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr == b"looplint: error: caf\\udce9.py: no such file or folder\n"


# -- standard streams ---------------------------------------------------------------------------------------------

FULL = Path("/dev/full")
ROOT = str(Path(files.__file__).parent.parent)


def redirected(words: str, redirection: str, cwd: Path, unbuffered: str) -> tuple[int, str, str]:
    """The exit code of a command of a shell, and what reaches the streams that are left."""
    done = subprocess.run(
        ["sh", "-c", f'"{sys.executable}" -m lint_rules {words} {redirection}'],
        cwd=cwd,
        capture_output=True,
        timeout=240,
        env={**os.environ, "PYTHONPATH": ROOT, "PYTHONUNBUFFERED": unbuffered},
    )
    return done.returncode, done.stdout.decode(), done.stderr.decode()


MISSING = "looplint: error: missing.py: no such file or folder\n"
NO_SPACE = "looplint: error: standard output: no space left on device\n"


@posix
@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize(
    ("words", "redirection", "code", "out", "err"),
    [
        ("check clean.py", ">&-", 0, "", ""),
        ("check broken.py missing.py", ">&-", 2, "", MISSING),
        ("check --output-format=json clean.py missing.py", "2>&-", 2, "[]\n", ""),
        ("check --output-format=json clean.py missing.py", "<&- 2>&-", 2, "[]\n", ""),
        ("check broken.py missing.py", ">&- 2>&- <&-", 2, "", ""),
        ("check clean.py", ">/dev/full", 2, "", NO_SPACE),
        ("check --statistics --output-format=json clean.py", ">/dev/full", 2, "", NO_SPACE),
        ("check many.py", ">/dev/full", 2, "", NO_SPACE),
        ("rules", ">/dev/full", 2, "", NO_SPACE),
        ("--version", ">/dev/full", 2, "", NO_SPACE),
        ("--help", ">/dev/full", 2, "", NO_SPACE),
        ("--version", ">&-", 0, "", ""),
        ("check --output-format=json clean.py missing.py", "2>/dev/full", 2, "[]\n", ""),
        ("check clean.py", "2>/dev/full", 0, "All clear: 1 file checked.\n", ""),
        ("check --nonsense", "2>/dev/full", 2, "", ""),
        ("check clean.py", ">/dev/full 2>/dev/full", 2, "", ""),
        ("check -", "<&-", 2, "", "looplint: error: standard input cannot be read: closed\n"),
        ("check --fix - <clean.py", ">/dev/full", 2, "", NO_SPACE),
    ],
)
def test_streams_that_are_closed_or_full(
    tmp_path: Path, words: str, redirection: str, code: int, out: str, err: str, unbuffered: str
) -> None:
    if str(FULL) in redirection and not FULL.exists():
        pytest.skip("no full device here")
    (tmp_path / "clean.py").write_text("x = 1\n")
    (tmp_path / "broken.py").write_text("x = (\n")
    (tmp_path / "many.py").write_text("def run(client, messages):\n" + "    messages = [m for m in messages\n" * 9)
    assert redirected(words, redirection, tmp_path, unbuffered) == (code, out, err)


@posix
def test_a_reader_that_goes_away_is_no_bug(tmp_path: Path) -> None:
    script = f'("{sys.executable}" -m lint_rules rules; echo $? >&2) | true'
    done = subprocess.run(
        ["sh", "-c", script], cwd=tmp_path, capture_output=True, timeout=240, env={**os.environ, "PYTHONPATH": ROOT}
    )
    assert done.stderr in (b"130\n", b"0\n")  # the reader may take long to go


@posix
def test_a_file_never_takes_the_place_of_a_closed_stream(tmp_path: Path) -> None:
    """What native code prints (a panic) would go into a file that we write."""
    (tmp_path / "clean.py").write_text("x = 1\n")
    script = (
        "import os, sys; from lint_rules import cli, saving; made = saving._made\n"
        "def noting(folder, mode):\n    file, name = made(folder, mode); print(file.fileno()); return file, name\n"
        "saving._made = noting; cli.main(['check', '-q', 'clean.py'])"
    )
    done = subprocess.run(
        ["sh", "-c", f'exec "{sys.executable}" -c "$1" <&- 2>&-', "sh", script],
        cwd=tmp_path,
        capture_output=True,
        timeout=240,
        env={**os.environ, "PYTHONPATH": ROOT},
    )
    numbers = done.stdout.split()
    assert numbers
    assert all(int(number) > 2 for number in numbers)


@posix
def test_a_system_that_says_no_is_no_bug(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    def render(*_: object) -> None:
        raise OSError(24, "Too many open files", "somewhere")

    project.write("a.py")
    monkeypatch.setattr("lint_rules.cli.report.summary", render)
    run = project.run("check")
    assert (run.code, run.err) == (2, "looplint: error: somewhere: too many open files\n")
