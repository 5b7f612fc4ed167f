"""The figures of survival may only rise.

`figures.json` has a section for each set of programs, and in it for each rewrite the bad cases that are still found and
the good ones that are still silent, of how many. Neither number may fall: what survives today survives tomorrow, and a
new fixture that is lost is no step back. `python -m tests.variants --update` writes what rose, and takes a number that
fell only where a fixture came or went.
"""

from __future__ import annotations

import json
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path

from . import REWRITES
from .survival import CHECK, FIXTURES, SHARED, Tally, drawn, fixtures, measure, ports

FIGURES = Path(__file__).with_name("figures.json")
SURVIVE = SHARED / "variants" / "survive.py"
Figures = dict[str, dict[str, dict[str, list[int]]]]


def read_figures() -> Figures:
    return json.loads(FIGURES.read_text(encoding="utf-8")) if FIGURES.exists() else {}


def save_figures(figures: Figures) -> None:
    rows = []
    for section, rewrites in sorted(figures.items()):
        lines = ",\n".join(f"    {json.dumps(name)}: {json.dumps(row)}" for name, row in sorted(rewrites.items()))
        rows.append(f"  {json.dumps(section)}: {{\n{lines}\n  }}")
    FIGURES.write_text("{\n" + ",\n".join(rows) + "\n}\n", encoding="utf-8")


def check(figures: Mapping[str, Mapping[str, list[int]]], tallies: Mapping[str, Tally]) -> list[str]:
    """Figures that fell: a line each."""
    fallen = [f"{name}: not measured any more" for name in figures if name not in tallies]
    for name, row in figures.items():
        for kind in KINDS if name in tallies else ():
            (kept, cases), (now, now_cases) = row[kind], getattr(tallies[name], kind)
            if now < kept:
                lost = "; ".join(line for line in tallies[name].lost if kind_of(line) == kind)
                fallen.append(f"{name}, {kind}: {now} of {now_cases}, was {kept} of {cases}. Lost: {lost}")
    return fallen


def same_cases(figures: Mapping[str, Mapping[str, list[int]]], tallies: Mapping[str, Tally]) -> set[str]:
    """Rewrites that were measured with as many cases as those in the file."""
    return {
        name
        for name, it in tallies.items()
        if name in figures and all(figures[name][k][1] == getattr(it, k)[1] for k in KINDS)
    }


def kind_of(line: str) -> str:
    """Of a lost case: a fixture says it in its name, a port by its folder."""
    place = line.split()[0].split("/")
    return ("good" if place[2] == "after" else "bad") if place[0] == "ports" else place[1].partition("_")[0]


KINDS = ("bad", "good")
FEW, SAMPLE, MORE = 144, 48, 4
"""One fixture in so many is drawn for each rewrite, one in so many in CI, and where there is time."""
Measure = Callable[[], dict[str, Tally]]


def sections(*, heavy: bool, long: bool) -> dict[str, Measure]:
    """Every section: its name, and what measures its rewrites."""
    found: dict[str, Measure] = {
        "few fixtures": lambda: own(FEW),
        "ports, before": lambda: measure({"own_words": [one for one in ports() if one.name.endswith("before")]}),
        "few shared rewrites": lambda: shared(FEW, 8),
    }
    if heavy or long:
        found["fixtures"] = lambda: own(SAMPLE)
        found["shared rewrites"] = lambda: shared(SAMPLE, 8)
    if long:
        found["more fixtures"] = lambda: own(MORE)
        found["ports"] = lambda: measure(dict.fromkeys(REWRITES, ports()))
        found["more shared rewrites"] = lambda: shared(MORE, 4)
    return found


def is_here(section: str) -> bool:
    """Whether a section can be measured: the ports and the other rewrites may not lie beside the project."""
    return section.endswith("fixtures") or (SURVIVE.is_file() and bool(ports()))


def own(one_in: int) -> dict[str, Tally]:
    programs = fixtures()
    return measure({name: drawn(programs, one_in, name) for name in REWRITES})


def shared(one_in: int, variants: int) -> dict[str, Tally]:
    """The rewrites that lie beside the project, `variants` of them for each fixture that is drawn."""
    with tempfile.TemporaryDirectory(prefix="variants_") as temporary:
        folder, out = Path(temporary, "fixtures"), Path(temporary, "all.json")
        for program in drawn([it for it in fixtures() if (FIXTURES / it.name).is_file()], one_in, "shared"):
            (folder / program.name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(FIXTURES / program.name, folder / program.name)
        command = shlex.join([sys.executable, "-m", "lint_rules", *CHECK[:-1]])
        options = ("--fixtures", str(folder), "--sample", str(variants), "--json", str(out), "--command", command)
        subprocess.run([sys.executable, str(SURVIVE), *options], check=True, capture_output=True, cwd=FIXTURES.parent)
        return shared_tallies(json.loads(out.read_text(encoding="utf-8"))["results"])


RESULT = ("program", "rule", "kind", "rewrite", "survived")


def shared_tallies(rows: list[dict]) -> dict[str, Tally]:
    found: dict[str, Tally] = {}
    for row in rows:
        program, rule, kind, rewrite, survived = (row[key] for key in RESULT)
        old = found.get(rewrite, Tally((0, 0), (0, 0), ()))
        kept, cases = getattr(old, kind)
        lost = old.lost if survived else (*old.lost, f"{program} {rule}")
        found[rewrite] = old._replace(**{kind: (kept + survived, cases + 1)}, lost=lost)
    return found
