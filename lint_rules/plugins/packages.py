"""The installed packages that bring rules, told by their entry points `looplint.rules`.

Most environments have none, and to ask `importlib.metadata` takes longer than to check a small file: so the files in
which installers note entry points are searched for the word first. The current folder is left out, where `python -m`
would look too: what is analysed is never run.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from lint_rules.errors import describe

if TYPE_CHECKING:
    from importlib.metadata import Distribution, EntryPoint

GROUP = "looplint.rules"
_MOST_BYTES = 100_000


class PluginError(ValueError):
    """The rules of an installed package cannot be had; the message is one line that names the package."""


class Offer(NamedTuple):
    """What one entry point of a package holds: `said` is to be rules, whose codes begin with `prefix`."""

    package: str
    """With its version: `looplint-acme 1.2`."""
    prefix: str
    place: str
    """Where the package says it is: `looplint_acme:RULES`."""
    said: object


def offers() -> list[Offer]:
    """What all packages bring, by package. Imports it. Raises PluginError."""
    folders = [entry for entry in dict.fromkeys(sys.path) if entry and os.path.abspath(entry) != os.getcwd()]
    if not any(map(_may_say_so, folders)):
        return []
    from importlib.metadata import distributions

    found: dict[str, Distribution] = {}
    for distribution in distributions(path=folders):  # of two of one name, Python imports the first
        found.setdefault(distribution.metadata["Name"], distribution)
    return [offer for name in sorted(found) for offer in _offers(name, found[name])]


def _may_say_so(folder: str) -> bool:
    """Whether a package in a folder of `sys.path` may have such entry points."""
    try:
        names = os.listdir(folder)
    except NotADirectoryError:
        return True  # an archive
    except OSError:
        return False
    return any(
        _mentions(os.path.join(folder, name, "entry_points.txt"))
        for name in names
        if name.endswith((".dist-info", ".egg-info", "EGG-INFO"))
    )


def _mentions(path: str) -> bool:
    try:
        file = os.open(path, os.O_RDONLY)  # half the time of `open`, and most packages have no such file
    except OSError:
        return False
    try:
        return GROUP.encode() in os.read(file, _MOST_BYTES)
    finally:
        os.close(file)


def _offers(name: str, distribution: Distribution) -> Iterator[Offer]:
    package = f"{name} {distribution.version}"
    for point in distribution.entry_points:
        if point.group == GROUP:
            yield Offer(package, point.name, point.value, _loaded(package, point))


def _loaded(package: str, point: EntryPoint) -> object:
    try:
        return point.load()
    except (Exception, SystemExit) as error:
        raise PluginError(
            f"the rules of {package} cannot be imported ({describe(error)}): update the package, or uninstall it"
        ) from error
