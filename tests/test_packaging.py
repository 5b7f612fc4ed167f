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


def run(*command: str, cwd: Path = ROOT, **variables: str) -> subprocess.CompletedProcess[str]:
    words = [sys.executable, *command]
    return subprocess.run(words, cwd=cwd, env=os.environ | variables, capture_output=True, text=True, timeout=600)


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
    assert points["console_scripts", "looplint"].value == "looplint:main"


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


# -- releases -----------------------------------------------------------------------------------------------------


@pytest.mark.skipif(os.name != "posix", reason="needs a shell")
def test_a_tag_that_is_not_the_version_is_not_released() -> None:
    done = subprocess.run([ROOT / ".ci" / "release", "v0.0.0"], capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stderr.startswith(
        f"The tag is v0.0.0, but lint_rules/__init__.py says version {lint_rules.__version__}"
    )


def test_each_quick_test_exists() -> None:
    rooms = re.findall(r'rooms="(?:\$rooms )?([^"]+)"', (ROOT / ".ci" / "test").read_text())
    assert len(rooms) == 2
    assert all((ROOT / "tests" / f"test_{room}.py").exists() for room in " ".join(rooms).split())


# -- a folder `lint_rules` of the user's ----------------------------------------------------------------------------

BAD = ROOT / "fixtures" / "stale_history_snapshot" / "bad_list_copy_helpdesk.py"
FIXED = BAD.with_suffix(".fixed.py")
CHECK = ("-m", "looplint", "check", "--isolated", "--no-cache", "--output-format=concise")
CODEMOD = "looplint.codemods.stale_history_snapshot.StaleHistorySnapshotCommand"


@pytest.fixture
def own(tmp_path: Path) -> Path:
    """A project with a bad file, and a package of our name that does not want to be imported."""
    (tmp_path / "agent.py").write_text(BAD.read_text())
    (tmp_path / "lint_rules").mkdir()
    (tmp_path / "lint_rules" / "__init__.py").write_text("raise RuntimeError('not for you')\n")
    return tmp_path


@pytest.mark.parametrize(
    "command", [CHECK, ("-m", "flake8", "--isolated", "--select=AGL301")], ids=lambda words: words[1]
)
@pytest.mark.parametrize("path", ["", "."])
def test_a_folder_of_our_name_does_not_stand_in_our_way(own: Path, command: tuple[str, ...], path: str) -> None:
    done = run(*command, "agent.py", cwd=own, PYTHONPATH=path)
    assert (done.returncode, done.stderr) == (1, "")
    assert done.stdout.startswith("agent.py:48:5: AGL301 ")


def test_nor_in_that_of_our_processes(own: Path) -> None:
    for number in range(20):
        (own / f"agent{number}.py").write_text(BAD.read_text() + "# filler\n" * 2000)
    done = run(*CHECK, "--jobs=2", *(f"agent{number}.py" for number in range(20)), cwd=own)
    assert (done.stderr, done.stdout.count(" AGL301 ")) == ("", 20)


def test_nor_in_that_of_codemods(own: Path) -> None:
    done = run("-m", "libcst.tool", "codemod", "--no-format", "-x", CODEMOD, "--jobs=1", "agent.py", cwd=own)
    assert done.returncode == 0, done.stderr
    assert (own / "agent.py").read_text() == FIXED.read_text()


def test_plugins_of_the_user_in_such_a_folder_are_found(own: Path) -> None:
    (own / "lint_rules" / "__init__.py").write_text("")
    (own / "lint_rules" / "helper.py").write_text("TEXT = 'OWN1 theirs'\n")
    (own / "lint_rules" / "own_plugin.py").write_text(
        "from lint_rules.helper import TEXT\n\n\nclass Plugin:\n    def __init__(self, tree):\n        pass\n\n"
        "    def run(self):\n        yield 1, 0, TEXT, type(self)\n"
    )
    (own / ".flake8").write_text(
        "[flake8]\nselect = AGL301,OWN\n"
        "[flake8:local-plugins]\nextension = OWN = lint_rules.own_plugin:Plugin\npaths = .\n"
    )
    done = run("-m", "flake8", "agent.py", cwd=own)
    assert [line.split()[1] for line in done.stdout.splitlines()] == ["OWN1", "AGL301"], done.stderr


# -- the wheel ----------------------------------------------------------------------------------------------------


@heavy
def test_the_wheel_holds_the_package_and_nothing_else(tmp_path: Path) -> None:
    done = run("-m", "pip", "wheel", "--no-deps", "--wheel-dir", str(tmp_path), str(ROOT), cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    (wheel,) = tmp_path.glob("*.whl")
    names = set(zipfile.ZipFile(wheel).namelist())
    assert {name.split("/")[0] for name in names if ".dist-info/" not in name} == {
        "lint_rules",
        "looplint-stubs",
        "looplint.py",
    }
    modules = {path.relative_to(ROOT).as_posix() for path in (ROOT / "lint_rules").rglob("*.py")}
    assert modules - {"lint_rules/looplint.py"} | {"lint_rules/py.typed"} <= names


@heavy
@pytest.mark.parametrize("runner", [("uvx", "--from"), ("pipx", "run", "--spec")], ids=lambda words: words[0])
def test_it_runs_without_being_installed(tmp_path: Path, runner: tuple[str, ...]) -> None:
    """As the first lines of the README say, of a clone."""
    assert run("-m", "venv", str(tmp_path / "tools")).returncode == 0
    scripts = tmp_path / "tools" / ("Scripts" if os.name == "nt" else "bin")
    name = {"uvx": "uv"}.get(runner[0], runner[0])
    installed = subprocess.run([scripts / "python", "-m", "pip", "install", "--quiet", name], timeout=600)
    assert installed.returncode == 0
    words = [scripts / runner[0], *runner[1:], ROOT, "looplint", "--version"]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, timeout=600)
    assert (done.stdout.strip(), done.returncode) == (f"looplint {lint_rules.__version__}", 0), done.stderr
