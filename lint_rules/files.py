"""Which files to check, their bytes, and the modules next to them. Knows nothing of settings or rules."""

from __future__ import annotations

import errno
import io
import os
import stat
import sys
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import NamedTuple, Protocol

from lint_rules.errors import reason
from lint_rules.ignores import Ignores, ignored, is_repository
from lint_rules.paths import absolute, is_notebook, shown, upwards

SUFFIXES = (".py", ".pyw", ".ipynb")
NEIGHBOUR_LIMIT = 1 << 20
"""Bytes. A module larger than that is data or generated code, and not worth the time."""
CLIMB_LIMIT = 8
"""How many folders above the importing file are searched for a module."""


class Trouble(NamedTuple):
    """A path that could not be looked at, and why. Not `fatal` when nothing was missed by it."""

    path: str
    message: str
    fatal: bool = True


class Policy(Protocol):
    """What the settings say of paths. All paths are absolute."""

    def excludes(self, path: str, is_dir: bool) -> bool:
        """Whether a path met on a walk is left out."""

    def forces(self, path: str) -> bool:
        """Whether exclusions hold for a path that was named, too."""

    def excludes_named(self, path: str, is_dir: bool) -> bool:
        """Whether a path that was named, or a folder above it, is left out. Asked only where `forces`."""


# -- discovery ----------------------------------------------------------------------------------------------------


def discover(names: Iterable[str], policy: Policy) -> Iterator[str | Trouble]:
    """The files that the named files and folders stand for, as absolute paths, each once, folders in sorted order.

    A named file is taken whatever its suffix, and whatever excludes it unless the policy forces exclusions.
    """
    seen: set[str] = set()
    for name in names:
        for found in _expand(name, policy):
            if isinstance(found, Trouble):
                yield found
            elif found not in seen:
                seen.add(found)
                yield found


def _expand(name: str, policy: Policy) -> Iterator[str | Trouble]:
    try:
        is_dir = stat.S_ISDIR(os.stat(name).st_mode)
        path = absolute(name)
    except (OSError, ValueError) as error:
        yield Trouble(name, reason(error))
        return
    if policy.forces(path) and (policy.excludes_named(path, is_dir) or ignored(path, is_dir)):
        return
    if is_dir:
        yield from _walk(path, policy)
    else:
        yield path


def _walk(folder: str, policy: Policy) -> Iterator[str | Trouble]:
    """The Python files below a folder. Links to folders are not followed, as in git and ruff.

    A stack instead of recursion: folders may be nested deeper than Python calls.
    """
    waiting: list[tuple[str, Ignores | None]] = [(folder, Ignores.above(folder))]
    while waiting:
        path, ignores = waiting.pop()
        if ignores is None:
            yield path
            continue
        inside: list[tuple[str, Ignores | None]] = []
        for found in _listed(path, ignores.within(path), policy):
            if isinstance(found, Trouble):
                yield found
            else:
                inside.append(found)
        waiting.extend(reversed(inside))


def _listed(folder: str, ignores: Ignores, policy: Policy) -> Iterator[tuple[str, Ignores | None] | Trouble]:
    """What a walk finds directly in a folder, sorted by name: files, and folders with what is ignored in them."""
    try:
        with os.scandir(folder) as listing:
            entries = sorted(listing, key=lambda entry: entry.name)
    except OSError as error:
        yield Trouble(shown(folder), reason(error))
        return
    for entry in entries:
        kind = _kind(entry)
        is_dir = kind != "file"
        if kind == "other" or policy.excludes(entry.path, is_dir) or ignores.ignore(entry.path, is_dir):
            continue
        if kind == "loop":
            yield Trouble(shown(entry.path), "a symbolic link that leads back to itself; not followed", fatal=False)
        else:
            yield entry.path, ignores if is_dir else None


def _kind(entry: os.DirEntry[str]) -> str:
    """`folder`, `file` (with a Python suffix), `loop` (a link to a folder it lies in), or `other`."""
    is_python = entry.name.lower().endswith(SUFFIXES)
    try:
        if entry.is_dir(follow_symlinks=False):
            return "folder"
        if entry.is_symlink() and entry.is_dir():
            return "loop" if _leads_back(entry.path) else "other"
        # A link that leads nowhere (an editor's lock, say) is no file.
        return "file" if is_python and entry.is_file() else "other"
    except OSError as error:
        if is_python:
            return "file"  # reading it will tell what is wrong
        return "loop" if error.errno == errno.ELOOP else "other"


def _leads_back(link: str) -> bool:
    """Whether a link to a folder leads to a folder that contains the link."""
    return os.path.realpath(link) in upwards(os.path.realpath(os.path.dirname(link)))


# -- bytes --------------------------------------------------------------------------------------------------------


def read(path: str, most: int = 0) -> bytes:
    """The bytes of a file; of a larger one than `most`, if that is not 0, one byte more than that. Raises OSError."""
    with open(path, "rb") as file:
        return file.read(most + 1 if most else -1)


def read_program(path: str, most: int = 0) -> bytes:
    """The bytes of a Python file, as `read` gives them; of a notebook, its program, however large the file around it.

    Raises OSError, and ValueError (one clear line) for what is no notebook.
    """
    return as_program(read(path, 0 if is_notebook(path) else most), path)


def as_program(source: bytes, path: str) -> bytes:
    """The Python in the bytes of a file. Raises ValueError (one clear line) for what is no notebook."""
    if not is_notebook(path):
        return source
    from lint_rules.notebook import program

    return program(source)


def decode(source: bytes) -> str:
    """The text of a Python file, by its BOM or coding line. Never raises: what cannot be decoded is replaced."""
    from tokenize import detect_encoding

    try:
        encoding, _ = detect_encoding(io.BytesIO(source).readline)
        return source.decode(encoding, errors="replace")
    except (SyntaxError, LookupError, ValueError):
        return source.decode("utf-8-sig", errors="replace")


# -- modules nearby -----------------------------------------------------------------------------------------------


def neighbours(path: str, module: str) -> tuple[str, bytes] | None:
    """The file of a module that the file at `path` imports, if it lies nearby: its path, as shown, and its bytes.

    `module` is as written: `turn`, `pkg.sub`, `..core.store`, `.x`. The standard library and installed packages
    are not looked for, nor are files over NEIGHBOUR_LIMIT. Never raises.
    """
    try:
        found = locate(path, module)
        if found is None:
            return None
        return shown(found), read_again(found)
    except (OSError, ValueError):
        return None


def locate(path: str, module: str) -> str | None:
    """The absolute path of another file that the one at `path` imports as `module`, where it lies nearby."""
    importer = os.path.abspath(path)
    found = _locate(os.path.dirname(importer), module)
    return found if found != importer else None


def forget_neighbours() -> None:
    """Look for modules anew: files may have come and gone."""
    _locate.cache_clear()
    _search_path.cache_clear()
    _holds.cache_clear()


def read_again(path: str) -> bytes:
    """The bytes of a file that is asked for again and again. Raises OSError."""
    status = os.stat(path)
    return _read_unchanged(path, status.st_mtime_ns, status.st_size)


@lru_cache(maxsize=4096)
def _read_unchanged(path: str, mtime_ns: int, size: int) -> bytes:
    """The bytes of a file; time and size are there to tell versions of it apart."""
    return read(path)


@lru_cache(maxsize=8192)
def _locate(folder: str, module: str) -> str | None:
    """The absolute path of a module imported in a folder, or None."""
    name = module.lstrip(".")
    dots = len(module) - len(name)
    parts = name.split(".") if name else []
    if not all(part.isidentifier() for part in parts) or not (dots or parts):
        return None
    if dots:
        above = list(upwards(folder))
        bases: tuple[str, ...] = (above[dots - 1],) if dots <= len(above) else ()
    else:
        bases = () if parts[0] in sys.stdlib_module_names else _search_path(folder)
        bases = tuple(base for base in bases if _holds(base, parts[0]))
    return next((found for base in bases for found in _candidates(base, parts) if _is_small_file(found)), None)


@lru_cache(maxsize=4096)
def _search_path(folder: str) -> tuple[str, ...]:
    """Where absolute imports are looked for: a folder and those above it up to the project's root, with their `src`."""
    found: list[str] = []
    for _, above in zip(range(CLIMB_LIMIT + 1), upwards(folder), strict=False):
        if os.path.basename(above) in ("site-packages", "dist-packages"):
            break
        found.append(above)
        if os.path.isdir(inside := os.path.join(above, "src")):
            found.append(inside)
        if is_repository(above) or os.path.exists(os.path.join(above, "pyproject.toml")):
            break
    return tuple(found)


@lru_cache(maxsize=8192)
def _holds(base: str, package: str) -> bool:
    """Whether a package may lie in a folder: asked once for all its modules, and for all folders below."""
    path = os.path.join(base, package)
    return os.path.exists(path) or os.path.exists(path + ".py")


def _candidates(base: str, parts: list[str]) -> Iterator[str]:
    if parts:
        yield os.path.join(base, *parts) + ".py"
    yield os.path.join(base, *parts, "__init__.py")


def _is_small_file(path: str) -> bool:
    """Whether a path is a regular file (not a pipe, which would block) within the limit."""
    try:
        status = os.stat(path)
    except OSError:
        return False
    return stat.S_ISREG(status.st_mode) and status.st_size <= NEIGHBOUR_LIMIT
