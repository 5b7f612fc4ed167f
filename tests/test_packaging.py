"""What the package promises from outside: codes, entry points, cheap imports, hooks, the wheel's content."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import zipfile
from importlib import metadata
from pathlib import Path

import pytest

import lint_rules
from lint_rules.finding import NOT_ANALYSED
from lint_rules.flake8_plugin import AgentLoopPlugin
from lint_rules.rules import catalogue

ROOT = Path(__file__).parent.parent
HOOKS = ROOT / ".pre-commit-hooks.yaml"

heavy = pytest.mark.skipif(
    os.environ.get("LOOPLINT_HEAVY") != "1", reason="installs packages: LOOPLINT_HEAVY=1 runs it"
)


def run(*command: str, cwd: Path = ROOT) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, *command], cwd=cwd, capture_output=True, text=True, timeout=600)


@pytest.mark.parametrize("rule", catalogue.RULES, ids=lambda rule: rule.name)
def test_codes_and_names_are_such_that_every_door_takes_them(rule: catalogue.Rule) -> None:
    assert re.fullmatch(r"AGL\d{3}", rule.code)
    assert rule.code != NOT_ANALYSED
    assert re.fullmatch(r"[a-z]+(-[a-z]+)*", rule.name)
    assert catalogue.BY_CODE[rule.code] is catalogue.BY_NAME[rule.name] is rule


def test_entry_points() -> None:
    distribution = metadata.distribution("looplint")
    points = {(point.group, point.name): point for point in distribution.entry_points}
    assert distribution.version == lint_rules.__version__
    assert points["flake8.extension", "AGL"].load() is AgentLoopPlugin
    assert points["console_scripts", "looplint"].value == "lint_rules.cli:main"


@pytest.mark.parametrize("module", ["cli", "flake8_plugin", "rules.catalogue"])
def test_libcst_is_not_imported_before_it_is_needed(module: str) -> None:
    done = run("-c", f"import sys, lint_rules.{module}; print('libcst' in sys.modules)")
    assert (done.stdout, done.stderr) == ("False\n", "")


def test_the_plugin_does_not_need_flake8_to_be_imported() -> None:
    done = run("-c", "import sys, lint_rules.flake8_plugin; print('flake8' in sys.modules)")
    assert (done.stdout, done.stderr) == ("False\n", "")


def test_the_hooks_are_what_pre_commit_accepts() -> None:
    pytest.importorskip("pre_commit", reason="pre-commit is in the dev group only")
    done = run("-m", "pre_commit", "validate-manifest", str(HOOKS))
    assert (done.returncode, done.stdout) == (0, "")
    assert re.findall(r"^- id: (\S+)$", HOOKS.read_text(), re.MULTILINE) == ["looplint", "looplint-fix"]


@heavy
def test_the_wheel_holds_the_package_and_nothing_else(tmp_path: Path) -> None:
    done = run("-m", "pip", "wheel", "--no-deps", "--wheel-dir", str(tmp_path), str(ROOT), cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    (wheel,) = tmp_path.glob("*.whl")
    names = set(zipfile.ZipFile(wheel).namelist())
    assert {name.split("/")[0] for name in names if ".dist-info/" not in name} == {"lint_rules"}
    modules = {path.relative_to(ROOT).as_posix() for path in (ROOT / "lint_rules").rglob("*.py")}
    assert modules | {"lint_rules/py.typed"} <= names
