"""The pre-commit door: pre-commit installs this checkout as it stands, and runs its hook on a project."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(
    os.environ.get("LOOPLINT_HEAVY") != "1", reason="installs packages: LOOPLINT_HEAVY=1 runs it"
)

ROOT = Path(__file__).parent.parent
RULE = ROOT / "fixtures" / "first_tool_only_comparison"
CODE = "AGL401"
# A run started by a git hook finds git's variables set, and they point at the wrong repository.
ENVIRONMENT = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
IDENTITY = ("-c", "user.name=test", "-c", "user.email=test@example.org", "-c", "commit.gpgsign=false")


def git(folder: Path, *arguments: str) -> str:
    command = ["git", *IDENTITY, *arguments]
    return subprocess.run(command, cwd=folder, env=ENVIRONMENT, check=True, capture_output=True, text=True).stdout


@pytest.fixture(scope="module")
def hooks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository with this checkout as its one commit, changes that are not committed yet included."""
    folder = tmp_path_factory.mktemp("hooks")
    for name in git(ROOT, "ls-files", "--cached", "--others", "--exclude-standard", "-z").split("\0"):
        if name and (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name)
    commit(folder)
    return folder


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """pre-commit's home: the hook is installed once for all tests here."""
    return tmp_path_factory.mktemp("cache")


def commit(folder: Path) -> None:
    git(folder, "init", "--quiet")
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--no-verify", "--allow-empty", "--message", "all")


def run_hook(project: Path, hooks: Path, cache: Path, hook: str = "looplint") -> subprocess.CompletedProcess[str]:
    revision = git(hooks, "rev-parse", "HEAD").strip()
    (project / ".pre-commit-config.yaml").write_text(
        f"repos:\n- repo: {hooks.as_uri()}\n  rev: {revision}\n  hooks:\n  - id: {hook}\n"
    )
    commit(project)
    return subprocess.run(
        [sys.executable, "-m", "pre_commit", "run", "--all-files", "--color=never"],
        cwd=project,
        env=ENVIRONMENT | {"PRE_COMMIT_HOME": str(cache)},
        capture_output=True,
        text=True,
        timeout=600,
    )


def fixture(pattern: str) -> str:
    return sorted(file for file in RULE.glob(pattern) if ".fixed" not in file.name)[0].read_text()


def test_a_bad_file_fails_with_its_code(tmp_path: Path, hooks: Path, cache: Path) -> None:
    (tmp_path / "agent.py").write_text(fixture("bad_*.py"))
    (tmp_path / "notes.md").write_text("messages.append(reply)\n")
    cell = {"cell_type": "code", "source": fixture("bad_*.py"), "metadata": {}, "outputs": [], "execution_count": None}
    notebook = {"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 4}
    (tmp_path / "agent.ipynb").write_text(json.dumps(notebook))
    done = run_hook(tmp_path, hooks, cache)
    assert done.returncode == 1, done.stdout + done.stderr
    assert "Failed" in done.stdout
    assert CODE in done.stdout
    assert "agent.py" in done.stdout
    assert "agent.ipynb:cell 1:" in done.stdout
    assert "notes.md" not in done.stdout


def test_a_good_file_passes(tmp_path: Path, hooks: Path, cache: Path) -> None:
    (tmp_path / "agent.py").write_text(fixture("good_*.py"))
    done = run_hook(tmp_path, hooks, cache)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Passed" in done.stdout


def test_an_excluded_file_is_not_looked_at(tmp_path: Path, hooks: Path, cache: Path) -> None:
    (tmp_path / "agent.py").write_text(fixture("bad_*.py"))
    (tmp_path / "pyproject.toml").write_text('[tool.looplint]\nexclude = ["agent.py"]\n')
    done = run_hook(tmp_path, hooks, cache)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Passed" in done.stdout


def test_the_fixing_hook_fixes_and_fails_once(tmp_path: Path, hooks: Path, cache: Path) -> None:
    """pre-commit fails a hook that changes files, so that the changes are looked at; the second run passes."""
    folder = ROOT / "fixtures" / "stale_history_snapshot"
    (tmp_path / "agent.py").write_text((folder / "bad_list_copy_helpdesk.py").read_text())
    done = run_hook(tmp_path, hooks, cache, "looplint-fix")
    assert done.returncode == 1, done.stdout + done.stderr
    assert "files were modified by this hook" in done.stdout
    assert (tmp_path / "agent.py").read_text() == (folder / "bad_list_copy_helpdesk.fixed.py").read_text()
    done = run_hook(tmp_path, hooks, cache, "looplint-fix")
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_fixing_hook_leaves_excluded_files_alone(tmp_path: Path, hooks: Path, cache: Path) -> None:
    bad = (ROOT / "fixtures" / "stale_history_snapshot" / "bad_list_copy_helpdesk.py").read_text()
    (tmp_path / "agent.py").write_text(bad)
    (tmp_path / "pyproject.toml").write_text('[tool.looplint]\nexclude = ["agent.py"]\n')
    assert run_hook(tmp_path, hooks, cache, "looplint-fix").returncode == 0
    assert (tmp_path / "agent.py").read_text() == bad
