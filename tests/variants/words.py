"""The program with its own words: what it may name as it likes gets another name, the same one everywhere.

Classes, fields, methods, functions, parameters, locals and globals of the project are renamed. What Python, a library
or a provider demands stays: their attributes and keywords, keys of dicts and texts, members that a base outside knows,
parameters that a model fills in. A name stays, too, where the files do not show which of the two it is.
"""

from __future__ import annotations

import asyncio
import builtins
import collections
import concurrent.futures
import contextlib
import datetime
import importlib
import itertools
import json
import logging
import pathlib
import queue
import random
import re
import sqlite3
import sys
import threading
import types
from collections import defaultdict
from collections.abc import Iterator
from functools import cached_property

import libcst as cst

from .project import (
    FOREIGN,
    Definition,
    Files,
    Function,
    Holder,
    Node,
    Own,
    Project,
    Source,
    decorators_of,
    dotted,
    last_word,
    params_of,
    text_of,
    walk,
)

PARTS = """
    amber basil cedar delta ember fjord grove heron indigo juniper kelp lotus maple nectar olive pepper
    quartz raven saffron tulip umber violet walnut yarrow zinnia birch clover dune fern gorse hazel iris
    larch mint nettle onyx poppy reed sorrel thyme willow aspen beech coral dahlia elder flint ginger heath
    ivory jasmine
""".split()  # noqa: SIM905
"""Plants and stones: words that no agent is made of."""

TYPES = (
    *(
        str,
        bytes,
        list,
        dict,
        set,
        tuple,
        int,
        float,
        object,
        BaseException,
        type,
        types.FunctionType,
        types.SimpleNamespace,
    ),
    *(
        collections.deque,
        collections.Counter,
        contextlib.ExitStack,
        datetime.datetime,
        datetime.timedelta,
        itertools.count,
    ),
    *(pathlib.Path, re.Pattern, re.Match, logging.Logger, queue.Queue, sqlite3.Connection, sqlite3.Cursor),
    *(
        threading.Thread,
        threading.Event,
        threading.Condition,
        threading.Timer,
        asyncio.Task,
        asyncio.Queue,
        asyncio.Event,
    ),
    *(
        asyncio.Lock,
        asyncio.AbstractEventLoop,
        concurrent.futures.Future,
        concurrent.futures.Executor,
        json.JSONEncoder,
    ),
)
REPLY = """
    choices message delta content tool_calls function function_call name arguments id index type role input
    output text usage finish_reason stop_reason messages chat completions responses create beta threads runs
    stream status model tools candidates parts args call_id output_text invoke bind_tools kwargs response
    history send_message error result thinking
""".split()  # noqa: SIM905
SHARED = frozenset({word for kind in TYPES for word in dir(kind)} | set(REPLY))
"""Attributes that objects of Python and of providers have, too: whose it is must be seen."""
OF_HOLDERS = frozenset({*dir(list), *dir(dict), *dir(set), *dir(collections.deque), *dir(asyncio.Queue)})
KEYED = {"TypedDict", "BaseModel", "BaseSettings", "Enum", "IntEnum", "StrEnum", "Flag"}
"""Bases whose members are keys of dicts, or are looked up by their names."""
DUMPED = {"asdict", "vars", "model_dump", "fields", "__dict__", "astuple", "_asdict"}
CALLERS = {
    *(
        "submit",
        "run_in_executor",
        "to_thread",
        "Thread",
        "Timer",
        "map",
        "filter",
        "partial",
        "add_done_callback",
        "run",
    ),
    *(
        "call_soon",
        "call_soon_threadsafe",
        "call_later",
        "create_task",
        "sorted",
        "max",
        "min",
        "sort",
        "SimpleNamespace",
    ),
    *("defaultdict", "field", "signal", "register"),
}
"""They call what they are given, and read no names."""
NAME_READS = {"__qualname__", "__doc__", "signature", "globals", "locals", "getdoc"}
LOOKUPS = {"getattr", "setattr", "hasattr", "delattr", "attrgetter", "methodcaller"}


def own_words(files: Files, seed: int, outside: frozenset[str] = frozenset()) -> Files | None:
    """The files with other names of their own, by lot; words that are used `outside` of them stay."""
    words = Words(Project(files), seed, outside)
    return words.rewritten() if words.renamed else None


class Words:
    """Which words of a project are its own, and where they stand."""

    def __init__(self, project: Project, seed: int, outside: frozenset[str] = frozenset()) -> None:
        self.project = project
        self.seed = seed
        self._outside = outside
        self._new: dict[str, str] = {}
        self.places: dict[Source, dict[Node, str]] = {source: {} for source in project.sources.values()}
        for source in project.sources.values():
            self._collect(source)

    @property
    def renamed(self) -> dict[str, str]:
        return self._new

    def rewritten(self) -> Files:
        return {
            source.path: source.module.visit(_Rename(self.places[source])).code
            for source in self.project.sources.values()
        }

    # new names

    @cached_property
    def _fresh(self) -> Iterator[str]:
        taken = {word for source in self.project.sources.values() for word in re.findall(r"\w+", source.module.code)}
        taken = {word.lower() for word in taken}
        pairs = [f"{one}_{two}" for one in PARTS for two in PARTS if one != two]
        random.Random(f"{self.seed}").shuffle(pairs)
        singles = list(PARTS)
        random.Random(f"{self.seed}").shuffle(singles)
        return (word for word in (*singles, *pairs) if word not in taken)

    def new(self, word: str) -> str:
        """The word that takes this one's place, written as it was: private, a class, a constant."""
        bare = word.strip("_")
        if bare not in self._new:
            fresh = next(self._fresh)
            if bare.isupper() and len(bare) > 1:
                fresh = fresh.upper()
            elif bare[:1].isupper():
                fresh = fresh.title().replace("_", "")
            self._new[bare] = fresh
        return word.replace(bare, self._new[bare])

    # what stays

    def may_rename(self, word: str) -> bool:
        is_own = bool(word.strip("_")) and not (word.startswith("__") and word.endswith("__"))
        return is_own and word not in ("self", "cls") and word not in self._outside

    @cached_property
    def strings(self) -> set[str]:
        """Whole texts of the program."""
        return {text for _, node in self.project.all(cst.SimpleString) if (text := text_of(node)) is not None}

    @cached_property
    def kept(self) -> set[str]:
        """Members that must keep their names."""
        project, kept = self.project, set()
        for name, same in project.classes.items():
            bases = project.foreign_bases(name)
            members = {word for word, holders in project.members.items() if name in holders}
            if any(base.rpartition(".")[2] in KEYED for base in bases):
                kept |= members
            for base in bases:
                known = members_of(base)
                kept |= members if known is None else members & known
            if any(decorators_of(node) & {"model", "define", "pydantic_dataclass"} for _, node in same):
                kept |= members
        kept |= self._dumped_members()
        for source, node in project.all(cst.Attribute, cst.MatchKeywordElement, cst.Arg):
            word = {cst.Attribute: "attr", cst.MatchKeywordElement: "key", cst.Arg: "keyword"}[type(node)]
            name = getattr(node, word)
            if name is None or name.value not in project.members or name.value in kept:
                continue
            if isinstance(node, cst.Attribute) and self.is_own(source, node) is None:
                kept.add(name.value)
        for _, node in project.all(cst.Call):
            if last_word(node.func) in LOOKUPS:
                kept |= {text for arg in node.args if (text := text_of(arg.value))}
        for _, node in project.all(cst.FormattedStringExpression):
            if node.equal:
                kept |= {below.value for below in walk(node.expression) if isinstance(below, cst.Name)}
        return {word for word in kept if self.may_rename(word)}

    def _dumped_members(self) -> set[str]:
        """Fields of objects that are made into dicts by their names, unless straight into a text of their own."""
        project, dumped = self.project, set()
        for source, node in project.all(cst.Call):
            is_stored = isinstance(source.parent[source.parent[node]], cst.Call) and "dumps" in last_word(
                source.parent[source.parent[node]].func
            )
            if last_word(node.func) in DUMPED and not is_stored:
                given = node.func.value if isinstance(node.func, cst.Attribute) and not node.args else node.args[:1]
                kind = project.kind(
                    source, given[0].value if isinstance(given, list | tuple) and given else given or None
                )
                names = kind.classes if isinstance(kind, Own) else project.classes
                dumped |= {word for word, holders in project.members.items() if any(h in names for h in holders)}
        if any(node.attr.value == "__dict__" for _, node in project.all(cst.Attribute)):
            dumped |= set(project.members)
        return dumped

    def is_own(self, source: Source, node: cst.Attribute) -> bool | None:
        """Whether the attribute is one of the project's classes (or of a module of it); None if it cannot be seen."""
        word, kind = node.attr.value, self.project.kind(source, node.value)
        if isinstance(kind, Own) and self.project.has(kind.classes, word):
            return True
        if isinstance(kind, Definition):
            if isinstance(kind.node, Source):
                return word in kind.node.bound(kind.node.module)
            return isinstance(kind.node, cst.ClassDef) and self.project.has([kind.node.name.value], word)
        if (
            kind is not FOREIGN
            and word in self.project.members
            and not (isinstance(kind, Holder) and word in OF_HOLDERS)
        ):
            return None if word in SHARED else True
        return False

    # functions and parameters

    @cached_property
    def methods(self) -> dict[str, list[tuple[str, cst.FunctionDef]]]:
        """Name of a method to the classes that define it, with the method."""
        found: dict[str, list[tuple[str, cst.FunctionDef]]] = defaultdict(list)
        for source, node in self.project.all(cst.FunctionDef):
            if (owner := source.class_of(node)) is not None:
                found[node.name.value].append((owner.name.value, node))
        return found

    @cached_property
    def escaped(self) -> dict[cst.FunctionDef, bool]:
        """Functions that are given away as values, and whether whoever gets them may read their names."""
        found = {node: True for _, node in self.project.all(cst.FunctionDef) if decorators_of(node) - PLAIN_MARKS}
        for source, node in self.project.all(cst.Name, cst.Attribute):
            above = source.parent[node]
            if isinstance(
                above, cst.Attribute | cst.FunctionDef | cst.ClassDef | cst.ImportAlias | cst.Param | cst.AssignTarget
            ):
                continue
            if (isinstance(above, cst.Call) and above.func is node) or (
                isinstance(above, cst.Arg) and above.keyword is node
            ):
                continue
            for function in self._functions_of(source, node):
                holder = source.parent[above] if isinstance(above, cst.Arg) else above
                is_called = isinstance(holder, cst.Call) and last_word(holder.func) in CALLERS
                is_read = not is_called and self._reads_names(source, holder)
                found[function] = found.get(function, False) or is_read
        return found

    def _reads_names(self, source: Source, holder: Node) -> bool:
        """Whether who gets a function here may ask for its name: this file, that of the callee, or a library."""
        called = self._called(source, holder) if isinstance(holder, cst.Call) else []
        if isinstance(holder, cst.Call) and not called and isinstance(holder.func, cst.Name):
            return holder.func.value not in dir(builtins)
        return source in self._readers or any(self.project.home[node] in self._readers for node in called)

    @cached_property
    def _readers(self) -> set[Source]:
        """Files that read `__name__` of something, or a signature."""
        words = {*NAME_READS, "__name__"}
        found = {source for source, node in self.project.all(cst.Attribute) if node.attr.value in words}
        return found | {source for source, node in self.project.all(cst.Name) if node.value in NAME_READS}

    def _functions_of(self, source: Source, node: cst.Name | cst.Attribute) -> list[cst.FunctionDef]:
        """The functions of the project that an expression may mean."""
        kind = self.project.kind(source, node)
        if isinstance(kind, Definition) and isinstance(kind.node, cst.FunctionDef):
            return [kind.node]
        if isinstance(node, cst.Attribute) and node.attr.value in self.methods and self.is_own(source, node):
            on = self.project.kind(source, node.value)
            names = {one for name in on.classes for one in self.project.line(name)} if isinstance(on, Own) else None
            found = [method for owner, method in self.methods[node.attr.value] if names is None or owner in names]
            return [method for method in found if not decorators_of(method) & {"property", "cached_property"}]
        return []

    def _called(self, source: Source, node: cst.Call) -> list[cst.FunctionDef | cst.ClassDef]:
        """The functions or classes of the project that a call may run; none where it is another's."""
        if isinstance(node.func, cst.Attribute) and isinstance(node.func.value, cst.Call):
            if dotted(node.func.value.func) == "super":
                return [method for _, method in self.methods.get(node.func.attr.value, ())]
        kind = self.project.kind(source, node.func) if isinstance(node.func, cst.Name | cst.Attribute) else None
        if isinstance(kind, Definition) and isinstance(kind.node, cst.ClassDef):
            return [kind.node]
        return self._functions_of(source, node.func) if isinstance(node.func, cst.Name | cst.Attribute) else []

    def _inits(self, owner: cst.ClassDef) -> list[cst.FunctionDef]:
        """The `__init__` that a class has, or gets from its bases in the project."""
        line = self.project.line(owner.name.value)
        return [method for name, method in self.methods.get("__init__", ()) if name in line]

    def _takers(self, called: list[cst.FunctionDef | cst.ClassDef]) -> list[cst.FunctionDef]:
        found: list[cst.FunctionDef] = []
        for node in called:
            found += self._inits(node) if isinstance(node, cst.ClassDef) else [node]
        return found

    @cached_property
    def fixed_names(self) -> set[str]:
        """Functions whose own names are read: by `__name__`, by a framework, by who offers them to a model."""
        return {node.name.value for node, is_read in self.escaped.items() if is_read}

    @cached_property
    def pinned(self) -> set[tuple[cst.FunctionDef, str]]:
        """Parameters that somebody outside, or a dict, names."""
        found: set[tuple[cst.FunctionDef, str]] = set()
        for source, node in self.project.all(cst.Call):
            takers = self._takers(called := self._called(source, node))
            for arg in node.args:
                if arg.keyword is not None and not called:
                    known = self.project.kind(source, node.func) is FOREIGN
                    takers = self.escaped if known else (one for _, one in self.project.all(cst.FunctionDef))
                    found |= {(one, arg.keyword.value) for one in takers if arg.keyword.value in names_of(one)}
                if arg.star == "**" and not self._is_forwarded(source, arg):
                    found |= {(one, word) for one in (takers if called else self.escaped) for word in names_of(one)}
        found |= {(one, word) for one in self.escaped if one.name.value in self.fixed_names for word in names_of(one)}
        kept = [method for name in self.kept for _, method in self.methods.get(name, ())]
        return found | {(method, word) for method in kept for word in names_of(method)}

    def _is_forwarded(self, source: Source, arg: cst.Arg) -> bool:
        """`**options` where `options` is the function's own `**options`."""
        if not isinstance(arg.value, cst.Name):
            return False
        function = source.binder(arg.value)
        star = function.params.star_kwarg if isinstance(function, cst.FunctionDef) else None
        return star is not None and star.name.value == arg.value.value

    @cached_property
    def every_param(self) -> set[str]:
        return {word for _, function in self.project.all(cst.FunctionDef) for word in names_of(function)}

    @cached_property
    def passed_on(self) -> set[str]:
        """Words given as `f(x=1)` to somebody's `**options`: parameters of whoever gets them, or keys of a dict."""
        found = set()
        for source, node in self.project.all(cst.Call):
            called = self._called(source, node)
            takers = self._takers(called)
            for arg in node.args:
                word = arg.keyword.value if arg.keyword else ""
                if takers and word and not any(word in names_of(one) for one in takers):
                    found.add(word)
        return found

    @cached_property
    def stay_passed_on(self) -> set[str]:
        pinned = {word for _, word in self.pinned}
        return {
            word for word in self.passed_on if word in pinned or word in self.strings or word not in self.every_param
        }

    def is_pinned(self, function: Function, word: str) -> bool:
        if word in self.stay_passed_on or isinstance(function, cst.Lambda):
            return word in self.stay_passed_on or word in self.foreign_keywords
        return (function, word) in self.pinned

    @cached_property
    def foreign_keywords(self) -> set[str]:
        """Keywords of calls to others: a lambda may be who takes them."""
        calls = ((source, node) for source, node in self.project.all(cst.Call) if not self._called(source, node))
        return {arg.keyword.value for _, node in calls for arg in node.args if arg.keyword is not None}

    # places

    def _collect(self, source: Source) -> None:
        for node in source.nodes:
            match node:
                case cst.Name():
                    self._name(source, node)
                case cst.Attribute():
                    word = node.attr.value
                    if word in self.kept or not self.may_rename(word):
                        continue
                    if self.is_own(source, node) and word not in self.fixed_names:
                        self._put(source, node.attr)
                case cst.Call():
                    self._keywords(source, node)
                case cst.MatchClass():
                    if isinstance(self.project.made_by(self.project.kind(source, node.cls)), Own):
                        for element in node.kwds:
                            if element.key.value not in self.kept:
                                self._put(source, element.key)
                case cst.Annotation():
                    for below in walk(node):
                        if (text := text_of(below)) is not None:
                            self._quoted(source, below, text)

    def _put(self, source: Source, name: cst.Name) -> None:
        if self.may_rename(name.value):
            self.places[source][name] = self.new(name.value)

    def _name(self, source: Source, node: cst.Name) -> None:
        word, above = node.value, source.parent[node]
        if isinstance(above, cst.Attribute) and above.attr is node:
            return
        if isinstance(above, cst.Arg) and above.keyword is node:
            return
        if (isinstance(above, cst.MatchKeywordElement) and above.key is node) or not self.may_rename(word):
            return
        if isinstance(above, cst.ImportAlias) or (isinstance(above, cst.Attribute) and self._in_import(source, above)):
            self._import(source, node)
            return
        if isinstance(above, cst.ImportFrom):
            return
        scope = source.binder(node)
        if isinstance(above, cst.NameItem):
            scope = source.module if word in source.bound(source.module) else scope
        bindings = source.bound(scope).get(word)
        if bindings is None and not isinstance(above, cst.NameItem):
            return
        if isinstance(scope, cst.ClassDef):
            if word not in self.kept and word not in self.fixed_names:
                self._put(source, node)
        elif isinstance(scope, cst.FunctionDef | cst.Lambda):
            is_param = any(isinstance(one.how, cst.Param) for one in bindings or ())
            is_function = any(isinstance(one.how, cst.FunctionDef) for one in bindings or ())
            if any(isinstance(one.how, cst.ImportAlias) for one in bindings or ()):
                return
            if (is_param and self.is_pinned(scope, word)) or (is_function and word in self.fixed_names):
                return
            self._put(source, node)
        elif not any(isinstance(one.how, cst.ImportAlias) for one in bindings or ()):
            if word not in self.fixed_names and word not in self.globals_kept:
                self._put(source, node)
        elif self._names_own(source, word):
            self._put(source, node)

    def _in_import(self, source: Source, node: Node) -> bool:
        return any(isinstance(up, cst.ImportAlias | cst.ImportFrom) for up in source.up(node))

    def _import(self, source: Source, node: cst.Name) -> None:
        """`from module import name`, of a module of the project."""
        holder = next(up for up in source.up(node) if isinstance(up, cst.Import | cst.ImportFrom))
        if isinstance(holder, cst.ImportFrom) and isinstance(source.parent[node], cst.ImportAlias):
            found = self.project.module(source, holder)
            if found is not None and node.value in found.bound(found.module) and self._names_own(found, node.value):
                self._put(source, node)

    def _names_own(self, source: Source, word: str, seen: int = 0) -> bool:
        """Whether a name at the top of a file is the project's, and will be renamed."""
        if word in self.fixed_names or word in self.globals_kept or seen > 5:
            return False
        for binding in source.bound(source.module).get(word, ()):
            if not isinstance(binding.how, cst.ImportAlias):
                return self.may_rename(word)
            holder = next(up for up in source.up(binding.how) if isinstance(up, cst.Import | cst.ImportFrom))
            found = self.project.module(source, holder) if isinstance(holder, cst.ImportFrom) else None
            if found is None or binding.how.asname is not None:
                return False
            return self._names_own(found, dotted(binding.how.name), seen + 1)
        return False

    @cached_property
    def globals_kept(self) -> set[str]:
        """Names at the top of files that are imported from outside somewhere else, or that a text lists."""
        found = set()
        for source in self.project.sources.values():
            for binding in source.bound(source.module).get("__all__", ()):
                found |= {text for below in walk(source.parent[binding.how]) if (text := text_of(below))}
        return found

    def _keywords(self, source: Source, node: cst.Call) -> None:
        named = [arg for arg in node.args if arg.keyword is not None]
        if not named:
            return
        called = self._called(source, node)
        is_replace = last_word(node.func) == "replace" and node.args and not node.args[0].keyword
        if not called and is_replace and isinstance(self.project.kind(source, node.args[0].value), Own):
            self._rename_fields(source, named)
        takers = self._takers(called)
        for arg in named if called else ():
            word = arg.keyword.value
            own = [function for function in takers if word in names_of(function)]
            if not takers:
                self._rename_fields(source, [arg])
            elif not any(self.is_pinned(one, word) for one in own) if own else word not in self.stay_passed_on:
                self._put(source, arg.keyword)

    def _rename_fields(self, source: Source, named: list[cst.Arg]) -> None:
        for arg in named:
            if arg.keyword.value not in self.kept and arg.keyword.value in self.project.members:
                self._put(source, arg.keyword)

    def _quoted(self, source: Source, node: cst.SimpleString, text: str) -> None:
        """A quoted annotation."""
        changed = re.sub(r"[A-Za-z_]\w*", lambda match: self._quoted_word(source, match[0]), text)
        if changed != text:
            self.places[source][node] = node.value.replace(text, changed)

    def _quoted_word(self, source: Source, word: str) -> str:
        return self.new(word) if self.may_rename(word) and self._names_own(source, word) else word


def names_of(function: Function) -> set[str]:
    return {param.name.value for param in params_of(function)}


PLAIN_MARKS = {
    *("staticmethod", "classmethod", "property", "cached_property", "override", "abstractmethod", "setter", "overload"),
    *("contextmanager", "asynccontextmanager", "dataclass", "cache", "lru_cache", "wraps"),
}


def members_of(base: str) -> set[str] | None:
    """The attributes of a class of Python's own library, also those that its objects make; None for any other."""
    if base in (
        "Protocol",
        "typing.Protocol",
        "Generic",
        "typing.Generic",
        "abc.ABC",
        "ABC",
        "typing.NamedTuple",
        "object",
    ):
        return {"__init__"}
    module, _, name = base.rpartition(".")
    if module and module.split(".")[0] not in sys.stdlib_module_names:
        return None
    try:
        kind = getattr(importlib.import_module(module or "builtins"), name)
    except (ImportError, AttributeError):
        return None
    return set(dir(kind)) | {"args", "name", "daemon", "msg", "code", "_target", "_args", "_kwargs", "_name"}


class _Rename(cst.CSTTransformer):
    def __init__(self, places: dict[Node, str]) -> None:
        super().__init__()
        self._places = places

    def on_leave(self, original: Node, updated: Node) -> Node:
        return updated.with_changes(value=self._places[original]) if original in self._places else updated
