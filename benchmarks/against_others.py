"""What a run costs beside other tools: `python benchmarks/against_others.py [FOLDER ...] [--write]`.

Without a folder, it is measured on seven agents from PyPI, in the versions that `real_code/agents.txt` pins.

CPU seconds of all processes of each tool over the same files, in one run, as multiples of `ast.parse` of all these
files: the best of some rounds, in which each is measured in turn, so that an hour in which the machine is slow is slow
for all; one round of those that take minutes. Installs the other tools from PyPI, each set into a virtual environment
of its own below `--tools`. With `--write`, the table goes into `docs/performance.md`.

Not all of them do the same work: ruff and flake8 look for other defects, the two agentguards for some of ours.
"""

from __future__ import annotations

import argparse
import ast
import os
import platform
import resource
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path

from real_code.compare import pins, unpacked

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "performance.md"
MARK = "<!-- made by benchmarks/against_others.py -->\n"
TEMPORARY = Path(tempfile.gettempdir())

SETS = {
    "ruff": ["ruff"],
    "flake8": ["flake8"],
    "flake8-bugbear": ["flake8", "flake8-bugbear"],
    "flake8-async": ["flake8", "flake8-async"],
    "fixit": ["fixit"],
    "agentguard-lint": ["agentguard-lint"],
    "agentguard-linter": ["agentguard-linter"],
}
"""An environment for each: flake8 runs every plugin that it finds, and the agentguards have one command name."""
SLOW = ("flake8", "Fixit")
AGENTS = ("aider-chat", "browser-use", "kimi-cli", "metagpt", "mini-swe-agent", "openhands-ai", "smolagents")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="*", type=Path)
    parser.add_argument("--agents", type=Path, default=TEMPORARY / "looplint-benchmark-agents", help="where they go")
    parser.add_argument("--tools", type=Path, default=TEMPORARY / "looplint-benchmark-tools")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--quick", action="store_true", help="without those that take minutes")
    parser.add_argument("--write", action="store_true", help="put the table into docs/performance.md")
    args = parser.parse_args()
    chosen = args.folders or agents(args.agents)
    files = [path for folder in chosen for path in sorted(folder.rglob("*.py"))]
    sources = [path.read_bytes() for path in files]
    folders = [str(folder) for folder in chosen]
    lines = sum(source.count(b"\n") for source in sources)
    asked = [tool for tool in tools(args.tools, folders) if not (args.quick and tool[0].startswith(SLOW))]
    plain, seconds = float("inf"), {name: float("inf") for name, command, _ in asked if Path(command[0]).exists()}
    for number in range(args.rounds):
        plain = min(plain, cpu_of(sources))
        for name, command, prepare in asked:
            if name in seconds and (number == args.rounds - 1 or not name.startswith(SLOW)):
                seconds[name] = min(seconds[name], cpu_of_tool(command, prepare))
                print(f"{name}: {seconds[name]:.2f}, ast.parse: {plain:.2f}", flush=True)
    rows = [f"| `ast.parse` of every file | {plain:.2f} | 1.0 |"]
    for name, _, _ in asked:
        found = seconds.get(name)
        rows.append(
            f"| {name} | {found:.2f} | {found / plain:.1f} |" if found else f"| {name} | cannot be installed | |"
        )
    table = page(rows, len(files), lines)
    print(table)
    if args.write:
        text = PAGE.read_text("utf-8")
        before, _, rest = text.partition(MARK)
        _, _, after = rest.partition(MARK)
        PAGE.write_text(f"{before}{MARK}{table}{MARK}{after}", "utf-8")
    return 0


def page(rows: list[str], files: int, lines: int) -> str:
    where = f"Python {platform.python_version()}, {os.cpu_count()} CPUs, {files} files, {lines} lines"
    return "\n".join([where, "", "| what | CPU seconds | times `ast.parse` |", "| --- | ---: | ---: |", *rows, ""])


def tools(folder: Path, paths: list[str]) -> list[tuple[str, list[str], Callable[[], None]]]:
    """Name, command, and what has to be done before each round."""
    bins = {name: environment(folder / name, packages) for name, packages in SETS.items()}
    cache = tempfile.mkdtemp()

    def nothing() -> None:
        pass

    looplint = [sys.executable, "-m", "lint_rules", "check", "--isolated", "--exit-zero", "--quiet"]
    cached = [*looplint, "--cache-dir", cache, *paths]
    return [
        ("looplint, cold", [*looplint, "--no-cache", *paths], nothing),
        ("looplint, one process", [*looplint, "--no-cache", "--jobs=1", *paths], nothing),
        ("looplint, warm", cached, lambda: quietly(cached)),
        (
            "ruff, default rules",
            [str(bins["ruff"] / "ruff"), "check", "--isolated", "--no-cache", "-q", *paths],
            nothing,
        ),
        *(
            (f"{name}, one process", [str(bins[name] / "flake8"), "--isolated", "--jobs=1", *paths], nothing)
            for name in ("flake8", "flake8-bugbear", "flake8-async")
        ),
        ("Fixit, default rules", [str(bins["fixit"] / "fixit"), "lint", *paths], nothing),
        ("agentguard-lint", [str(bins["agentguard-lint"] / "agentguard"), "--no-config", "--plain", *paths], nothing),
        ("agentguard-linter", [str(bins["agentguard-linter"] / "agentguard"), "scan", "--no-cache", *paths], nothing),
    ]


def agents(folder: Path) -> list[Path]:
    """The folders of the seven, downloaded if they are not there."""
    return [unpacked(pin, folder) for pin in pins() if pin.partition("==")[0] in AGENTS]


def environment(folder: Path, packages: list[str]) -> Path:
    """The `bin` folder of a virtual environment with these packages."""
    ready = folder / "ready"  # a run that was broken off leaves half of one
    if not ready.exists():
        subprocess.run([sys.executable, "-m", "venv", "--clear", str(folder)], check=True)
        subprocess.run([str(folder / "bin/python"), "-m", "pip", "install", "--quiet", *packages], check=False)
        ready.touch()
    return folder / "bin"


def cpu_of_tool(command: list[str], prepare: Callable[[], None]) -> float:
    prepare()
    begun = children()
    quietly(command)
    return children() - begun


def quietly(command: list[str]) -> None:
    """Findings make most tools exit with 1; what we measure is the time."""
    environ = {**os.environ, "PYTHONPATH": str(ROOT)}
    subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environ, check=False)


def children() -> float:
    """CPU seconds of all processes that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def cpu_of(sources: list[bytes]) -> float:
    """That of `ast.parse`."""
    begun = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for source in sources:
            try:
                ast.parse(source)
            except (SyntaxError, ValueError):
                continue
    return time.process_time() - begun


if __name__ == "__main__":
    sys.exit(main())
