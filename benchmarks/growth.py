"""How the cost of a check grows with a file: `python benchmarks/growth.py [--most LINES] [--only SHAPE] [--plot]`.

Files of one shape and growing length, in one process: CPU time per line should stay nearly the same. What grows faster
than the file is a bug. With `--plot`, docs/growth.svg is drawn.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from pathlib import Path

from lint_rules.check import Options, check_source
from lint_rules.rules.catalogue import BY_CODE

PLOT = Path(__file__).resolve().parent.parent / "docs" / "growth.svg"
ALL = Options(frozenset(BY_CODE))
SIZES = (250, 1_000, 4_000, 16_000, 64_000)

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
        one_function,
        many_rounds,
        long_function,
        many_histories,
        nested_ifs,
        deep_loops,
    )
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--most", type=int, default=SIZES[-1])
    parser.add_argument("--only", choices=SHAPES)
    parser.add_argument("--plot", action="store_true")
    parser.add_argument("--rules", help="codes with commas between them, each measured by itself")
    args = parser.parse_args()
    found: dict[str, list[tuple[int, float]]] = {}
    for options in [Options(frozenset({code})) for code in args.rules.split(",")] if args.rules else [ALL]:
        for name, shape in SHAPES.items():
            if args.only in (None, name):
                label = name if options is ALL else f"{name} {min(options.codes)}"
                found[label] = list(measure(label, shape, args.most, options))
    if args.plot:
        PLOT.write_text(svg(found), "utf-8")


def measure(label: str, shape: Callable[[int], str], most: int, options: Options) -> list[tuple[int, float]]:
    points = []
    for size in SIZES:
        if size > most:
            break
        source = shape(size).encode()
        lines = source.count(b"\n")
        begun = time.process_time()
        check_source(source, "agent.py", options)
        each = (time.process_time() - begun) / lines
        points.append((lines, each))
        print(f"{label:28} {lines:7} lines {each * 1e6:9.0f} microseconds a line", flush=True)
    return points


def svg(found: dict[str, list[tuple[int, float]]]) -> str:
    """Microseconds a line over the length of the file, both axes to the power of ten."""
    from math import log10

    width, height, colours = 640, 360, ("#1f77b4", "#d62728", "#2ca02c", "#9467bd")

    def place(lines: int, each: float) -> tuple[float, float]:
        return 60 + (log10(lines) - 2) * 180, height - 40 - (log10(each * 1e6) - 1) * 90

    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" font-family="sans-serif">']
    parts.append(f'<rect width="{width}" height="{height}" fill="white"/>')
    for power in range(2, 6):
        x, _ = place(10**power, 1e-5)
        parts.append(f'<text x="{x:.0f}" y="{height - 15}" font-size="12" text-anchor="middle">{10**power:,}</text>')
    for power in range(1, 5):
        _, y = place(100, 10**power / 1e6)
        parts.append(f'<line x1="60" x2="{width - 20}" y1="{y:.0f}" y2="{y:.0f}" stroke="#ddd"/>')
        parts.append(f'<text x="54" y="{y + 4:.0f}" font-size="12" text-anchor="end">{10**power:,}</text>')
    for (name, points), colour in zip(found.items(), colours, strict=False):
        line = " ".join(f"{x:.0f},{y:.0f}" for x, y in (place(*point) for point in points))
        parts.append(f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="2"/>')
        x, y = place(*points[-1])
        parts.append(
            f'<text x="{x - 4:.0f}" y="{y - 6:.0f}" font-size="12" text-anchor="end" fill="{colour}">{name}</text>'
        )
    parts.append('<text x="60" y="16" font-size="12">microseconds of CPU a line, over the lines of the file</text>')
    return "\n".join([*parts, "</svg>", ""])


if __name__ == "__main__":
    main()
