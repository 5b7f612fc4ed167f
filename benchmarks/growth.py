"""How the cost of a check grows with a file: `python benchmarks/growth.py [--most LINES] [--only SHAPE] [--write]`.

Files of one shape and growing length, each in a process of its own: CPU time per line, and memory as a multiple of the
source. What grows faster than the file is a bug. `ast.parse` and libcst's parser are measured beside, as what a check
stands on. With `--write`, docs/growth.svg is drawn and the table goes into docs/performance.md.
"""

from __future__ import annotations

import argparse
import ast
import gc
import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from lint_rules.check import Options, check_source
from lint_rules.rules.catalogue import BY_CODE
from lint_rules.run import COLLECTIONS

PLOT = Path(__file__).resolve().parent.parent / "docs" / "growth.svg"
PAGE = PLOT.with_name("performance.md")
MARK = "<!-- made by benchmarks/growth.py -->\n"
ALL = Options(frozenset(BY_CODE))
SIZES = (1_000, 10_000, 20_000, 100_000)

AGENT = """
def run_{n}(client, history_{n}, tools, execute):
    for _ in range(20):
        message = client.chat.completions.create(model="gpt-5", messages=history_{n}, tools=tools).choices[0].message
        history_{n}.append(message)
        if not message.tool_calls:
            return message.content
        for call in message.tool_calls:
            arguments = json.loads(call.function.arguments)
            history_{n}.append({{"role": "tool", "tool_call_id": call.id, "content": execute(call, arguments)}})
    raise RuntimeError("too many rounds")

"""
METHOD = """
    def turn_{n}(self, text):
        self.history.append({{"role": "user", "content": text}})
        message = self.client.chat.completions.create(model="gpt-5", messages=self.history).choices[0].message
        self.history.append(message)
        for call in message.tool_calls or []:
            self.history.append({{"role": "tool", "tool_call_id": call.id, "content": self.execute(call)}})
        return self.turn_{next}(text) if message.tool_calls else message.content
"""
LOCKED = """import asyncio
class Agent:
    def __init__(self, client):
        self.client = client
        self.lock = asyncio.Lock()
        self.history = []

    async def ask(self, text):
        async with self.lock:
            self.history.append({"role": "user", "content": text})
            reply = await self.client.chat.completions.create(model="gpt-5", messages=self.history)
            self.history.append(reply.choices[0].message)
"""
WAITING = """
    async def turn_{n}(self, text):
        self.history.append({{"role": "user", "content": text}})
        await self.turn_{next}(text)
"""
STEP = """    history.append({{"role": "user", "content": "step {n}"}})
    message = client.chat.completions.create(model="gpt-5", messages=history).choices[0].message
    history.append(message)
    for call in message.tool_calls or []:
        history.append({{"role": "tool", "tool_call_id": call.id, "content": execute(call)}})
"""
ROUNDS = """    for _ in range({n} % 5 + 2):
        message = client.chat.completions.create(model="gpt-5", messages=history, tools=tools).choices[0].message
        history.append(message)
        if not message.tool_calls:
            break
        for call in message.tool_calls:
            arguments = json.loads(call.function.arguments)
            history.append({{"role": "tool", "tool_call_id": call.id, "content": execute(call, arguments)}})
    else:
        raise RuntimeError("too many rounds")
"""
HISTORY = """
history_{n} = []

def ask_{n}(client, text):
    history_{n}.append({{"role": "user", "content": text}})
    return client.chat.completions.create(model="gpt-5", messages=history_{n}).choices[0].message.content
"""
CHORE = """    path = os.path.join(folder, f"{n}.json")
    if not os.path.exists(path):
        rows = load(path, retries=3)
        for row in rows:
            total_{kind} += row["amount"] * rates.get(row["currency"], 1)
    try:
        report.append({{"name": path, "total": total_{kind}}})
    except ValueError as error:
        log.warning("no report of %s: %s", path, error)
        continue_with = parse(path) or None
"""


def many_functions(lines: int) -> str:
    return "import json\n" + "".join(AGENT.format(n=n) for n in range(lines // AGENT.count("\n")))


def one_class(lines: int) -> str:
    head = "class Agent:\n    def __init__(self, client):\n        self.client = client\n        self.history = []\n"
    return head + "".join(METHOD.format(n=n, next=n + 1) for n in range(lines // METHOD.count("\n")))


def beside_a_lock(lines: int) -> str:
    """Methods that wait for each other, and write without the lock that one of them takes."""
    return LOCKED + "".join(WAITING.format(n=n, next=n + 1) for n in range(lines // WAITING.count("\n")))


def one_function(lines: int) -> str:
    head = "def run(client, execute):\n    history = []\n"
    return head + "".join(STEP.format(n=n) for n in range(lines // STEP.count("\n")))


def many_rounds(lines: int) -> str:
    """One function in which one agent runs after the other on the same history."""
    head = "import json\ndef run(client, tools, execute):\n    history = []\n"
    return head + "".join(ROUNDS.format(n=n) for n in range(max(lines // ROUNDS.count("\n"), 1)))


def long_function(lines: int) -> str:
    """One function that mostly does something else, with an agent in its middle."""
    head = "import json, os\ndef run(client, folder, tools, execute, rates, report, log):\n"
    count = max(lines // CHORE.count("\n"), 2)
    chores = [CHORE.format(n=n, kind=n % 7) for n in range(count)]
    agent = AGENT.format(n=0).strip("\n").splitlines()[1:-1]
    start = "    history_0 = []\n" + "".join(f"    total_{kind} = 0\n" for kind in range(7))
    half = count // 2
    return head + start + "".join(chores[:half]) + "\n".join(agent) + "\n" + "".join(chores[half:])


def many_histories(lines: int) -> str:
    """One history to six lines, all of them in the module: at 60,000 lines there are 10,000."""
    return "".join(HISTORY.format(n=n) for n in range(lines // HISTORY.count("\n")))


def nested_ifs(lines: int, depth: int = 12) -> str:
    """Levels of nesting, in functions of their own: depth stays, functions grow in number."""
    levels = range(1, depth)
    body = "".join("    " * level + f"if x > {level}:\n" for level in levels) + "    " * depth + "h.append(m)\n"
    start = 'def f_{n}(x, h):\n    m = {{"role": "user", "content": x}}\n'
    return "".join(start.format(n=n) + body for n in range(max(lines // (depth + 2), 1)))


def deep_loops(lines: int) -> str:
    """Sixteen agents in one another, over and over: Python takes no more than twenty loops and `try` in one."""
    turn = STEP.format(n=0).splitlines()
    body = [" " * 4 * level + line for level in range(16) for line in [*turn[:3], "    for _ in range(3):"]]
    tail = [" " * 64 + line for line in turn]
    whole = "\n".join([*body, *tail, ""])
    count = max(lines // whole.count("\n"), 1)
    return "".join(f"def run_{n}(client, execute):\n    history = []\n{whole}" for n in range(count))


SHAPES: dict[str, Callable[[int], str]] = {
    shape.__name__: shape
    for shape in (
        many_functions,
        one_class,
        beside_a_lock,
        one_function,
        many_rounds,
        long_function,
        many_histories,
        nested_ifs,
        deep_loops,
    )
}
LONGEST = dict.fromkeys(("one_function", "many_rounds", "long_function"), 20_000)
"""No function is longer."""
PARSERS = ("ast.parse", "libcst.parse_module")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--most", type=int, default=SIZES[-1], metavar="LINES")
    parser.add_argument("--only", choices=SHAPES)
    parser.add_argument("--patience", type=float, default=600, metavar="SECONDS", help="for one file")
    parser.add_argument("--write", action="store_true", help="write docs/growth.svg and the table")
    parser.add_argument("--point", nargs=2, metavar=("SHAPE", "LINES"), help="measure one file, print JSON")
    args = parser.parse_args()
    if args.point:
        print(json.dumps(measure(args.point[0], int(args.point[1]))))
        return
    found: dict[str, list[Point]] = {}
    for name in [args.only] if args.only else [*PARSERS, *SHAPES]:
        found[name] = list(measured(name, min(args.most, LONGEST.get(name, args.most)), args.patience))
    if args.write:
        PLOT.write_text(svg({name: points for name, points in found.items() if points}), "utf-8")
        before, _, rest = PAGE.read_text("utf-8").partition(MARK)
        _, _, after = rest.partition(MARK)
        PAGE.write_text(f"{before}{MARK}{table(found)}{MARK}{after}", "utf-8")


class Point(NamedTuple):
    """A file of `lines`: microseconds of CPU a line, and memory as a multiple of the source."""

    lines: int
    each: float
    memory: float


def measured(name: str, most: int, patience: float) -> Iterator[Point]:
    """The points of a shape, up to the first one that takes too long."""
    for size in SIZES:
        if size > most:
            return
        try:
            command = [sys.executable, __file__, "--point", name, str(size)]
            done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=patience)
        except subprocess.TimeoutExpired:
            print(f"{name:20} {size:7} lines: not waited for", flush=True)
            return
        point = Point(*json.loads(done.stdout))
        print(
            f"{name:20} {point.lines:7} lines {point.each:7.0f} microseconds a line {point.memory:5.0f} x", flush=True
        )
        yield point


def measure(name: str, size: int) -> Point:
    """One point, in this process, which is to do nothing else."""
    import libcst

    gc.set_threshold(*COLLECTIONS)
    check_source(many_functions(60).encode(), "agent.py", ALL)  # what is imported and compiled once
    source = SHAPES.get(name, many_functions)(size).encode()
    before, begun = peak_memory(), time.process_time()
    if name == "ast.parse":
        ast.parse(source)
    elif name == "libcst.parse_module":
        libcst.parse_module(source)
    else:
        report = check_source(source, "agent.py", ALL)
        failed = [finding.message for finding in report.findings if finding.code == "AGL000"]
        assert not failed, failed
    taken = time.process_time() - begun
    lines = source.count(b"\n")
    return Point(lines, taken / lines * 1e6, (peak_memory() - before) / len(source))


def peak_memory() -> int:
    """The most bytes that this process has held, so far."""
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def table(found: dict[str, list[Point]]) -> str:
    """A row for each shape."""
    heads = " | ".join(f"{size:,}" for size in SIZES)
    rows = [f"| microseconds a line, at lines: | {heads} | memory, times the source |", "| --- |" + " ---: |" * 5]
    for name, points in found.items():
        each = [f"{point.each:.0f}" for point in points] + [""] * (len(SIZES) - len(points))
        memory = [f"{point.memory:.0f}" for point in points]
        told = " to ".join(dict.fromkeys([min(memory, key=int), max(memory, key=int)])) if memory else ""
        rows.append(f"| `{name}` | {' | '.join(each)} | {told} |")
    return "\n".join([*rows, ""])


def svg(found: dict[str, list[Point]]) -> str:
    """Microseconds a line over the length of the file, both axes to the power of ten."""
    from math import log10

    width, height = 800, 420
    colours = ("#aaaaaa", "#666666", "#1f77b4", "#d62728", "#2ca02c", "#9467bd", "#ff7f0e", "#17becf", "#8c564b")
    colours += ("#e377c2",)

    def place(lines: float, each: float) -> tuple[float, float]:
        return 60 + (log10(lines) - 3) * 270, height - 40 - log10(each) * 85

    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" font-family="sans-serif">']
    parts.append(f'<rect width="{width}" height="{height}" fill="white"/>')
    for power in range(3, 6):
        x, _ = place(10**power, 1)
        parts.append(f'<text x="{x:.0f}" y="{height - 15}" font-size="12" text-anchor="middle">{10**power:,}</text>')
    for power in range(5):
        _, y = place(1_000, 10**power)
        parts.append(f'<line x1="60" x2="{width - 180}" y1="{y:.0f}" y2="{y:.0f}" stroke="#ddd"/>')
        parts.append(f'<text x="54" y="{y + 4:.0f}" font-size="12" text-anchor="end">{10**power:,}</text>')
    for number, (name, points) in enumerate(found.items()):
        colour, y = colours[number % len(colours)], 40 + 18 * number
        line = " ".join(f"{x:.0f},{y:.0f}" for x, y in (place(point.lines, point.each) for point in points))
        parts.append(f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="2"/>')
        parts.append(f'<rect x="{width - 165}" y="{y - 10}" width="12" height="12" fill="{colour}"/>')
        parts.append(f'<text x="{width - 148}" y="{y}" font-size="12">{name}</text>')
    parts.append('<text x="60" y="16" font-size="12">microseconds of CPU a line, over the lines of the file</text>')
    return "\n".join([*parts, "</svg>", ""])


if __name__ == "__main__":
    main()
