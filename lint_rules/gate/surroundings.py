"""Evidence in other files: what a file cannot show of an agent, while the files that it imports from do."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Callable, Collection, Iterable, Iterator
from functools import cached_property, lru_cache
from typing import NamedTuple, TypeVar

from lint_rules.anatomy import vocabulary as words
from lint_rules.anatomy.vocabulary import Vocabulary
from lint_rules.gate import mentions
from lint_rules.gate.evidence import Evidence
from lint_rules.gate.signs import called_name, text
from lint_rules.syntax.reexports import Nearby, definitions, home, imported_by

__all__ = ["Nearby", "Seen", "Surroundings", "seen"]

Known = TypeVar("Known", bound="Surroundings")


class Surroundings(Evidence):
    """The signs of a file, and of those from which it imports classes."""

    def __init__(
        self,
        tree: ast.Module,
        nearby: Nearby | None = None,
        beside: Callable[[], bool] = lambda: False,
        told: Callable[[], bool] = lambda: False,
        deriving: Callable[[str], Iterable[bytes]] = lambda module: (),
        sharing: Callable[[str], Iterable[bytes]] = lambda module: (),
    ) -> None:
        """Of the files that import this one, `beside` tells whether one runs several things at once.

        `told` tells whether one has words of agents: it may tell a model of what stands here, or hand messages to it.
        `deriving` gives the sources of classes that do what those of a module only declare, `sharing` those of other
        files that import the module.
        """
        super().__init__(tree)
        self._nearby = nearby
        self._beside = beside
        self._told = told
        self._deriving = deriving
        self._sharing = sharing

    @cached_property
    def is_run_beside(self) -> bool:
        return self._beside()

    @cached_property
    def is_told_of(self) -> bool:
        return self._told()

    def _sources_of(self, names: Collection[str]) -> Iterator[bytes]:
        """The sources of the project in which the classes of these names stand."""
        modules: dict[str, list[bytes]] = {}
        for name in names if self._nearby is not None else ():
            module, there = self._home(name)
            if module:
                modules.setdefault(module, []).append(f"class {there}".encode())
        for module, classes in modules.items():
            source = self._nearby(module) if self._nearby is not None else None
            if source is not None and any(defined in source for defined in classes):
                yield source

    def _home(self, bound: str) -> tuple[str, str]:
        """The module of the project in which an imported name is defined, and what it is called there."""
        named = bound in self.origins
        for module in [self.origins[bound]] if named else self.whole:
            if self._nearby is not None and module and module.partition(".")[0] not in sys.stdlib_module_names:
                found = home(self._nearby, module, self.imported[bound].rpartition(".")[2] if named else bound)
                if named or found[0] != module or self._is_defined(*found):
                    return found
        return "", bound

    def _is_defined(self, module: str, name: str) -> bool:
        source = self._nearby(module) if self._nearby is not None else None
        return source is not None and any(name == defined for _, defined in definitions(source))

    def _homes(self) -> set[str]:
        """The modules of the project that define what is imported here: by name, or called and imported with all."""
        names = {*self.origins, *(self.called if self.whole else ())}
        return {self._home(bound)[0] for bound in names} - {""}

    def again(self: Known, tree: ast.Module) -> Known:
        """The same for another tree of the file."""
        return type(self)(
            tree, self._nearby, lambda: self.is_run_beside, lambda: self.is_told_of, self._deriving, self._sharing
        )

    def has_own_words(self) -> bool:
        """Whether objects here may be messages or calls that are called otherwise than a provider does.

        A field of another name is sent as a role or content, says who speaks, or is handed to a tool as its arguments;
        or a role is given to a constructor by its place, or by a name: in a helper that puts messages together. Or a
        message is what a function gives back, here or where what is called here comes from.
        """
        nodes, texts = self.nodes, self.texts
        if any(map(_spreads_otherwise, nodes[ast.keyword])):
            return True
        if "role" in self.keywords and "__init__" in self.called and any(map(_begins_with_role, nodes[ast.Call])):
            return True
        if not texts.isdisjoint(words.TELLING_ROLES):
            if any(map(_says_role, nodes[ast.Compare])) or any(map(_takes_role, nodes[ast.Call])):
                return True
        if not texts.isdisjoint(_SENT):
            if any(map(_sends_otherwise, nodes[ast.Dict])) or any(map(_gives_message, nodes[ast.Return])):
                return True
            if self.has(ast.MatchClass):  # which may bind a field that is sent
                return True
        if "role" in self.keywords and any(map(_gives_role, nodes[ast.keyword])):
            return True
        return self._makes_elsewhere() or self._names_parts()

    def _names_parts(self) -> bool:
        """A class of the project is named here that may be one of tool calls, by its fields.

        Or objects of one are made here, or asked for their class, and sent as messages by a file that this one imports,
        or that imports the same.
        """
        tested = [call.args[1] for _, call in self.calls_ending({"isinstance"}) if len(call.args) == 2]
        asked = {part.id for part in tested if isinstance(part, ast.Name)}
        used = asked | {node.cls.id for node in self.nodes[ast.MatchClass] if isinstance(node.cls, ast.Name)}
        used |= {name for name in self.called if name[:1].isupper()}
        if any(_OF_CALLS.search(source) for source in self._sources_of(self._named | asked)):
            return True
        modules = {self._home(name)[0] for name in used & self.origins.keys()} - {""}
        if modules and any(_ANSWERS.search(source) for _, source in self._sources()):
            return True
        return any(_ANSWERS.search(source) for module in modules for source in self._sharing(module))

    def _makes_elsewhere(self) -> bool:
        """A plain function or method of another file that is called here, and makes, sends or stores messages."""
        if self._nearby is None:
            return False
        for module in self._homes():
            source = self._nearby(module)
            if source is not None and not self.called.isdisjoint(_handing_on(source)):
                return True
        return False

    def keeps_elsewhere(self) -> bool:
        """An object made here that keeps a conversation with a model: of a class of another file, or of a library."""
        if not self.names.isdisjoint(words.KEEPERS):
            return True
        if any(seen(source).asks for source in self._running(self.called)):
            return True
        sources = map(self._nearby, self._modules()) if self._nearby is not None else ()
        return any(source is not None and _holds_memory(source) for source in sources)

    @cached_property
    def asks(self) -> bool:
        """Whether any call can ask a model, also by a function of another file, or by one that nobody knows."""
        return super().asks or (self.agent and (self.turns_elsewhere() or bool(self.answering)))

    @cached_property
    def answering(self) -> list[ast.Call]:
        """The calls whose result may be a reply that is read, and stored in the history that they were handed.

        Or what is kept as said by the model.
        """
        reads = not self.called.isdisjoint(_GROWERS) and (self._reads_parts() or self.calls)
        if not reads and words.SAID.isdisjoint(self.texts):
            return []
        nodes = self.nodes
        stack = [node.value for kind in (ast.Assign, ast.AnnAssign, ast.NamedExpr, ast.Return) for node in nodes[kind]]
        stack += [node.iter for kind in (ast.For, ast.AsyncFor, ast.comprehension) for node in nodes[kind]]
        stack += [node.context_expr for node in nodes[ast.withitem]]
        found = []
        while stack:
            value = stack.pop()
            if type(value) is ast.Call:
                if value.args or value.keywords:
                    found.append(value)
                stack += [value.func, *value.args[:1]]
            elif isinstance(value, (ast.Await, ast.Attribute, ast.Subscript)):
                stack.append(value.value)
        return found

    @cached_property
    def asking_elsewhere(self) -> frozenset[str]:
        """The names of what is called here, and defined in a file of the project that asks a model."""
        found: set[str] = set()
        for module, source in self._sources():
            named = self.called & _defined(source)
            if named and (seen(source).asks or self._asks_beyond(module, source)):
                found |= named
        return frozenset(found)

    def decodes_elsewhere(self) -> bool:
        """What is called here is defined in a file of the project that decodes JSON."""
        return self._calls_where(_DECODES)

    def answers_elsewhere(self) -> bool:
        """What is called here is defined in a file of the project that may answer tool calls."""
        return self._calls_where(_ANSWERS)

    def _calls_where(self, sign: re.Pattern[bytes]) -> bool:
        """Whether what is called here is defined in a file of the project whose source has a sign."""
        return any(
            sign.search(source) and not self.called.isdisjoint(_defined(source)) for _, source in self._sources()
        )

    def defined_elsewhere(self) -> set[str]:
        """The names of the functions of the modules of the project that this file imports."""
        return {name for _, source in self._sources() for name in _defined(source)}

    def _sources(self) -> Iterator[tuple[str, bytes]]:
        """The modules of the project that this file imports, with their sources, and those that derive from these."""
        for module in self._modules() if self._nearby is not None else ():
            outside = module.partition(".")[0] in sys.stdlib_module_names
            source = self._nearby(module) if self._nearby is not None and not outside else None
            if source is not None:
                yield module, source
                yield from ((module, other) for other in self._deriving(module))

    def defining(self, names: Collection[str]) -> Iterator[bytes]:
        """The sources of the project that define one of these names: as a function, a method, a class or a field."""
        for _, source in self._sources() if names else ():
            fields = (b".%s%s " % (name.encode(), sign) for name in names for sign in (b" =", b":"))
            if not _defined(source).isdisjoint(names) or any(field in source for field in fields):
                yield source

    def turns_elsewhere(self) -> bool:
        """What is called here is defined in a file of the project that asks a model."""
        return bool(self.asking_elsewhere)

    def agents_elsewhere(self, named: Collection[str] = ()) -> bool:
        """What is called here is defined in a file of the project that shows an agent, itself or where it imports.

        Or what is `named`.
        """
        used = self.called.union(named)
        return any(
            not used.isdisjoint(_defined(source))
            and (_shows_agent(source) or any(map(_shows_agent, self._imported_there(module, source))))
            for module, source in self._sources()
        )

    def agents_beyond(self) -> bool:
        """What is called here is defined in a file with an agent that one imports which this one imports.

        `bot.engine.answer(text)`, where the class of the bot comes with its file.
        """
        return any(
            not self.called.isdisjoint(_defined(found)) and _shows_agent(found)
            for module, source in self._sources()
            for found in self._imported_there(module, source)
        )

    def _imported_there(self, module: str, source: bytes) -> Iterator[bytes]:
        """The sources of the project that one imports, which is imported here as `module`."""
        inner = (self._nearby(name) for name in imported_by(module, source)) if self._nearby is not None else ()
        return (found for found in inner if found is not None)

    def _asks_beyond(self, module: str, source: bytes) -> bool:
        """Whether a file asks a model that another one imports, which is imported here as `module`."""
        return any(seen(found).asks for found in self._imported_there(module, source))

    def stores_by_coroutine(self, named: Collection[str]) -> bool:
        """Whether a file that this one imports from, with signs of an agent here or there, defines a coroutine function
        of one of these names."""
        for module in self._homes() if self._nearby is not None else ():
            source = self._nearby(module) if self._nearby is not None else None
            if source is not None and not _coroutines(source).isdisjoint(named) and (self.agent or seen(source).agent):
                return True
        return False

    def _modules(self) -> set[str]:
        """The modules that this file imports, as written: `core` and `core.llm` for `from core import llm`."""
        found = self._homes()
        for bound, full in self.imported.items():
            module = self.origins.get(bound)
            if module is None:
                found.add(full)
            elif bound in self._bases:
                found.add(f"{module}{'' if module.endswith('.') else '.'}{full.rpartition('.')[2]}")
        return found

    @cached_property
    def _bases(self) -> set[str]:
        """The names of which an attribute is asked for."""
        return {node.value.id for node in self.nodes[ast.Attribute] if type(node.value) is ast.Name}

    def _running(self, methods: Iterable[str]) -> Iterator[bytes]:
        """The sources of the classes of objects made here, if one of these methods is defined in them."""
        defined = [f"def {name}".encode() for name in methods]
        for source in self._sources_of(set(self._made())) if defined else ():
            if any(method in source for method in defined):
                yield source

    def _made(self) -> Iterator[str]:
        """What is called for a value that is assigned or given back."""
        for kind in (ast.Assign, ast.AnnAssign, ast.NamedExpr, ast.Return):
            for node in self.nodes[kind]:
                value = node.value
                for part in value.elts if isinstance(value, (ast.Tuple, ast.List)) else (value,):
                    yield _maker(part)

    def bases_elsewhere(self) -> Iterator[bytes]:
        """The sources of the project from which classes of this file inherit."""
        given = (base for node in self.nodes[ast.ClassDef] for base in node.bases)
        bases = [base.value if type(base) is ast.Subscript else base for base in given]
        return self._sources_of({base.id for base in bases if type(base) is ast.Name})

    def defaults_elsewhere(self) -> bool:
        """A default argument that is an object of a class of another file, with signs of an agent."""
        made = {_maker(value) for node in self.nodes[ast.arguments] for value in (*node.defaults, *node.kw_defaults)}
        return any(seen(source).agent for source in self._sources_of(made))

    def lists_messages(self, having: Collection[str] = ("role",)) -> bool:
        """A list of messages that only the class of its elements shows: of this file, or of one it imports from.

        `having`: fields of which the class has one.
        """
        if not self.message_fields.isdisjoint(having):
            return True
        return any(
            any(field.encode() in source for field in having) and not seen(source).message_fields.isdisjoint(having)
            for source in self._sources_of(self._named)
        )

    @cached_property
    def _named(self) -> set[str]:
        """The names in annotations."""
        nodes, found = self.nodes, set()
        parts = [node.annotation for node in (*nodes[ast.arg], *nodes[ast.AnnAssign])]
        parts += [node.returns for node in (*nodes[ast.FunctionDef], *nodes[ast.AsyncFunctionDef])]
        while parts:
            part = parts.pop()
            kind = type(part)
            if kind is ast.Name:
                found.add(part.id)
            elif kind is ast.Subscript:
                parts.append(part.slice)
            elif kind is ast.Tuple:
                parts += part.elts
            elif kind is ast.BinOp:
                parts += (part.left, part.right)
            elif (name := text(part)) is not None:
                found.add(name)
        return found


class Seen(NamedTuple):
    """What a source shows by itself."""

    agent: bool = False
    asks: bool = False
    message_fields: frozenset[str] = frozenset()


@lru_cache(maxsize=4096)
def seen(source: bytes) -> Seen:
    """Nothing where it is no Python."""
    if not mentions.agent(source, Vocabulary()):
        return Seen()
    try:
        evidence = Evidence(ast.parse(source))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return Seen()
    return Seen(evidence.agent, evidence.asks, evidence.message_fields)


def _shows_agent(source: bytes) -> bool:
    """Whether a source has parts of an agent, or an object of a library that keeps a conversation."""
    return seen(source).agent or _KEEPERS.search(source) is not None


_KEEPERS = re.compile(rb"\b(?:%s)\(" % b"|".join(map(str.encode, sorted(words.KEEPERS))))
_OF_CALLS = re.compile(rb"^[ \t]+name[ \t]*:(?:[^\n]*\n){1,9}?[ \t]+(?:input|arguments|args)[ \t]*:", re.MULTILINE)
"""Fields of a class as a provider calls those of a tool call."""


_GROWERS = frozenset({"append", "extend", "insert"})
_SENT = frozenset({"role", "content", "tool_calls", "tool_call_id", "arguments", "name", "id", "input"})


def _sends_otherwise(node: ast.Dict) -> bool:
    """`{"role": turn.speaker}`, `{"role": who}`."""
    for key, value in zip(node.keys, node.values, strict=True):
        if (name := text(key)) in _SENT:
            value = value.values[0] if type(value) is ast.BoolOp else value
            if type(value) is ast.Call and value.args:
                value = value.args[0]
            if type(value) is ast.Attribute and value.attr not in _SENT | {name}:
                return True
            if type(value) is ast.Name and name == "role":
                return True
    return False


def _says_role(node: ast.Compare) -> bool:
    """`turn.speaker == "assistant"`, `turn.speaker in ("user", "tool")`."""
    sides = [node.left, *node.comparators]
    parts = [part for side in sides for part in (side.elts if type(side) in _DISPLAYS else (side,))]  # type: ignore[attr-defined]
    if not any(text(part) in words.TELLING_ROLES for part in parts):
        return False
    return any(type(side) is ast.Attribute and side.attr not in _TAGS for side in sides)


def _spreads_otherwise(keyword: ast.keyword) -> bool:
    """`tool(**call.parameters)`."""
    return keyword.arg is None and type(keyword.value) is ast.Attribute and keyword.value.attr not in _SENT


def _gives_role(keyword: ast.keyword) -> bool:
    """`Row(role=who)`."""
    return keyword.arg == "role" and type(keyword.value) is ast.Name


def _begins_with_role(node: ast.Call) -> bool:
    """`super().__init__(role=...)`."""
    return called_name(node) == "__init__" and any(keyword.arg == "role" for keyword in node.keywords)


def _takes_role(node: ast.Call) -> bool:
    """`Turn("assistant", ...)`."""
    if any(text(arg) in words.TELLING_ROLES for arg in node.args):
        return called_name(node)[:1].isupper()
    return any(k.arg not in _TAGS and text(k.value) in words.TELLING_ROLES for k in node.keywords)


def _gives_message(node: ast.Return) -> bool:
    """`return {"role": who, ...}`."""
    return type(node.value) is ast.Dict and any(text(key) == "role" for key in node.value.keys)


@lru_cache(maxsize=4096)
def _handing_on(source: bytes) -> frozenset[str]:
    """The functions of a source that are plain, and put a message together, send some, or put something into a list.

    Where that is done by its `__init__`, a class.
    """
    if not _HANDS_ON.search(source):
        return frozenset()
    starts = [*_DEFINITION.finditer(source)]
    ends = [*(match.start() for match in starts[1:]), len(source)]
    plain, cls = [], b""
    for start, end in zip(starts, ends, strict=False):
        name, body = start[2], source[start.end() : end]
        if start[1] == b"class":
            cls = name
        elif len(body) < _LONGEST and not _NOT_PLAIN.search(body):
            plain.append((cls if name == b"__init__" else name, body))
    found = {name for name, body in plain if _HANDS_ON.search(body)}
    found |= {name for name, body in plain if not found.isdisjoint(_CALLED.findall(body))}
    return frozenset(name.decode() for name in found)


@lru_cache(maxsize=4096)
def _defined(source: bytes) -> frozenset[str]:
    """The names of the functions, methods and classes of a source."""
    return frozenset(match[2].decode() for match in _DEFINITION.finditer(source))


@lru_cache(maxsize=4096)
def _coroutines(source: bytes) -> frozenset[str]:
    """The names of the coroutine functions of a source."""
    return frozenset(name.decode() for name in _COROUTINE.findall(source))


@lru_cache(maxsize=4096)
def _holds_memory(source: bytes) -> bool:
    """Whether a source makes an object of a library that keeps a conversation."""
    return _LIBRARIES.search(source) is not None and _MEMORIES.search(source) is not None


_LIBRARIES = re.compile(rb"\b(?:langchain|llama_index)")
_MEMORIES = re.compile(rb"(?:Memory|MemoryBuffer|MessageHistory)\(")
_CALLED = re.compile(rb"(\w+)\(")
_DEFINITION = re.compile(rb"^[ \t]*(?:async[ ]+)?(def|class)[ ]+(\w+)\b", re.MULTILINE)
_COROUTINE = re.compile(rb"^[ \t]*async[ ]+def[ ]+(\w+)\b", re.MULTILINE)
_HANDS_ON = re.compile(
    rb"""["']role["']\s*:\s*[a-zA-Z_]|return\s*\{\s*["']role["']|\brole=[a-zA-Z_]"""
    rb"""|\b(?:messages|input|contents)=\w|:\s*(?:return\s+)?[\w.]+\.(?:append|extend|insert)\("""
)
_NOT_PLAIN = re.compile(rb"^[ \t]+(?:for|while|try|with|async|raise)\b", re.MULTILINE)
_LONGEST = 1200
"""Bytes that a function may have which is looked into."""
_DECODES = re.compile(
    rb"\b(?:%s)\("
    % b"|".join(sorted(name.rpartition(".")[2].encode() for name in words.DECODERS | words.DECODING_METHODS))
)
_ANSWERS = re.compile(
    b"|".join(sorted(word.encode() for word in (*words.ANSWERED, *words.RESULT_TAGS, *words.RESPONSES)))
    + rb"""|["']tool["']"""  # a role
)
_DISPLAYS = (ast.Tuple, ast.List, ast.Set)
_TAGS = frozenset({"role", "type"})


def _maker(value: ast.expr | None) -> str:
    """`Agent` of `Agent(...)` and `await Agent(...)`, "" of anything else."""
    while isinstance(value, (ast.Await, ast.NamedExpr)):
        value = value.value
    return value.func.id if isinstance(value, ast.Call) and isinstance(value.func, ast.Name) else ""
