"""How much of a defect is found, whatever the provider, the home of the history and the layout of the program.

    python benchmarks/grid/grid.py [--only CODE|DEFECT ...] [--axis VALUE ...] [--keep FOLDER] [--show] [--command EXE]

Makes a right program for each provider, home, layout and form (plain functions or coroutines), puts one defect into it,
and its twin, which looks alike and is right; nothing in them is named by what it is. Prints, defect by defect, how many
are reported, how many twins are, and which values of an axis lose the most. `--show` lists each that is missed.

`figures.txt` is what it printed last: the figures may only rise, and no twin may be reported.
"""

from __future__ import annotations

import argparse
import ast
import io
import itertools
import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import redirect_stdout
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from defects import DEFECTS, Defect
from homes import HOMES
from parts import LAYOUTS, Parts, files
from providers import PROVIDERS

Place = tuple[str, str, str, str]  # provider, home, layout, form


def programs(defect: Defect) -> Iterator[tuple[Place, bool, dict[str, str]]]:
    """Each place where the defect fits: whether it is the bad one, and its files by name."""
    for number, (provider, home, layout) in enumerate(itertools.product(PROVIDERS, HOMES, LAYOUTS)):
        aio = (number + number // 4 + number // 24) % 2 == 1 and provider.name != "bedrock"
        if not defect.fits(provider, home):
            continue
        for bad in (True, False):
            parts = Parts(provider, home, aio)
            (defect.bad if bad else defect.good)(parts)
            mark = f"_{defect.name.replace('-', '_')}_{number}_{'bad' if bad else 'good'}"
            yield (provider.name, home.name, layout, "async" if aio else "sync"), bad, files(parts, layout, mark)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", action="append", default=[], help="a rule or a defect (again for more)")
    parser.add_argument("--axis", action="append", default=[], help="only these values (again for more)")
    parser.add_argument("--keep", type=Path, help="leave the programs here")
    parser.add_argument("--show", action="store_true", help="list what is missed, and the twins that are reported")
    parser.add_argument("--command", help="another looplint than the one that can be imported")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as made:
        folder = (args.keep or Path(made)).absolute()
        for defect in DEFECTS:
            if not args.only or {defect.name, defect.code} & set(args.only):
                report(defect, folder / defect.name, args)
    return 0


def report(defect: Defect, folder: Path, args: argparse.Namespace) -> None:
    """One defect's lines."""
    kept = {}
    for place, bad, texts in programs(defect):
        if args.axis and not set(args.axis) <= set(place):
            continue
        home = folder / "-".join([*place, "bad" if bad else "good"])
        home.mkdir(parents=True, exist_ok=True)
        for name, text in texts.items():
            ast.parse(text)
            (home / name).write_text(text)
        kept[home] = (place, bad)
    if not kept:
        return
    found = {folder / Path(path).parts[0] for path in paths(folder, defect.code, args.command)}
    bads = {home for home, (_, bad) in kept.items() if bad}
    missed, wrong = bads - found, (set(kept) - bads) & found
    lost = axes(kept[home][0] for home in missed)
    every = axes(kept[home][0] for home in bads)
    worst = sorted(every, key=lambda value: -lost[value] / every[value])[:6]
    weak = ", ".join(f"{value} {every[value] - lost[value]}/{every[value]}" for value in worst if lost[value])
    found_of = f"{len(bads) - len(missed)}/{len(bads)} found, {len(wrong)} twins"
    print(f"{defect.code} {defect.name}: {found_of}; {weak}", flush=True)
    if args.show:
        for name, homes in (("missed", missed), ("twin", wrong)):
            for home in sorted(homes):
                print("   ", name, home.name)


def axes(places: Iterator[Place]) -> Counter[str]:
    """How often each value of each axis stands in the places."""
    return Counter(value for place in places for value in place)


def paths(folder: Path, code: str, command: str | None) -> set[str]:
    """The files below the folder in which the rule reports something."""
    options = ["--isolated", "--no-cache", "--exit-zero", "--select", code, "--output-format", "json", "."]
    findings = json.loads(printed(folder, ["check", *options], command))
    for finding in findings:
        if finding["code"] == "AGL000":
            print(f"{finding['path']}: {finding['message']}", file=sys.stderr)
    return {finding["path"] for finding in findings if finding["code"] == code}


def printed(folder: Path, options: list[str], command: str | None) -> str:
    """What looplint says in a folder; in this process, if it is not another one, for most of its time is its start."""
    if command:
        return subprocess.run(
            [*command.split(), *options], cwd=folder, capture_output=True, text=True, check=True
        ).stdout
    from lint_rules.cli import main as looplint

    before = Path.cwd()
    os.chdir(folder)
    try:
        with redirect_stdout(io.StringIO()) as out:
            left = looplint(options)
    finally:
        os.chdir(before)
    if left:
        raise RuntimeError(f"looplint left with {left}: {out.getvalue()}")
    return out.getvalue()


if __name__ == "__main__":
    raise SystemExit(main())
