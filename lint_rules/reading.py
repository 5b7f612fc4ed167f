"""From the tree of ONE file to its anatomy, which knows the files that it imports, and those that import it."""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import partial
from importlib.util import decode_source
from typing import TypeVar

import libcst

from lint_rules.anatomy.agent import Anatomy, Looks, Neighbour
from lint_rules.anatomy.calls.tools import told_of
from lint_rules.anatomy.cuts.handed import Handed, arriving, bases_elsewhere, handed
from lint_rules.anatomy.dialect import may_tell
from lint_rules.anatomy.program.concurrency import Caller, Passing
from lint_rules.anatomy.turns.callers import callers, passings
from lint_rules.form import bring_in_form
from lint_rules.gate import mentions
from lint_rules.gate.needs import runs_beside
from lint_rules.gate.signs import Signs
from lint_rules.gate.surroundings import seen
from lint_rules.limits import too_many
from lint_rules.options import Neighbours, Options
from lint_rules.program.modules import Program, indexed
from lint_rules.program.values import Values
from lint_rules.project import MOST_HOPS, Project, direct_importers, importers_of, is_imported, is_project
from lint_rules.syntax.bare import Unlike, bare_tree
from lint_rules.syntax.depth import SHALLOW
from lint_rules.syntax.module import SourceModule
from lint_rules.syntax.parse import Tree, parse, unreadable
from lint_rules.syntax.python import Unreadable
from lint_rules.syntax.reexports import imports
from lint_rules.syntax.walk import levels_below

Reader = Callable[[bytes, str, Tree], SourceModule]
"""Makes the index of a file from its bytes, path and tree."""
Told = TypeVar("Told")
_Around = dict[tuple[str, int], "Anatomy | None"]
"""The files around one, by path and by how many imports away from them others are looked at."""


_STOPS = re.compile(rb"KeyboardInterrupt|CancelledError|wait_for|\.cancel\(")
"""Who stops turns says so in one of these words; of other files that mention no agent, none is looked at."""

NEAR = 2
"""How many imports away from a file others are analysed for it, on demand."""

# -- the index of a file ------------------------------------------------------------------------------------------


def read(source: bytes, path: str, tree: Tree) -> SourceModule:
    """As libcst parses it, if that has not been done. Raises Unreadable."""
    try:
        return SourceModule(source, path, None if isinstance(tree, ast.Module) else tree)
    except libcst.ParserSyntaxError as problem:
        message = str(problem.message).strip().splitlines()[0]
        raise Unreadable(f"syntax error: {message}", problem.raw_line, problem.raw_column + 1) from None
    except (SyntaxError, ValueError, LookupError) as problem:
        raise unreadable(source, problem) from None


def read_bare(source: bytes, path: str, tree: Tree, *, altered: bool = False) -> SourceModule:
    """Without formatting and positions, at a sixth of the cost, where that can be. Raises Unreadable.

    `altered`: the tree is another form of what the file says.
    """
    if isinstance(tree, ast.Module):
        text = decode_source(source)
        with suppress(Unlike):
            return SourceModule(text, path, bare_tree(text, tree), tree, altered=altered)
    return read(source, path, tree)


def levels(tree: Tree) -> int:
    """How deep the tree of a file is, at most."""
    return Signs(tree).levels if isinstance(tree, ast.Module) else levels_below(tree)


# -- its anatomy --------------------------------------------------------------------------------------------------


def anatomy_of(
    module: SourceModule,
    options: Options,
    neighbours: Neighbours | None,
    read: Reader,
    hops: int = NEAR,
    around: _Around | None = None,
) -> Anatomy:
    """The anatomy of a file, which knows those that lie nearby, `hops` imports away: they are read as it was.

    `around` are those that are known already: what several of them import is analysed once.
    """
    known: _Around = {} if around is None else around

    def neighbour(name: str) -> Neighbour | None:
        found = imported(module.path, name)
        if found is None:
            return None
        source = found[1]
        looks = Looks(
            lambda: mentions.agent(source, options.vocabulary), lambda: may_ask(*found), lambda: runs_beside(source)
        )
        return Neighbour(*found, looks, lambda: analysed(*found) if hops else None)

    def analysed(path: str, source: bytes) -> Anatomy | None:
        if (path, hops) not in known:
            known[path, hops] = _nearby(path, source, options, imported, read, hops - 1, known)
        return known[path, hops]

    def imported(path: str, name: str) -> tuple[str, bytes] | None:
        return neighbours(path, name) if neighbours is not None else None

    def may_ask(path: str, source: bytes) -> bool:
        if seen(source).asks or mentions.user_words(source, options.vocabulary):
            return True
        inner = (imported(path, name) for name in imports(source)) if hops > 1 else ()
        return any(found is not None and seen(found[1]).asks for found in inner)

    def called() -> list[Caller]:
        if not is_project(neighbours):
            return []
        runs = partial(_importing, options=options, project=neighbours, read=read)
        return callers(anatomy, runs, MOST_HOPS)

    def given() -> list[Handed]:
        if not is_project(neighbours):
            return []
        above = bases_elsewhere(anatomy)
        places = [module.path, *dict.fromkeys(path for path, _ in above)]
        near = dict(each for path in places for each in direct_importers(path, neighbours))
        telling = (
            each for each in near.items() if mentions.agent(each[1], options.vocabulary) or _STOPS.search(each[1])
        )
        told = _summaries("handed", telling, options, neighbours, read, handed, 1)
        return [own for said in told for each in said for own in arriving(each, anatomy, above)]

    def tools() -> set[str]:
        return _read_by_models(module, options, neighbours)

    def serves() -> bool:
        known = is_project(neighbours) and direct_importers(module.path, neighbours)
        return not known or is_imported(module.path, neighbours)

    def names(key: str) -> bool:
        return not is_project(neighbours) or _is_named_around(module.path, key, neighbours)

    anatomy = Anatomy(module, options.vocabulary, neighbour, called, given, tools, serves, names)
    return anatomy


def _nearby(
    path: str,
    source: bytes,
    options: Options,
    neighbours: Neighbours | None,
    read: Reader,
    hops: int = NEAR,
    around: _Around | None = None,
) -> Anatomy | None:
    try:
        tree = parse(source)
        if levels(tree) > SHALLOW or _is_large(tree, options):
            return None
        if read is not read_bare or not isinstance(tree, ast.Module):
            return anatomy_of(read(source, path, tree), options, neighbours, read, hops, around)
        altered = bring_in_form(tree, source, path, neighbours)
        return anatomy_of(read_bare(source, path, tree, altered=altered), options, neighbours, read, hops, around)
    except Exception:  # a broken neighbour is a finding of its own file, here it only means less knowledge
        return None


def _is_large(tree: Tree, options: Options) -> bool:
    return isinstance(tree, ast.Module) and too_many(options.limits, Signs(tree).size) is not None


# -- who runs it --------------------------------------------------------------------------------------------------


def _importing(paths: Iterable[str], options: Options, project: Project, read: Reader) -> Iterator[list[Passing]]:
    """The calls by which files that import one of some, directly or through others, run functions of others."""
    importing = dict(found for path in paths for found in importers_of(path, project))
    return _summaries("passings", importing.items(), options, project, read, passings)


def _summaries(
    name: str,
    importing: Iterable[tuple[str, bytes]],
    options: Options,
    project: Project,
    read: Reader,
    summary: Callable[[Anatomy], Iterable[Told]],
    hops: int = NEAR,
) -> Iterator[list[Told]]:
    """What a `summary` says of each of some files, which are seen with the files up to `hops` imports away."""

    def said(importer: str, source: bytes, near: Neighbours) -> list[Told]:
        anatomy = _nearby(importer, source, options, near, read, hops)
        found = list(summary(anatomy)) if anatomy is not None else []
        if anatomy is not None:
            anatomy.close()
        return found

    return (_summary(project, name, said, *file) for file in importing)


def _read_by_models(module: SourceModule, options: Options, neighbours: Neighbours | None) -> set[str]:
    """The functions of a file of which a model reads the result, by what that file tells, and those that import it."""

    def told(path: str, source: bytes, near: Neighbours | None) -> list[tuple[str, str]]:
        own = indexed(path, source)
        return told_of(own, Values(Program(near, own, source))) if own is not None else []

    found = told(module.path, module.text.encode(), neighbours)
    if is_project(neighbours):
        for file in importers_of(module.path, neighbours, lambda source: mentions.agent(source, options.vocabulary)):
            found += _summary(neighbours, "told", told, *file)
    here = os.path.abspath(module.path)
    return {function for path, function in found if path == here}


def _is_named_around(path: str, key: str, project: Project) -> bool:
    """Whether a text stands in a file that imports one, or in what that imports; or nobody is known who imports it."""
    written = tuple(f"{quote}{key}{quote}".encode() for quote in "\"'")
    importing = importers_of(path, project, lambda source: True)
    beside = (project(there, name) for there, source in importing for name in imports(source))
    sources = {os.path.abspath(found[0]): found[1] for found in (*importing, *beside) if found is not None}
    sources.pop(os.path.abspath(path), None)
    return not sources or any(text in source for source in sources.values() for text in written)


def _summary(
    project: Project, what: str, work: Callable[[str, bytes, Neighbours], Told], path: str, source: bytes
) -> Told:
    """What is worked out of a single file, once in a run; whoever asks for it has asked for all that it rests on."""
    key = what, path, source
    if key not in project.summaries:
        noting = _Noting(project)
        project.summaries[key] = work(path, source, noting), noting.asked, noting.sharing
    found: Told
    found, asked, sharing = project.summaries[key]
    for asking, module in asked:
        project(asking, module)
    for shared in sharing:
        project.importers(shared)
    return found


class _Noting:
    """Neighbours that note what is asked of them: whoever uses what came of that has asked it, too.

    They tell who imports a file only to find out what its classes are.
    """

    def __init__(self, project: Project) -> None:
        self._neighbours = project
        self.asked: dict[tuple[str, str], None] = {}
        self.sharing: dict[str, None] = {}

    def importing(self, path: str) -> list[tuple[str, bytes]]:
        self.sharing[path] = None
        return direct_importers(path, self._neighbours, may_tell)

    def __call__(self, path: str, module: str) -> tuple[str, bytes] | None:
        self.asked[path, module] = None
        return self._neighbours(path, module)
