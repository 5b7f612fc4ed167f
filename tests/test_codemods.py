"""The codemods, run as their users run them: by libcst's own tool."""

from __future__ import annotations

import inspect
import os
import shutil
import subprocess
import sys
from pathlib import Path

import libcst as cst
import pytest

from lint_rules.rules.catalogue import BY_NAME, RULES, Rule

ROOT = Path(__file__).parent.parent
FIXTURES = ROOT / "fixtures"
FIXABLE = [rule for rule in RULES if rule.repairs and rule.asks is None]


def command_name(rule: Rule) -> str:
    return "".join(word.capitalize() for word in rule.name.split("-")) + "Command"


def fixed_fixture(rule: Rule) -> Path:
    return min((FIXTURES / rule.name.replace("-", "_")).glob("bad_*.fixed.py"))


def libcst_tool(*words: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "libcst.tool", *words],
        cwd=cwd,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


@pytest.mark.parametrize("rule", FIXABLE, ids=lambda rule: rule.name)
def test_a_codemod_writes_what_the_fix_does(rule: Rule, tmp_path: Path) -> None:
    fixed = fixed_fixture(rule)
    target = tmp_path / "agent.py"
    shutil.copy(fixed.with_name(fixed.name.replace(".fixed", "")), target)
    command = f"lint_rules.codemods.{rule.name.replace('-', '_')}.{command_name(rule)}"
    done = libcst_tool("codemod", "-x", command, "--no-format", "--jobs=1", str(target), cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert target.read_bytes() == fixed.read_bytes()


def test_a_file_in_which_nothing_is_repaired_keeps_all_its_bytes(tmp_path: Path) -> None:
    """libcst drops the last line end of these, and its tool writes what it gets."""
    rule = BY_NAME["stale-history-snapshot"]
    bad = fixed_fixture(rule).with_name(fixed_fixture(rule).name.replace(".fixed", "")).read_bytes()
    contents = {
        "clean_cr.py": b"a = 1\rb = 2\r",
        "clean_mixed.py": b"a = 1\r\nb = 2\r",
        "bad_cr.py": bad.replace(b"\n", b"\r"),
        "clean.py": b"a = 1\n",
    }
    for path, content in contents.items():
        (tmp_path / path).write_bytes(content)
        assert cst.parse_module(content).bytes != content or path == "clean.py", "then this test needs another example"
    command = f"lint_rules.codemods.{rule.name.replace('-', '_')}.{command_name(rule)}"
    done = libcst_tool("codemod", "-x", command, "--no-format", "--jobs=1", *sorted(contents), cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert {path: (tmp_path / path).read_bytes() for path in contents} == contents
    assert "cannot write this file back byte for byte" in done.stderr
    assert "clean.py: nothing" not in done.stderr


def test_in_this_repository_a_formatter_is_there(tmp_path: Path) -> None:
    rule = FIXABLE[1]
    fixed = fixed_fixture(rule)
    target = tmp_path / "agent.py"
    shutil.copy(fixed.with_name(fixed.name.replace(".fixed", "")), target)
    command = f"{rule.name.replace('-', '_')}.{command_name(rule)}"
    done = libcst_tool("codemod", command, "--jobs=1", str(target), cwd=ROOT)
    assert done.returncode == 0, done.stderr
    assert target.read_bytes() == fixed.read_bytes()


def test_list_shows_the_commands_and_nothing_else() -> None:
    done = libcst_tool("list", cwd=ROOT)
    shown = [line.partition(" - ") for line in done.stdout.splitlines()]
    assert [name for name, _, _ in shown] == sorted(f"{r.name.replace('-', '_')}.{command_name(r)}" for r in FIXABLE)
    by_code = {rule.code: rule.name.replace("-", "_") for rule in FIXABLE}
    for name, _, description in shown:
        assert name.startswith(by_code[description[:6]] + ".")


def test_the_base_class_is_abstract() -> None:
    from lint_rules.codemods.repair import RepairCommand

    assert inspect.isabstract(RepairCommand)
