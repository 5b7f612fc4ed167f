"""What the gate lets through to libcst: `python benchmarks/gate.py FOLDER [FOLDER ...] [--compare]`.

For each rule that runs by default, the share of all bytes that it lets through, the share that no other rule does, and
the largest files of these; then what the gate costs beside `ast.parse`. With `--compare`, every file is analysed by
the rules that the gate keeps from it, too, and what they find is printed: nothing, or the gate is wrong (slow).
"""

from __future__ import annotations

import argparse
import ast
import time
import warnings
from collections.abc import Collection, Iterator
from pathlib import Path

from lint_rules import check, files
from lint_rules.gate import mentions
from lint_rules.gate.speaking import Gate
from lint_rules.rules.catalogue import RULES

CODES = frozenset(rule.code for rule in RULES if rule.default)
BATCH = 100
"""Files whose times are taken together: reading a clock of CPU time is slow on some systems."""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--compare", action="store_true", help="analyse what the gate keeps back, too")
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    paths = sorted(path for folder in args.folders for path in folder.rglob("*.py") if path.is_file())
    sizes = {path: path.stat().st_size for path in paths}
    speaking: dict[Path, frozenset[str]] = {}
    parsing = looking = 0.0
    for start in range(0, len(paths), BATCH):
        sources = [(path, path.read_bytes()) for path in paths[start : start + BATCH]]
        begun = time.process_time()
        trees = list(parsed(sources))
        parsing += time.process_time() - begun
        begun = time.process_time()
        speaking.update((path, seen(path, source, tree)) for path, source, tree in trees)
        looking += time.process_time() - begun
    tell(speaking, sizes)
    print(f"the gate takes {looking / parsing:.2f} times as long as ast.parse")
    return compare(speaking) if args.compare else 0


def parsed(sources: list[tuple[Path, bytes]]) -> Iterator[tuple[Path, bytes, ast.Module]]:
    for path, source in sources:
        try:
            yield path, source, ast.parse(source)
        except (SyntaxError, ValueError, RecursionError):
            continue


def seen(path: Path, source: bytes, tree: ast.Module) -> frozenset[str]:
    """The rules that may speak about a file."""

    def nearby(module: str) -> bytes | None:
        found = files.neighbours(str(path), module)
        return found[1] if found is not None else None

    if not mentions.agent(source, check.Vocabulary()):
        return frozenset()
    return Gate(tree, nearby).speaking(CODES)


def tell(speaking: dict[Path, frozenset[str]], sizes: dict[Path, int]) -> None:
    total = max(1, sum(sizes[path] for path in speaking))

    def share(paths: Collection[Path]) -> str:
        return f"{sum(sizes[path] for path in paths) / total:7.2%}"

    passed = [path for path, codes in speaking.items() if codes]
    print(f"{share(passed)} of the bytes, {len(passed)} of {len(speaking)} files")
    for code in sorted(CODES):
        let = [path for path in passed if code in speaking[path]]
        alone = sorted((path for path in let if len(speaking[path]) == 1), key=lambda path: -sizes[path])
        print(f"{code} {share(let)}  alone {share(alone)}", *alone[:3])


def compare(speaking: dict[Path, frozenset[str]]) -> int:
    """How many findings the gate would lose."""
    lost = 0
    Gate.speaking = lambda _, codes: frozenset(codes)  # type: ignore[method-assign,assignment]
    mentions.agent = lambda *_: True
    for path, codes in speaking.items():
        options = check.Options(CODES - codes)
        report = check.check_source(path.read_bytes(), str(path), options, neighbours=files.neighbours, noqa=False)
        for finding in report.findings:
            lost += 1
            print(f"{path}:{finding.span.line}: {finding.code} {finding.message}", flush=True)
    print(f"{lost} findings are lost")
    return 1 if lost else 0


if __name__ == "__main__":
    raise SystemExit(main())
