"""Programs that nobody would write, made by chance: calls in circles, values made of themselves, lists in lists.

Each seed gives one program, on every Python the same. What is said of one does not matter, but that something is.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from random import Random

NAMES = ("messages", "self.messages", "call", "calls", "reply", "message", "x", "y", "seen", "last", "self.last")
FUNCTIONS = ("f", "g", "h", "self.f", "self.g", "self.h")
TARGETS = (*NAMES, "self.f", "x['tool_calls']", "messages[0]", "x, y", "first, *rest", "self.messages[:]")
LEAVES = (*NAMES, "tools", "{}", "[]", "None", "'role'")
EXPRESSIONS = (
    "<f>(<e>)", "<f>(<e>, <e>)", "<f>(<e>)[0]", "<e>[0]", "<e>[-1]", "<e>[1:]", "[<f>(x) for x in <e>]", "(<e>, <e>)",
    "<e>['tool_calls']", "<e>.tool_calls", "<e>.get('content')", "dict(<e>)", "list(<e>)", "[*<e>, <e>]",
    "{**<e>, 'content': <e>}", "(<e> if <e> else <e>)", "(<e> or <e>)", "json.loads(<e>)", "json.dumps(<e>)",
    "next(<f>(x) for x in <e>)", "(<e> == <e>)", "(<e> in <e>)", "copy.deepcopy(<e>)", "(lambda x: <e>)", "<e> + <e>",
    "{'role': 'tool', 'tool_call_id': <e>.id, 'content': <e>}", "max(<e>, key=<f>)", "<e>.function.arguments",
    "client.chat.completions.create(model='m', messages=<e>, tools=tools).choices[0].message", "<e>.model_copy()",
    "sorted(<e>, key=lambda x: <e>)", "asyncio.create_task(<f>(<e>))", "partial(<f>, <e>)",
    "threading.Thread(target=<f>, args=(<e>,))",
)  # fmt: skip
STATEMENTS = (
    "<t> = <e>", "messages.append(<e>)", "self.messages.append(<e>)", "return <e>", "return <e>, <e>", "<e>",
    "yield <e>", "self.messages.extend(<e>)", "messages += <e>", "raise ValueError(<e>)", "del messages[0]",
    "messages.pop(<e>)", "self.messages = self.messages[-10:]", "seen.add(<e>)", "x = y", "y = x",
    "NOTE = 'a' f'{NOTE}'",
)  # fmt: skip
BLOCKS = (
    "for call in <e>:", "while <e>:", "if <e>:", "with self.lock:", "for _ in range(10):", "def inner(x):",
    "while True:", "with <f>(<e>) as x:", "for calls in calls:",
)  # fmt: skip
HEAD = """\
import asyncio, copy, json, threading
from functools import partial
from openai import OpenAI

client = OpenAI()
seen = set()
"""
CLASS = """

class Agent:
    def __init__(self, messages=[], tools=None):
        self.messages = messages
        self.lock = threading.Lock()
        self.last = None

    def run(self, text, tools):
        self.messages.append({"role": "user", "content": text})
        for _ in range(20):
            reply = client.chat.completions.create(model="m", messages=self.f(self.messages), tools=tools)
            reply = reply.choices[0].message
            self.messages.append(reply)
            if not reply.tool_calls or self.g(reply) == self.last:
                return reply.content
            for call in reply.tool_calls:
"""
ANSWER = '{"role": "tool", "tool_call_id": call.id, "content": str(f(call))}'


def program(seed: int) -> str:
    """The program of a number."""
    return _Writer(Random(seed)).program()


class _Writer:
    def __init__(self, random: Random) -> None:
        self.random = random

    def program(self) -> str:
        functions = "".join(f"\n\ndef {name}(messages, x=None):\n{self.body(4)}" for name in "fgh")
        methods = "".join(
            f"\n    {self.random.choice(('', '', 'async '))}def {name}(self, messages, x=None):\n{self.body(8)}"
            for name in "fgh"
        )
        answer = f"{' ' * 16}self.messages.append({ANSWER})\n"
        return HEAD + functions + CLASS + self.block(16, 0) + answer + methods

    def body(self, indent: int) -> str:
        return self.block(indent, 0) + f"{' ' * indent}return {self.expression(0)}\n"

    def block(self, indent: int, depth: int) -> str:
        return "".join(self.statement(indent, depth) for _ in range(self.random.randint(1, 4 - depth)))

    def statement(self, indent: int, depth: int) -> str:
        margin = " " * indent
        if depth > 2 or self.random.random() < 0.6:
            return f"{margin}{self.filled(self.random.choice(STATEMENTS), 1)}\n"
        inside = self.block(indent + 4, depth + 1)
        if self.random.random() < 0.2:
            return f"{margin}try:\n{inside}{margin}except ValueError as error:\n{self.block(indent + 4, depth + 1)}"
        return f"{margin}{self.filled(self.random.choice(BLOCKS), 1)}\n{inside}"

    def expression(self, depth: int) -> str:
        if depth > 3 or self.random.random() < 0.25:
            return self.random.choice(LEAVES)
        return self.filled(self.random.choice(EXPRESSIONS), depth)

    def filled(self, form: str, depth: int) -> str:
        """A form with something in each of its places."""
        makers: dict[str, Callable[[], str]] = {
            "<e>": lambda: self.expression(depth + 1),
            "<f>": lambda: self.random.choice(FUNCTIONS),
            "<t>": lambda: self.random.choice(TARGETS),
        }
        return re.sub("<[eft]>", lambda place: makers[place[0]](), form)
