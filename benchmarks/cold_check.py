"""What a cold check costs, as a multiple of parsing: `python benchmarks/cold_check.py [FOLDER ...]`.

CPU time of this process, the best of some rounds, all rules on, without cache and without other processes. The same
files, in the same run, go through `ast.parse` and `libcst.parse_module`, so that figures of two machines compare.
"""

from __future__ import annotations

import ast
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from statistics import median

import libcst

from lint_rules import check, files
from lint_rules.rules.catalogue import BY_CODE

FIXTURES = Path(__file__).resolve().parent.parent / "fixtures"
OPTIONS = check.Options(frozenset(BY_CODE))
ROUNDS = 3
STARTS = 9

Sources = dict[str, bytes]


def main(folders: list[str]) -> None:
    sources = read([Path(folder) for folder in folders] or [FIXTURES])
    if not sources:
        raise SystemExit("no Python files there")
    lines = sum(source.count(b"\n") for source in sources.values())
    print(f"{len(sources)} files, {lines} lines, best of {ROUNDS}")
    analysed = passing_the_gate(sources)
    size = sum(len(source) for source in sources.values())
    share = sum(len(sources[path]) for path in analysed) / max(size, 1)
    print(f"{len(analysed) / len(sources):.1%} of the files pass the gate, {share:.1%} of the bytes")
    plain, concrete = cpu(ast.parse, sources), cpu(libcst.parse_module, sources)
    whole = cpu(lambda source, path: check.check_source(source, path, OPTIONS, neighbours=files.neighbours), sources)
    print(f"ast.parse            {plain:8.2f} s")
    print(f"libcst.parse_module  {concrete:8.2f} s")
    print(
        f"cold check           {whole:8.2f} s: {whole / plain:.1f} times the first, {whole / concrete:.2f} the second"
    )
    start()


def read(folders: Iterable[Path]) -> Sources:
    """The Python files below some folders (or files) that both parsers can read."""
    found: Sources = {}
    for folder in folders:
        for path in sorted(folder.rglob("*.py")) if folder.is_dir() else [folder]:
            if path.is_file():
                found[str(path)] = path.read_bytes()
    return found


def cpu(work: Callable[..., object], sources: Sources) -> float:
    """Seconds of CPU time for all files. What cannot be parsed costs what it costs until that is found out."""
    best = float("inf")
    takes_path = work not in (ast.parse, libcst.parse_module)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _ in range(ROUNDS):
            begun = time.process_time()
            for path, source in sources.items():
                try:
                    work(source, path) if takes_path else work(source)
                except (SyntaxError, ValueError, RecursionError, libcst.ParserSyntaxError):
                    continue
            best = min(best, time.process_time() - begun)
    return best


def passing_the_gate(sources: Sources) -> set[str]:
    """The files that are analysed; those that nobody can parse are not among them."""
    passed: set[str] = set()
    for path, source in sources.items():
        with suppress(ValueError):
            if check.passes_gate(source, path, OPTIONS, neighbours=files.neighbours):
                passed.add(path)
    return passed


def start() -> None:
    """One file without agents, in a process of its own, against a Python that does nothing."""
    plain = str(Path(__file__).resolve())
    nothing = wall([sys.executable, "-c", "pass"])
    one = wall([sys.executable, "-m", "lint_rules", "check", "--stdin-filename", plain, "-"])
    print(f"one file without agents: {one * 1000:.0f} ms, `python -c pass`: {nothing * 1000:.0f} ms")


def wall(command: list[str]) -> float:
    """Seconds from start to end, the median of some runs."""
    taken = []
    for _ in range(STARTS):
        begun = time.perf_counter()
        subprocess.run(command, input=b"x = 1\n", stdout=subprocess.DEVNULL, check=True)
        taken.append(time.perf_counter() - begun)
    return median(taken)


if __name__ == "__main__":
    main(sys.argv[1:])
