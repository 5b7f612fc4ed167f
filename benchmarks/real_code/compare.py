"""What looplint finds in pinned programs nobody here wrote, held against what people judged by reading.

    python benchmarks/real_code/compare.py FOLDER [--select RULES] [--show unjudged|false|gone|missed] [--only NAME ...]

Downloads the wheels that `agents.txt` and `quiet.txt` pin and the commits that `repositories.txt` pins (needs pip and
the network, once) and unpacks them below FOLDER; nothing of them is imported or run. `judged.jsonl` holds one judgement
a line: package (or owner/name of a repository), path, line, code, a verdict (bug, smell, false) and why. A finding
meets a judgement of the same rule within three lines. `read` marks what people saw and looplint did not.

Prints, rule by rule, how many findings are bugs, smells, false alarms, or not judged yet, which judged bugs are no
longer found (gone), and which that were only read are not found yet (missed): run it before and after a change of a
rule. A package of `quiet.txt` has no agent: every finding is false.
"""

from __future__ import annotations

import argparse
import io
import json
import re
import subprocess
import sys
import tarfile
import zipfile
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any
from urllib.request import urlopen

HERE = Path(__file__).parent
NEAR = 3
COLUMNS = {"bug": 6, "smell": 7, "false": 7, "unjudged": 10, "gone": 6, "missed": 8}

Row = dict[str, Any]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--select", default="AGL")
    parser.add_argument("--show", choices=("unjudged", "false", "gone", "missed"), action="append", default=[])
    parser.add_argument("--only", action="append", help="only this package (again for more)")
    args = parser.parse_args()
    judged = [json.loads(line) for line in (HERE / "judged.jsonl").read_text("utf-8").splitlines()]
    table: dict[str, Counter[str]] = defaultdict(Counter)
    met: set[int] = set()
    checked = set()
    for pin in pins():
        package = re.split("==|@", pin)[0]
        if args.only and package not in args.only:
            continue
        checked.add(package)
        for finding in findings(unpacked(pin, args.folder), args.select):
            row = {**finding, "package": package}
            verdict = judge(row, judged, met) if pin not in quiet() else "false"
            table[row["code"]][verdict] += 1
            if verdict in args.show:
                print(f"{verdict}: {package}/{row['path']}:{row['line']} {row['code']}: {row['message']}")
    for row in judged:
        if id(row) not in met and row["verdict"] == "bug" and row["package"] in checked:
            if args.select == "AGL" or row["code"] in args.select:
                how = "missed" if row.get("read") else "gone"
                table[row["code"]][how] += 1
                if how in args.show:
                    print(f"{how}: {row['package']}/{row['path']}:{row['line']} {row['code']}: {row['why']}")
    print_table(table)
    return 0


def pins() -> list[str]:
    """`name==version` of every package, `owner/name@commit` of every repository."""
    files = (HERE / "agents.txt", HERE / "repositories.txt")
    return [*(pin for file in files for pin in file.read_text("utf-8").split()), *quiet()]


def quiet() -> list[str]:
    return (HERE / "quiet.txt").read_text("utf-8").split()


def unpacked(pin: str, folder: Path) -> Path:
    """The folder of a program's files; downloaded and unpacked if it is not there."""
    target = folder / pin.replace("==", "-").replace("/", "+").replace("@", "-")
    if not target.is_dir():
        _of_repository(pin, target) if "@" in pin else _of_wheel(pin, target, folder / "wheels")
    return target


def _of_wheel(pin: str, target: Path, wheels: Path) -> None:
    pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:"]
    pip += ["--ignore-requires-python"]  # nothing of them is run
    subprocess.run([*pip, "--dest", str(wheels / pin), pin], check=True)
    [wheel] = (wheels / pin).iterdir()
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(target)


def _of_repository(pin: str, target: Path) -> None:
    name, commit = pin.split("@")
    with urlopen(f"https://codeload.github.com/{name}/tar.gz/{commit}") as answer:
        packed = io.BytesIO(answer.read())
    with tarfile.open(fileobj=packed) as archive:
        for member in archive.getmembers():
            member.name = member.name.partition("/")[2]  # without the folder around all files
            if member.isfile() and member.name.endswith(".py"):
                archive.extract(member, target, filter="data")


def findings(tree: Path, select: str) -> list[Row]:
    """What looplint reports in a folder, with its own notices left out."""
    words = ["check", "--isolated", "--no-cache", "--exit-zero", "--select", select, "--output-format=json", "."]
    done = subprocess.run([sys.executable, "-m", "lint_rules", *words], cwd=tree, capture_output=True, text=True)
    if done.returncode not in (0, 1):
        sys.exit(done.stderr)
    return [row for row in json.loads(done.stdout) if row["code"] != "AGL000"]


def judge(finding: Row, judged: list[Row], met: set[int]) -> str:
    """The verdict on a finding, and a note of which judgements were met."""
    verdict = "unjudged"
    for row in judged:
        same = all(row[key] == finding[key] for key in ("package", "path", "code"))
        if same and abs(row["line"] - finding["line"]) <= NEAR:
            met.add(id(row))
            verdict = row["verdict"]
    return verdict


def print_table(table: dict[str, Counter[str]]) -> None:
    print(f"{'rule':8}" + "".join(f"{name:>{width}}" for name, width in COLUMNS.items()) + f"{'right':>8}")
    for code, row in sorted(table.items()):
        judged = row["bug"] + row["smell"] + row["false"]
        right = f"{(row['bug'] + row['smell']) / judged:.0%}" if judged else "-"
        counts = "".join(f"{row[name]:>{width}}" for name, width in COLUMNS.items())
        print(f"{code:8}{counts}{right:>8}")


if __name__ == "__main__":
    sys.exit(main())
