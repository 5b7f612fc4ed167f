"""Names that a module passes on: `from .clerk import Clerk` in the `__init__` of a package."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Callable, Iterator
from functools import lru_cache

Nearby = Callable[[str], "bytes | None"]
"""A module, as written in an import -> the source of its file, None if that is not of the project."""

_DEFINITION = re.compile(rb"^[ \t]*(?:async[ \t]+)?(class|def)[ \t]+(\w+)", re.MULTILINE)
_DERIVED = re.compile(rb"^[ \t]*class[ \t]+(\w+)[ \t]*\(([^)]*)\)", re.MULTILINE)
_NAME = re.compile(rb"(\w+)(?=[ \t\n]*(?:[,\[\]]|$))")
"""The last part of a base class, also with what it is filled with: `models.Model[Reply]`."""
_METHOD = re.compile(rb"^([ \t]*)(?:async[ \t]+)?(class|def)[ \t]+(\w+)", re.MULTILINE)
_SET = re.compile(rb"^(\w+)[ \t]*(?::[^=\n]+)?=(?!=)", re.MULTILINE)
_MOST_HOPS = 3
_MOST_BYTES = 200_000


@lru_cache(maxsize=4096)
def definitions(source: bytes) -> frozenset[tuple[str, str]]:
    """What a source defines: `("class", name)`, `("def", name)`, and `("", name)` for what is set at its top."""
    found = {(match[1].decode(), match[2].decode()) for match in _DEFINITION.finditer(source)}
    return frozenset(found | {("", match[1].decode()) for match in _SET.finditer(source)})


@lru_cache(maxsize=4096)
def _derived(source: bytes) -> dict[str, list[str]]:
    """The classes of a source by the names, without their modules, of what they derive from."""
    found: dict[str, list[str]] = {}
    for match in _DERIVED.finditer(source):
        for base in _NAME.findall(match[2]):
            found.setdefault(base.decode(), []).append(match[1].decode())
    return found


def derived_from(source: bytes, cls: str) -> list[str]:
    """The names of the classes in a source that derive from one of this name."""
    return _derived(source).get(cls, [])


@lru_cache(maxsize=4096)
def _methods(source: bytes) -> dict[str, set[str]]:
    """The classes of a source, and the names of the functions that stand in each, as their lines are indented."""
    found: dict[str, set[str]] = {}
    around: list[tuple[int, str | None]] = []
    for indent, keyword, name in _METHOD.findall(source):
        around = [(outer, cls) for outer, cls in around if outer < len(indent)]
        if keyword == b"class":
            found[name.decode()] = set()
        elif around and (cls := around[-1][1]) is not None:
            found[cls].add(name.decode())
        around.append((len(indent), name.decode() if keyword == b"class" else None))
    return found


def promised(source: bytes) -> dict[str, frozenset[str]]:
    """The protocols of a source, and the methods that each asks for."""
    return {cls: frozenset(_methods(source)[cls]) for cls in derived_from(source, "Protocol")}


def standing_for(source: bytes, cls: str, methods: frozenset[str]) -> list[str]:
    """The names of the classes in a source that derive from one of this name, or have all the `methods` it promises."""
    derived = derived_from(source, cls)
    return derived + [
        other for other, own in _methods(source).items() if methods and methods <= own and other not in derived
    ]


def class_names(source: bytes) -> list[str]:
    """The names of the classes that a source defines."""
    return [name for keyword, name in definitions(source) if keyword == "class"]


@lru_cache(maxsize=4096)
def _defined(source: bytes) -> frozenset[str]:
    return frozenset(name for _, name in definitions(source))


def home(nearby: Nearby, module: str, name: str, hops: int = _MOST_HOPS) -> tuple[str, str]:
    """The module that defines what another one passes on, as the importing file would write it, and its name there.

    The given module and name where it defines them itself, or where nothing is known.
    """
    source = nearby(module) if hops else None
    if source is None or name in _defined(source):
        return module, name
    for passed, there in _passed_on(source, name):
        for full in _seen_from_outside(module, passed):
            found = home(nearby, full, there, hops - 1)
            inner = nearby(found[0])
            if inner is not None and found[1] in _defined(inner):
                return found
    return module, name


def imports(source: bytes) -> list[str]:
    """The modules from which a source imports, as written there, without those of Python itself."""
    named, whole = _imports(source)
    below = (f"{origin}{'' if origin.endswith('.') else '.'}{name}" for origin, name in named.values())
    found = dict.fromkeys((*(origin for origin, _ in named.values()), *whole, *below))
    return [module for module in found if module.partition(".")[0] not in sys.stdlib_module_names]


def imported_by(module: str, source: bytes) -> Iterator[str]:
    """What the source of a module imports, as those would write it that import the module."""
    for passed in imports(source):
        yield from _seen_from_outside(module, passed)


def _passed_on(source: bytes, name: str) -> Iterator[tuple[str, str]]:
    """The modules, as written in a source, from which it may have a name, and the name there."""
    named, whole = _imports(source)
    if name in named:
        yield named[name]
    else:
        yield from ((module, name) for module in whole)


@lru_cache(maxsize=4096)
def _imports(source: bytes) -> tuple[dict[str, tuple[str, str]], tuple[str, ...]]:
    """What a source imports by name, and the modules of which it imports all. Nothing where it is no Python."""
    named: dict[str, tuple[str, str]] = {}
    whole: list[str] = []
    if b"import" not in source or len(source) > _MOST_BYTES:
        return named, ()
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return named, ()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            module = "." * node.level + (node.module or "")
            for alias in node.names:
                if alias.name == "*":
                    whole.append(module)
                else:
                    named[alias.asname or alias.name] = (module, alias.name)
    return named, tuple(whole)


def _seen_from_outside(module: str, passed: str) -> Iterator[str]:
    """How a module that another one names is named by those that import the other: as a package, or as a file."""
    rest = passed.lstrip(".")
    dots = len(passed) - len(rest)
    if not dots:
        yield rest
        return
    for base in (module, _parent(module)):
        for _ in range(dots - 1):
            base = _parent(base)
        if rest:
            yield rest if not base else f"{base}{rest}" if base.endswith(".") else f"{base}.{rest}"


def _parent(module: str) -> str:
    """`a.b` of `a.b.c`; `.` of `.a`; `..` of `.`."""
    if not module.strip("."):
        return f"{module}." if module else ""
    head, dot, _ = module.rpartition(".")
    return f"{head}." if dot and not head.strip(".") else head
