"""The GitHub Action: its file is what GitHub asks for, and its steps do their work when a runner's bash runs them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml
from published import validate

ROOT = Path(__file__).parent.parent
ACTION: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
BAD = (ROOT / "fixtures" / "stale_history_snapshot" / "bad_list_copy_helpdesk.py").read_text(encoding="utf-8")

pytestmark = pytest.mark.skipif(os.name != "posix", reason="runs bash")


@pytest.fixture
def installed(tmp_path: Path) -> Path:
    """What the first step leaves: a folder whose Python has looplint."""
    scripts = tmp_path / "temp" / "looplint" / "bin"
    scripts.mkdir(parents=True)
    (scripts / "python").write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    (scripts / "python").chmod(0o755)
    return tmp_path / "temp"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "agent.py").write_text(BAD, encoding="utf-8")
    return folder


def run(name: str, folder: Path, temp: Path, **inputs: str) -> subprocess.CompletedProcess[str]:
    """A step as a runner runs it, with these inputs and the defaults of all others."""
    (step,) = [step for step in ACTION["runs"]["steps"] if step["name"] == name]
    given = {
        f"inputs.{key}": inputs.get(key.replace("-", "_"), value["default"]) for key, value in ACTION["inputs"].items()
    }
    environment = {
        **os.environ,
        "RUNNER_TEMP": str(temp),
        "GITHUB_ACTION_PATH": str(ROOT),
        **filled(step["env"], given),
    }
    command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=300)


def filled(variables: Mapping[str, str], inputs: Mapping[str, str]) -> dict[str, str]:
    return {name: inputs[text.removeprefix("${{ ").removesuffix(" }}")] for name, text in variables.items()}


def test_the_file_is_what_github_asks_for() -> None:
    validate(ACTION, "github-action")


def test_no_input_is_part_of_a_script() -> None:
    """There, what a branch is called could be run."""
    assert not [step["name"] for step in ACTION["runs"]["steps"] if "${{" in step["run"]]


def test_paths_and_options_are_words(project: Path, installed: Path) -> None:
    for name in ("one.py", "two.py"):
        (project / name).write_text("x = (", encoding="utf-8")
    done = run("Check", project, installed, paths="one.py two.py", args="--exit-zero --exclude *.py")
    assert (done.returncode, done.stdout.count("::error"), done.stderr) == (0, 2, "")
    assert run("Check", project, installed, paths="$(touch made)").returncode == 2
    assert not (project / "made").exists()


def test_findings_stand_beside_their_lines_and_in_sarif(project: Path, installed: Path) -> None:
    done = run("Check", project, installed, sarif_file="out/looplint.sarif")
    assert (done.returncode, done.stdout.count("::error file=agent.py,line="), done.stderr) == (1, 1, "")
    document = json.loads((project / "out" / "looplint.sarif").read_text())
    validate(document, "sarif-2.1.0")
    assert [result["ruleId"] for result in document["runs"][0]["results"]] == ["AGL301"]


@pytest.mark.skipif(os.environ.get("LOOPLINT_HEAVY") != "1", reason="installs packages: LOOPLINT_HEAVY=1 runs it")
def test_the_action_installs_itself(project: Path, tmp_path: Path) -> None:
    temp = tmp_path / "runner"
    temp.mkdir()
    done = run("Install looplint", project, temp, packages=str(ROOT / "tests" / "plugin_example"))
    assert done.returncode == 0, done.stderr
    assert run("Check", project, temp).returncode == 1
    assert "ACM101" in run("Check", project, temp, args="--select ACM").stdout
    (project / "agent.py").unlink()
    (project / "fine.py").write_text("x = 1\n")
    assert run("Check", project, temp).returncode == 0
