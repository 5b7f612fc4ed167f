"""A fix that is broken off, by whatever, leaves the old file or the new one: never a part, never nothing."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from test_fix import STALE

ROOT = Path(__file__).parent.parent
LONG = STALE + "\n\n" + "# a long file takes longer to write\n" * 3_000
posix = pytest.mark.skipif(os.name != "posix", reason="signals and limits")


def words(*more: str) -> list[str]:
    return [sys.executable, "-m", "lint_rules", "check", "--select=AGL301", "--fix", "--no-cache", "--isolated", *more]


def environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(ROOT)}


def fixed(text: str) -> str:
    line, loop = "    request = list(history)\n", "    for _ in range(20):\n"
    return text.replace(line, "").replace(loop, f"{loop}    {line}")


def broken(folder: Path, old: str) -> list[str]:
    """Files that are neither as they were nor fixed."""
    fine = {old, fixed(old)}
    return [path.name for path in sorted(folder.glob("*.py")) if path.read_text(encoding="utf-8") not in fine]


def fill(folder: Path, text: str, number: int) -> None:
    for index in range(number):
        (folder / f"agent_{index:03}.py").write_text(text, encoding="utf-8")


@posix
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT], ids=lambda how: how.name)
def test_a_run_that_is_killed_while_it_writes(tmp_path: Path, how: signal.Signals) -> None:
    """All findings are known before the first file is written: the kill comes when the first files have changed."""
    fill(tmp_path, LONG, 12)
    before = {path: path.stat().st_ino for path in tmp_path.glob("*.py")}
    process = subprocess.Popen(
        words("--jobs=1", "."),
        cwd=tmp_path,
        env=environment(),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    deadline = time.monotonic() + 240
    while process.poll() is None and time.monotonic() < deadline:
        if any(path.stat().st_ino != inode for path, inode in before.items()):
            break
    time.sleep(random.Random(how).uniform(0, 0.01))
    process.send_signal(how)
    process.wait(timeout=240)
    assert broken(tmp_path, LONG) == []
    changed = [path for path, inode in before.items() if path.stat().st_ino != inode]
    assert changed, "the kill came too early to test anything"
    again = subprocess.run(words("."), cwd=tmp_path, env=environment(), capture_output=True, text=True, check=False)
    assert again.returncode == 0, again.stdout + again.stderr
    assert {path.read_text(encoding="utf-8") for path in tmp_path.glob("*.py")} == {fixed(LONG)}


@posix
def test_a_disk_that_is_full(tmp_path: Path) -> None:
    """A limit on the size of files stands for the disk: the write fails half-way, as it does when space runs out."""
    fill(tmp_path, LONG, 2)
    (tmp_path / "small.py").write_text(STALE, encoding="utf-8")
    limited = (
        "import resource, runpy, signal, sys; "
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN); "
        "resource.setrlimit(resource.RLIMIT_FSIZE, (65536, 65536)); "
        "sys.argv[1:] = sys.argv[2:]; runpy.run_module('lint_rules', run_name='__main__')"
    )
    run = subprocess.run(
        [sys.executable, "-c", limited, "looplint", *words("--jobs=1", ".")[3:]],
        cwd=tmp_path,
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 2, run.stdout + run.stderr
    assert run.stderr.count("cannot be written") == 2
    assert broken(tmp_path, LONG) == ["small.py"]
    assert (tmp_path / "small.py").read_text(encoding="utf-8") == fixed(STALE)
    assert not list(tmp_path.glob(".looplint-*"))


def test_two_runs_on_one_file(tmp_path: Path) -> None:
    fill(tmp_path, LONG, 3)
    running = [
        subprocess.Popen(words("."), cwd=tmp_path, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        for _ in range(3)
    ]
    for process in running:
        said, _ = process.communicate(timeout=240)
        assert process.returncode == 0, said.decode()
    assert {path.read_text(encoding="utf-8") for path in tmp_path.glob("*.py")} == {fixed(LONG)}
    assert not list(tmp_path.glob(".looplint-*"))
