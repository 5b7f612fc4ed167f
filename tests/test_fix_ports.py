"""Fixes applied to programs with known bugs: what turns in their scenarios, and what stays as it was.

The programs are no part of this project; without the folder that holds them, the tests say so and are skipped.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

PORTS = Path(__file__).parents[2] / "shared" / "ports"
pytestmark = pytest.mark.skipif(not PORTS.is_dir(), reason="../shared/ports is not here")

ROOT = Path(__file__).parent.parent
RUNNER = """
import asyncio, inspect, json, logging, re, sys
sys.path.insert(0, ".")
import run_scenario

logging.disable(logging.CRITICAL)
seen, said = {}, {}
run_scenario.expect = lambda what, got, want: said.__setitem__(what, repr(got))
listed = re.search(r"for scenario in \\((.*?)\\):", inspect.getsource(run_scenario), re.S).group(1)
for name in re.findall(r"\\w+", listed):
    said = seen[name] = {}
    try:
        running = getattr(run_scenario, name)()
        if inspect.iscoroutine(running):
            asyncio.run(running)
    except Exception as error:
        said["raises"] = str(error)
print(json.dumps(seen))
"""
Seen = dict[str, dict[str, str]]
"""What each check of each scenario saw."""

LOST = ("unlocked_append_is_lost", "typed message survived", "True")
SPOILED = ("compression_corrupts_the_stored_calls", "arguments in the database afterwards", "'valid'")
ENDLESS = ("same_message_fifteen_times", "raises", "no answer within the limit of rounds")
REFUSED = ("empty_tool_calls_are_refused_on_the_next_turn", "second turn", "'Aye.'")
SAME = ("key_order_hides_the_repeat", "copies of the report", "1")


def seen(folder: Path) -> Seen:
    done = subprocess.run(
        [sys.executable, "-B", "-c", RUNNER], cwd=folder, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    result: Seen = json.loads(done.stdout.splitlines()[-1])
    assert sum(map(len, result.values())) >= 5
    return result


def repaired(folder: Path, select: str) -> None:
    command = [sys.executable, "-m", "lint_rules", "check", "--isolated", "--no-cache", "--exit-zero"]
    done = subprocess.run(
        [*command, f"--select={select}", "--fix", "--unsafe-fixes", str(folder)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "Applied" in done.stderr + done.stdout


@pytest.mark.parametrize(
    ("port", "select", "turned"),
    [
        ("spacemolt/before", "AGL101", [LOST]),
        ("spacemolt/before", "AGL201", [SPOILED]),
        ("spacemolt/before", "AGL607", []),
        ("spacemolt/before", "AGL", [LOST, SPOILED]),
        ("spacemolt/seedfix", "AGL201", [SPOILED]),
        ("spacemolt/seedfix", "AGL604", [REFUSED]),
        ("spacemolt/seedfix", "AGL", [SPOILED, REFUSED]),
        ("picoclaw/before", "AGL303", [ENDLESS]),
        ("picoclaw/before", "AGL", [ENDLESS]),
        ("picoclaw/seedfix_000", "AGL403", [SAME]),
    ],
)
def test_what_a_fix_turns(tmp_path: Path, port: str, select: str, turned: list[tuple[str, str, str]]) -> None:
    """Each check about what was fixed sees the right thing, and no other check sees another thing than before."""
    folder = tmp_path / "port"
    shutil.copytree(PORTS / port, folder)
    expected = seen(folder)
    repaired(folder, select)
    for scenario, check, now in turned:
        if check == "raises":  # what the scenario looked at after the turn, it does not get to any more
            expected[scenario] = {}
        assert expected[scenario].get(check) != now
        expected[scenario][check] = now
    assert seen(folder) == expected
