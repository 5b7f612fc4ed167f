"""Files are replaced whole, never over somebody else's work, and what a killed run leaves is found by the next."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from marked_engine import Project
from test_fix import STALE
from test_fix_cli import moved

from lint_rules import check, saving
from lint_rules import run as runner

ROOT = Path(__file__).parent.parent
real_check = check.check_source
posix = pytest.mark.skipif(os.name != "posix", reason="links, locks and modes")
administrator = pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="only root gives files away")


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Project:
    project = Project(tmp_path, monkeypatch, capsys)
    project.use(real_check)
    project.write("a.py", "b.py", content=STALE)
    return project


def fix(project: Project, *names: str) -> tuple[int, str, str]:
    run = project.run("check", "--fix", "--no-cache", *names)
    return run.code, run.out, run.err


def text(path: Path) -> str:
    return path.read_bytes().decode()


def left(project: Project) -> list[str]:
    return sorted(path.name for path in project.path.iterdir())


# -- somebody else's work -----------------------------------------------------------------------------------------

EDITED = STALE + "\n# an hour of work\n"


def in_place(path: Path) -> None:
    path.write_text(EDITED)


def by_rename(path: Path) -> None:
    path.with_suffix(".new").write_text(EDITED)
    path.with_suffix(".new").replace(path)


def after_check(project: Project, edit: Callable[[Path], None], name: str = "a.py") -> None:
    """Let somebody edit a file while looplint checks it."""
    edits = [edit]

    def engine(source: bytes, path: str, options: check.Options, **given: object) -> check.Report:
        report = real_check(source, path, options, **given)  # type: ignore[arg-type]
        if path == name and edits:
            edits.pop()(project.path / name)
        return report

    project.use(engine)


LEFT = "looplint: error: a.py: left as it is: it was changed while it was checked; run looplint again\n"


@pytest.mark.parametrize("edit", [in_place, by_rename])
def test_an_edit_that_is_saved_meanwhile_stays(project: Project, edit: Callable[[Path], None]) -> None:
    after_check(project, edit)
    code, out, err = fix(project)
    assert (code, err) == (2, LEFT)
    assert out.startswith("a.py:2:5: AGL301 "), "it is told what is in the file as it is now"
    assert out.endswith(
        "Applied 1 fix in 1 file.\n"
        "Found 1 problem in 1 file (2 files checked, 1 could not be written).\n"
        "Fixes are at hand: 1 with --fix.\n"
    )
    assert text(project.path / "a.py") == EDITED
    assert text(project.path / "b.py") == moved()
    assert left(project) == ["a.py", "b.py"]
    assert fix(project)[0] == 0
    assert text(project.path / "a.py") == moved(EDITED)


@pytest.mark.parametrize("edit", [in_place, by_rename])
def test_an_edit_that_is_saved_in_the_last_moment_stays(
    project: Project, monkeypatch: pytest.MonkeyPatch, edit: Callable[[Path], None]
) -> None:
    """When the new file is ready, and only the name is to be given to it."""
    real = saving._dressed

    def dressed(new: str, old: str, state: os.stat_result) -> bool:
        edit(Path(old))
        return real(new, old, state)

    monkeypatch.setattr(saving, "_dressed", dressed)
    code, _, err = fix(project, "a.py")
    assert (code, err) == (2, LEFT)
    assert text(project.path / "a.py") == EDITED
    assert left(project) == ["a.py", "b.py"]


@posix
def test_an_edit_before_a_file_of_two_names_is_overwritten_stays(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    os.link("a.py", "again.py")
    real = saving._lock

    def lock(file: saving.FileIO) -> bool | None:
        if str(file.name).endswith(saving.COPY):
            in_place(project.path / "a.py")
        return real(file)

    monkeypatch.setattr(saving, "_lock", lock)
    assert fix(project, "a.py")[2] == LEFT
    assert text(project.path / "a.py") == EDITED
    assert left(project) == ["a.py", "again.py", "b.py"]


def test_a_file_that_is_removed_meanwhile_stays_away(project: Project) -> None:
    after_check(project, Path.unlink)
    code, _, err = fix(project)
    assert code == 2
    assert "looplint: error: a.py: cannot be written: no such file or folder\n" in err
    assert left(project) == ["b.py"]


def test_a_file_that_is_saved_as_it_was_is_fixed(project: Project) -> None:
    def save_again(path: Path) -> None:
        path.with_suffix(".new").write_text(STALE)
        path.with_suffix(".new").replace(path)

    after_check(project, save_again)
    assert fix(project)[::2] == (0, "")
    assert text(project.path / "a.py") == moved()


def test_what_another_run_has_fixed_is_no_trouble(project: Project) -> None:
    after_check(project, lambda path: path.write_text(moved()) and None)
    assert fix(project)[::2] == (0, "")


@posix
def test_a_link_that_leads_elsewhere_meanwhile_changes_nothing_there(project: Project) -> None:
    project.write("other.py", content=EDITED)

    def relink(path: Path) -> None:
        path.unlink()
        path.symlink_to("other.py")

    after_check(project, relink)
    assert fix(project, "a.py", "b.py")[::2] == (2, LEFT)
    assert text(project.path / "other.py") == EDITED


# -- each at its time ---------------------------------------------------------------------------------------------


def test_a_file_is_written_when_it_is_done(project: Project) -> None:
    seen: list[str] = []

    def engine(source: bytes, path: str, options: check.Options, **given: object) -> check.Report:
        if path == "b.py" and not seen:
            seen.append(text(project.path / "a.py"))
        return real_check(source, path, options, **given)  # type: ignore[arg-type]

    project.use(engine)
    assert fix(project)[0] == 0
    assert seen == [moved()]


@pytest.mark.skipif(sys.platform != "linux", reason="processes are forked, with the engine of this test")
def test_a_file_does_not_wait_for_those_before_it(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first file takes until all others are fixed."""
    monkeypatch.setattr(runner, "FEW_BYTES", 1)
    monkeypatch.setattr("lint_rules.processes.CHUNK_ITEMS", 1)
    others = [project.path / f"c{number:02}.py" for number in range(20)]
    for path in others:
        path.write_text(STALE)

    def engine(source: bytes, path: str, options: check.Options, **given: object) -> check.Report:
        deadline = time.monotonic() + 240
        while path == "a.py" and time.monotonic() < deadline and any(text(other) == STALE for other in others):
            time.sleep(0.01)
        return real_check(source, path, options, **given)  # type: ignore[arg-type]

    project.use(engine)
    seen = []
    real = runner._saved

    def saved(task: runner.Task, outcome: runner.Outcome) -> runner.Outcome:
        seen.append(task.path)
        return real(task, outcome)

    monkeypatch.setattr(runner, "_saved", saved)
    run = project.run("check", "--fix", "--no-cache", "--jobs=2")
    assert run.code == 0, run.out + run.err
    assert run.out.startswith("Applied 22 fixes in 22 files.\n")
    assert seen[-1] == "a.py"


@pytest.mark.skipif(sys.platform != "linux", reason="processes are forked, with the engine of this test")
def test_a_process_that_dies_costs_no_other_file_its_fix(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runner, "FEW_BYTES", 1)
    project.write("die.py", *(f"c{number:02}.py" for number in range(20)), content=STALE)
    here = os.getpid()

    def engine(source: bytes, path: str, options: check.Options, **given: object) -> check.Report:
        if path == "die.py" and os.getpid() != here:
            os._exit(3)
        return real_check(source, path, options, **given)  # type: ignore[arg-type]

    project.use(engine)
    run = project.run("check", "--fix", "--no-cache", "--jobs=2")
    assert run.code == 2
    assert "\nApplied 22 fixes in 22 files.\n" in run.out
    assert {path.name for path in project.path.glob("*.py") if text(path) != moved()} == {"die.py"}
    assert text(project.path / "die.py") == STALE


# -- files that have to stay the file they are --------------------------------------------------------------------


@posix
def test_all_names_of_a_file_see_the_fix(project: Project) -> None:
    os.link("a.py", "again.txt")
    before = os.stat("a.py")
    assert fix(project, "a.py")[::2] == (0, "")
    assert os.stat("a.py").st_ino == os.stat("again.txt").st_ino == before.st_ino
    assert text(project.path / "again.txt") == moved()
    assert left(project) == ["a.py", "again.txt", "b.py"]


def broken_put(monkeypatch: pytest.MonkeyPatch, name: str, *problems: BaseException) -> None:
    """Half of what is written to a file gets there, once for each problem."""
    real = saving._put
    rest = list(problems)

    def put(file: saving.FileIO, source: bytes) -> None:
        if os.path.basename(str(file.name)) == name and rest:
            real(file, source[: len(source) // 2])
            raise rest.pop(0)
        real(file, source)

    monkeypatch.setattr(saving, "_put", put)


@posix
@pytest.mark.parametrize(("problem", "code"), [(OSError(28, "No space left on device"), 2), (KeyboardInterrupt(), 130)])
def test_what_breaks_off_in_place_is_restored(
    project: Project, monkeypatch: pytest.MonkeyPatch, problem: BaseException, code: int
) -> None:
    os.link("a.py", "again.txt")
    broken_put(monkeypatch, "a.py", problem)
    assert fix(project, "a.py")[0] == code
    assert text(project.path / "a.py") == STALE
    assert left(project) == ["a.py", "again.txt", "b.py"]


@posix
@pytest.mark.parametrize(
    ("problem", "why"),
    [(OSError(5, "Input/output error"), "input/output error"), (KeyboardInterrupt(), "KeyboardInterrupt")],
)
def test_what_cannot_be_restored_is_kept_and_told(
    project: Project, monkeypatch: pytest.MonkeyPatch, problem: BaseException, why: str
) -> None:
    os.link("a.py", "again.txt")
    broken_put(monkeypatch, "a.py", OSError(28, "No space left on device"), problem)
    code, _, err = fix(project, "a.py")
    assert (code, err) == (
        2,
        f"looplint: error: a.py: half-written ({why}); "
        "a.py.looplint-old holds it as it was: put that back, or delete it\n",
    )
    assert text(project.path / "a.py.looplint-old") == STALE


@posix
def test_a_folder_that_takes_no_files(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(path: str, mode: int) -> saving.FileIO:
        raise PermissionError(13, "Permission denied", path)

    monkeypatch.setattr(saving, "_opened_new", refuse)
    code, _, err = fix(project, "a.py")
    why = "its folder takes no new files (permission denied), so no write would be safe"
    assert (code, err) == (2, f"looplint: error: a.py: left as it is: {why}\n")
    assert text(project.path / "a.py") == STALE


@administrator
@pytest.mark.parametrize("may_give", [True, False])
def test_the_owner_stays(project: Project, monkeypatch: pytest.MonkeyPatch, may_give: bool) -> None:
    os.chown("a.py", 12345, 23456)
    os.chmod("a.py", 0o640)
    if not may_give:

        def chown(path: str, user: int, group: int) -> None:
            raise PermissionError(1, "Operation not permitted")

        monkeypatch.setattr(os, "chown", chown)
    assert fix(project, "a.py")[::2] == (0, "")
    now = os.stat("a.py")
    assert (now.st_uid, now.st_gid, stat.S_IMODE(now.st_mode)) == (12345, 23456, 0o640)
    assert text(project.path / "a.py") == moved()
    assert left(project) == ["a.py", "b.py"]


@pytest.mark.skipif(sys.platform != "linux", reason="Python knows the attributes of Linux only")
def test_attributes_stay(project: Project) -> None:
    try:
        os.setxattr("a.py", "user.origin", b"mine")
    except OSError:
        pytest.skip("no attributes on this file system")
    assert fix(project, "a.py")[::2] == (0, "")
    assert os.getxattr("a.py", "user.origin") == b"mine"


@posix
def test_a_file_that_is_mounted_by_itself(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """As containers do it: it may be written, and nothing may take its name."""

    def rename(source: str, target: str) -> None:
        raise OSError(16, "Device or resource busy")

    monkeypatch.setattr(os, "replace", rename)
    assert fix(project, "a.py")[::2] == (0, "")
    assert text(project.path / "a.py") == moved()
    assert left(project) == ["a.py", "b.py"]


@posix
def test_a_pipe_is_left_alone(project: Project) -> None:
    os.mkfifo("pipe.py")
    with pytest.raises(saving.Refused, match="it is no regular file"):
        saving.save("pipe.py", b"", b"")


# -- what killed runs leave ---------------------------------------------------------------------------------------


def killed(project: Project, name: str, share: float) -> None:
    """A run that is killed when it has written a part of a file of this name."""
    script = (
        "import os, signal, sys\n"
        "from lint_rules import cli, saving\n"
        "put = saving._put\n"
        "def half(file, source):\n"
        f"    if str(file.name).endswith({name!r}):\n"
        f"        put(file, source[:int(len(source) * {share})])\n"
        "        os.kill(os.getpid(), signal.SIGKILL)\n"
        "    put(file, source)\n"
        "saving._put = half\n"
        "cli.main(['check', '--fix', '--isolated', 'a.py'])\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, timeout=240)
    assert done.returncode == -9, done.stderr


def temporaries(folder: Path) -> list[Path]:
    return list(folder.rglob(".looplint-*.tmp"))


@posix
@pytest.mark.parametrize("share", [0.5, 1])
def test_temporary_files_of_a_killed_run_are_cleared_by_the_next(project: Project, share: float) -> None:
    project.write(".looplint-settings", ".looplint-0123456789abcdef.tmp/x.txt", content="mine")
    killed(project, ".tmp", share)
    assert text(project.path / "a.py") == STALE
    assert len([path for path in temporaries(project.path) if path.is_file()]) == 1
    assert fix(project, "b.py")[::2] == (0, ""), "any fix in this folder"
    assert left(project) == [".looplint-0123456789abcdef.tmp", ".looplint-settings", "a.py", "b.py"]


@posix
def test_what_a_living_run_needs_stays(project: Project) -> None:
    with saving._beside("a.py", 0o600) as (_, temporary):
        os.link("a.py", "again.txt")
        with saving._opened_new("b.py" + saving.COPY, 0o600) as copy:
            saving._lock(copy)
            saving._put(copy, b"what b.py does not hold")
            assert fix(project, "a.py")[::2] == (0, "")
            assert os.path.exists(temporary)
        assert os.path.exists("b.py" + saving.COPY)


@posix
def test_a_temporary_file_that_is_cleared_before_it_is_locked_is_made_again(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = saving._opened_new
    names: list[str] = []

    def opened(path: str, mode: int) -> saving.FileIO:
        file = real(path, mode)
        names.append(path)
        if len(names) == 1:
            assert list(saving.clear(str(project.path))) == []
        return file

    monkeypatch.setattr(saving, "_opened_new", opened)
    assert fix(project, "a.py")[::2] == (0, "")
    assert len(names) == 2
    assert left(project) == ["a.py", "b.py"]


@posix
def test_a_file_that_a_killed_run_left_half_written_is_told(project: Project) -> None:
    os.link("a.py", "again.txt")
    killed(project, "/a.py", 0.5)
    assert STALE.encode() not in (project.path / "a.py").read_bytes()
    code, _, err = fix(project, "b.py")
    assert (code, err) == (
        2,
        "looplint: error: a.py: a fix broke off while it was written; "
        "a.py.looplint-old holds it as it was: put that back, or delete it\n",
    )
    (project.path / "a.py").write_bytes((project.path / "a.py.looplint-old").read_bytes())
    assert fix(project, "a.py")[::2] == (0, "")
    assert left(project) == ["a.py", "again.txt", "b.py"]


@posix
@pytest.mark.parametrize("share", [0, 0.5, 1])
def test_a_copy_beside_a_whole_file_is_cleared(project: Project, share: float) -> None:
    os.link("a.py", "again.txt")
    killed(project, saving.COPY, share)
    assert left(project)[:2] == ["a.py", "a.py.looplint-old"]
    assert fix(project, "a.py")[::2] == (0, "")
    assert left(project) == ["a.py", "again.txt", "b.py"]


@posix
def test_temporary_files_of_the_cache_are_cleared(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    project.write("clean.py", content="x = 1\n")
    project.run("check", "clean.py")
    [cached] = (project.path / ".looplint_cache").glob("*/*.json")
    stale = cached.parent / ".looplint-0123456789abcdef.tmp"
    stale.write_text("half an ind")
    project.write("clean.py", content="x = 2\n")
    project.run("check", "clean.py")
    assert not stale.exists()
