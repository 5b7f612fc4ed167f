"""A right program in parts, and the layouts in which they become files."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

from homes import Home
from providers import Provider

TOOLS = """KIT = [{"type": "function", "function": {"name": "lookup", "parameters": {"type": "object"}}}]
ABLE = {"lookup": lookup, "note": note}
"""
ABLE = """def lookup(city):
    return httpx.get(f"https://example.org/{city}").text


def note(text):
    with open("notes.txt", "a") as out:
        out.write(text)
    return "noted"


"""


def indented(lines: list[str], by: int = 1) -> list[str]:
    """The lines, deeper."""
    return ["    " * by + line if line else line for text in lines for line in text.split("\n")]


@dataclass
class Parts:
    """What a turn is made of; a defect changes some of it."""

    provider: Provider
    home: Home
    aio: bool
    opening: list[str] = field(default_factory=list)
    begin: list[str] = field(default_factory=list)
    before: list[str] = field(default_factory=list)
    history: str = ""
    gone: list[str] = field(default_factory=list)
    store: list[str] = field(default_factory=list)
    compare: list[str] = field(default_factory=list)
    loop: list[str] = field(default_factory=list)
    run: list[str] = field(default_factory=list)
    stop: list[str] = field(default_factory=list)
    end: list[str] = field(default_factory=list)
    ends: str = "not wanted"
    rounds: str = "for _ in range(8):"
    second_tools: bool = False
    guarded: bool = False
    with_reason: bool = False
    answered: bool = False
    needs_words: bool = False
    stop_first: bool = False

    def __post_init__(self) -> None:
        provider, home = self.provider, self.home
        self.close = [home.close] if home.close else []
        self.called = provider.called.format(call="one")
        self.given = provider.given.format(call="one")
        self.history = home.every
        self.begin = [home.open] if home.open else []
        self.begin.append(self.put_question("words"))
        if provider.several:
            self.store = [home.put_all.format(ms=provider.plain if home.plain else "said.output")]
        else:
            self.store = [home.put.format(m=provider.plain if home.plain or provider.rebuilt else "said")]
        self.loop = ["for one in wanted:"]
        self.run = [
            "try:",
            f"    out = str(ABLE[{self.called}](**{self.given}))",
            "except Exception as error:",
            '    out = f"failed: {error}"',
        ]
        self.stop = [*self.close, f"return {provider.words}"]
        self.end = [*self.close, 'raise RuntimeError("no end in sight")']

    def of(self, call: str, what: str) -> str:
        """The name or the arguments of a call."""
        return str(getattr(self.provider, what)).format(call=call)

    def put_question(self, text: str) -> str:
        """The statement by which what a user says gets into the history."""
        if self.home.heard:
            return self.home.heard.format(text=text)
        return self.home.put.format(m=self.provider.user.format(text=text))

    def answer_with(self, out: str) -> list[str]:
        """The statements that give a call its result."""
        answer = self.provider.answer.format(call="one", out=out)
        if self.provider.wrap:
            return [f"got.append({answer})"]
        if self.home.answered:
            return [self.home.answered.format(call="one", out=out)]
        return [self.home.put.format(m=answer)]

    def put_results(self) -> str:
        """The statement by which the results in `got` get there, of a provider that takes them together."""
        if self.home.answered:
            return "talk.answered_all(got)"
        return self.home.put.format(m=self.provider.wrap)

    def beside(self) -> str:
        """The second file of the home, with the messages of the provider."""
        told = {
            "USER": self.provider.user.format(text="text"),
            "ANSWER": self.provider.answer.format(call="one", out="out"),
            "WRAP": self.provider.wrap or "got",
        }
        text = self.home.beside
        for word, message in told.items():
            text = text.replace(word, message)
        return text

    def wire(self) -> str:
        """The file that asks, of a program that makes the reply its own."""
        form = (
            {"{A}": "Async", "{w}": "await ", "{d}": "async def"} if self.aio else {"{A}": "", "{w}": "", "{d}": "def"}
        )
        text = self.provider.beside
        for word, written in form.items():
            text = text.replace(word, written)
        return text

    def request(self, tools: bool = True) -> str:
        """The expression that asks."""
        aio = self.aio
        return self.provider.ask.format(
            w="await " if aio else "",
            a="a" if aio else "",
            aio="aio." if aio else "",
            h=self.history,
            tools=self.provider.tools if tools else "",
        )

    def ask_lines(self, tools: bool = True) -> list[str]:
        """The request, up to the model's message in `said`."""
        lines = [*self.before, f"reply = {self.request(tools)}", f"said = {self.provider.said}"]
        lines += [f"reason = {self.provider.reason}"] * self.with_reason
        return ["try:", *indented(lines), "except Exception:", "    said = None"] if self.guarded else lines

    def carry_out(self) -> list[str]:
        """All calls are run and answered."""
        body = self.run if self.answered else [*self.run, *self.answer_with("out")]
        loop = [*self.loop, *indented(body)] if self.loop[-1].endswith(":") else [*self.loop, *body]
        if not self.provider.wrap:
            return loop
        return ["got = []", *loop, self.put_results()]


def turn(p: Parts, ask: list[str], carry: list[str], again: list[str]) -> list[str]:
    """The body of a turn. `ask` and `again` bind `said`; `carry` answers all of `wanted`."""
    wanted = f"wanted = {p.provider.calls}"
    if p.rounds == "once":
        after = indented([*carry, *again, *p.gone, *p.store])
        return [*p.opening, *p.begin, *ask, *p.gone, *p.store, wanted, "if wanted:", *after, *p.stop]
    stop = [f"if {p.ends}:", *indented(p.stop)]
    stored = [wanted, *stop, *p.store] if p.stop_first else [*p.store, wanted, *stop]
    return [*p.opening, *p.begin, p.rounds, *indented([*ask, *p.gone, *stored, *p.compare, *carry]), *p.end]


def function(p: Parts, name: str, parameters: str, body: list[str], waits: bool = True) -> list[str]:
    """A definition; a coroutine if the program is made of them and something is awaited in it."""
    start = "async def" if p.aio and waits else "def"
    return ["", "", f"{start} {name}({parameters}):", *indented(body)]


def files(p: Parts, layout: str, mark: str) -> dict[str, str]:
    """The program as files, by name. `mark` keeps the names of modules apart where many programs lie in one folder."""
    wait, held = "await " if p.aio else "", p.home.held
    more = ", words" if p.needs_words else ""
    head = [
        "import json\n",
        "import httpx\n" * (p.provider.name != "raw"),
        p.provider.head.format(A="Async" if p.aio else "", C="Async" if p.aio else "", i=mark),
        p.home.module.format(i=mark) if p.home.beside else p.home.module,
        "\n" + ABLE + TOOLS,
    ]
    made: dict[str, str] = {f"shelf{mark}.py": p.beside()} if p.home.beside else {}
    if p.provider.beside:
        made[f"wire{mark}.py"] = p.wire()
    carry = p.carry_out()
    if layout == "flat":
        body = turn(p, p.ask_lines(), carry, p.ask_lines(p.second_tools))
        main = text(function(p, "turn", "key, words", body))
        made[f"main{mark}.py"] = door(p) + "".join(head) + main + answer(p)
        return made
    gives = "said, reason" if p.with_reason else "said"
    me, own = ("self.", "self, ") if layout == "methods" else ("", "")
    body = turn(
        p,
        [f"{gives} = {wait}{me}request({held}{more})"],
        [f"{me}carry_out({held}, wanted)"],
        [f"said = {wait}{me}{'request' if p.second_tools else 'closing'}({held})"],
    )
    helpers = [
        *function(p, "request", own + held + more, [*p.ask_lines(), f"return {gives}"]),
        *function(p, "carry_out", f"{own}{held}, wanted", carry, waits=False),
    ]
    if p.rounds == "once" and not p.second_tools:
        helpers += function(p, "closing", own + held, [*p.ask_lines(tools=False), "return said"])
    turns = function(p, "turn", own + "key, words", body)
    if layout == "methods":
        desk = ["", "", "class Desk:", *indented([*helpers[2:], *turns[1:]]), "", "", "desk = Desk()"]
        made[f"main{mark}.py"] = door(p) + "".join(head) + text(desk) + answer(p, "desk.")
    elif layout == "helpers":
        made[f"main{mark}.py"] = door(p) + "".join(head) + text([*helpers, *turns]) + answer(p)
    else:
        made[f"parts{mark}.py"] = "".join(head) + text(helpers)
        names = bound(made[f"parts{mark}.py"]) & used(turns)
        start = f"from parts{mark} import {', '.join(sorted(names))}\n"
        made[f"main{mark}.py"] = "import json\n" + door(p) + start + text(turns) + answer(p)
    return made


def bound(module: str) -> set[str]:
    """The names that a module binds at its top."""
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    tops = ast.parse(module).body
    given = [target for top in tops if isinstance(top, ast.Assign) for target in top.targets]
    targets = {target.id for target in given if isinstance(target, ast.Name)}
    imported = {(alias.asname or alias.name) for top in tops if isinstance(top, ast.ImportFrom) for alias in top.names}
    return targets | imported | {top.name for top in tops if isinstance(top, kinds)}


def used(lines: list[str]) -> set[str]:
    """The names that lines mention."""
    return {node.id for node in ast.walk(ast.parse("\n".join(lines))) if isinstance(node, ast.Name)}


def text(lines: list[str]) -> str:
    """Lines as text."""
    return "\n".join(lines) + "\n"


def door(p: Parts) -> str:
    """How the program is reached: the imports."""
    return "from fastapi import FastAPI\n" if p.aio else "from flask import Flask, request as asked\n"


def answer(p: Parts, of: str = "") -> str:
    """How the program is reached: the handler."""
    if p.aio:
        return f"""

app = FastAPI()


@app.post("/say/{{key}}")
async def say(key: str, words: str):
    return {{"text": await {of}turn(key, words)}}
"""
    return f"""

app = Flask(__name__)


@app.post("/say/<key>")
def say(key):
    return {{"text": {of}turn(key, asked.json["words"])}}
"""


LAYOUTS = ("flat", "helpers", "methods", "files")
