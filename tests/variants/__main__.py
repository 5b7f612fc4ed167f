"""The command line: see `tests/variants/__init__.py`."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from . import REWRITES, __doc__, survival
from .ratchet import FIGURES, check, is_here, read_figures, same_cases, save_figures, sections


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rewrite", nargs="?", choices=[*REWRITES], metavar="REWRITE", help=", ".join(REWRITES))
    parser.add_argument("folder", nargs="?", type=Path, help="a program: a folder, or a file")
    parser.add_argument("out", nargs="?", type=Path, help="a new folder for the rewritten program")
    parser.add_argument("--seed", type=int, default=survival.SEED)
    parser.add_argument("--show", action="store_true", help="say which findings are lost, and which are new")
    parser.add_argument(
        "--update", action="store_true", help=f"measure, and write {FIGURES.name}; LOOPLINT_LONG=1: all"
    )
    args = parser.parse_args()
    if args.update:
        return update()
    if args.out is None:
        parser.error("REWRITE, FOLDER and OUT are needed")
    if args.out.exists():
        parser.error(f"{args.out} exists already")
    files = survival.read(args.folder)
    made = REWRITES[args.rewrite](files, args.seed, frozenset())
    if made is None:
        print(f"{args.rewrite} does not apply to {args.folder}", file=sys.stderr)
        return 1
    survival.write(made, args.out)
    if args.show:
        show(files, made)
    return 0


def show(files: survival.Files, made: survival.Files) -> None:
    """Findings that are in one of the two only: by file, rule and how many of them stand there before."""
    found = survival.lint({"before": files, "after": made})
    for word, one, other in (("lost", "before", "after"), ("new", "after", "before")):
        left = [(finding.file, finding.code) for finding in found.get(other, [])]
        for finding in found.get(one, []):
            if (finding.file, finding.code) in left:
                left.remove((finding.file, finding.code))
            else:
                print(f"{word:5}{finding.file}:{finding.line} {finding.code} {finding.name}: {finding.message}")


def update() -> int:
    figures = read_figures()
    for name, measured in sections(heavy=True, long=os.environ.get("LOOPLINT_LONG") == "1").items():
        if not is_here(name):
            continue
        tallies = measured()
        same = same_cases(figures.get(name, {}), tallies)
        lower = check({rewrite: row for rewrite, row in figures.get(name, {}).items() if rewrite in same}, tallies)
        if lower:
            print(f"{name}: nothing is written, figures may only rise:", *lower, sep="\n  ", file=sys.stderr)
            return 1
        figures[name] = {rewrite: {"bad": [*it.bad], "good": [*it.good]} for rewrite, it in tallies.items()}
    save_figures(figures)
    return 0


if __name__ == "__main__":
    sys.exit(main())
