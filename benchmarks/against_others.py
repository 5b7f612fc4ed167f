"""What a run costs beside other tools: `python benchmarks/against_others.py FOLDER [FOLDER ...] [--write]`.

CPU seconds of all processes of each tool over the same files, in one run, one after the other; the best of some
rounds, as multiples of `ast.parse` of all these files. Installs the other tools from PyPI, each set into a virtual
environment of its own below `--tools`. With `--write`, the table goes into `docs/performance.md`.

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

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "performance.md"
MARK = "<!-- made by benchmarks/against_others.py -->\n"

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


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--tools", type=Path, default=Path(tempfile.gettempdir()) / "looplint-benchmark-tools")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--write", action="store_true", help="put the table into docs/performance.md")
    args = parser.parse_args()
    files = [path for folder in args.folders for path in sorted(folder.rglob("*.py"))]
    sources = [path.read_bytes() for path in files]
    folders = [str(folder) for folder in args.folders]
    plain = cpu_of(lambda: parse(sources), args.rounds)
    lines = sum(source.count(b"\n") for source in sources)
    rows = [f"| `ast.parse` of every file | {plain:.2f} | 1.0 |"]
    for name, command, prepare in tools(args.tools, folders):
        if not Path(command[0]).exists():
            rows.append(f"| {name} | cannot be installed | |")
            continue
        seconds = best(command, prepare, args.rounds)
        rows.append(f"| {name} | {seconds:.2f} | {seconds / plain:.1f} |")
        print(rows[-1], flush=True)
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


def environment(folder: Path, packages: list[str]) -> Path:
    """The `bin` folder of a virtual environment with these packages."""
    if not folder.is_dir():
        subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
        subprocess.run([str(folder / "bin/python"), "-m", "pip", "install", "--quiet", *packages], check=False)
    return folder / "bin"


def best(command: list[str], prepare: Callable[[], None], rounds: int) -> float:
    found = float("inf")
    for _ in range(rounds):
        prepare()
        begun = children()
        quietly(command)
        found = min(found, children() - begun)
    return found


def quietly(command: list[str]) -> None:
    """Findings make most tools exit with 1; what we measure is the time."""
    environ = {**os.environ, "PYTHONPATH": str(ROOT)}
    subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environ, check=False)


def children() -> float:
    """CPU seconds of all processes that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def cpu_of(work: Callable[[], None], rounds: int) -> float:
    found = float("inf")
    for _ in range(rounds):
        begun = time.process_time()
        work()
        found = min(found, time.process_time() - begun)
    return found


def parse(sources: list[bytes]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for source in sources:
            try:
                ast.parse(source)
            except (SyntaxError, ValueError):
                continue


if __name__ == "__main__":
    sys.exit(main())
