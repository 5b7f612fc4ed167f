"""From the tree of ONE file to its anatomy, which knows the files that it imports, and those that import it."""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import cache, partial
from importlib.util import decode_source
from typing import TypeVar

import libcst

from lint_rules.anatomy.agent import Anatomy, Looks, Neighbour
from lint_rules.anatomy.calls.tools import ToldTool, told_of
from lint_rules.anatomy.cuts.handed import (
    Arrived,
    Bases,
    Handed,
    Placed,
    arriving,
    bases_elsewhere,
    handed,
    passed_on,
    placed,
    valued,
)
from lint_rules.anatomy.messages.message_texts import Said
from lint_rules.anatomy.messages.message_texts import said as said_by
from lint_rules.anatomy.program.concurrency import Caller, Passing
from lint_rules.anatomy.turns.callers import callers, passings
from lint_rules.form import bring_in_form, sources_deriving, sources_near, sources_sharing
from lint_rules.gate import mentions
from lint_rules.gate.needs import runs_beside
from lint_rules.gate.signs import Signs
from lint_rules.gate.speaking import Gate
from lint_rules.gate.surroundings import seen
from lint_rules.limits import too_many
from lint_rules.noting import Known, Noting, NotingProject, Project, noting
from lint_rules.options import Neighbours, Options
from lint_rules.program.modules import Program, indexed
from lint_rules.program.values import Values
from lint_rules.project import MOST_HOPS, deriving, deriving_from_any, direct_importers, importers_of, is_imported
from lint_rules.syntax.bare import Unlike, bare_tree
from lint_rules.syntax.depth import SHALLOW
from lint_rules.syntax.module import SourceModule
from lint_rules.syntax.parse import Tree, parse, unreadable
from lint_rules.syntax.python import Unreadable
from lint_rules.syntax.reexports import imports, standing_for
from lint_rules.syntax.walk import levels_below

Reader = Callable[[bytes, str, Tree], SourceModule]
"""Makes the index of a file from its bytes, path and tree."""
Told = TypeVar("Told")

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


@contextmanager
def analysed(module: SourceModule, options: Options, neighbours: Neighbours | None, read: Reader) -> Iterator[Anatomy]:
    """The anatomy of a file, until all is asked of it; what was found of others then serves the next file of a run."""
    near = noting(neighbours) if neighbours is not None else None
    anatomy = anatomy_of(module, options, near, read)
    room = 0
    try:
        yield anatomy
        room = near.known.room if isinstance(near, NotingProject) else 0
    finally:
        anatomy.close()
        module.close()
        if near is not None:
            _let_go(near.known, room)


def _let_go(known: Known, room: int, user: Noting | None = None) -> None:
    """If more is kept than there is room for, lets go of what was not used for longest, and nobody that is kept uses.

    Half of the room is left then: what is kept has to be counted again each time.
    """
    held = {key[:2]: len(key[1]) for key in known.analysed}
    if sum(held.values()) <= room:
        return
    used = user.used if user is not None else {}
    left = room // 2
    for key, (_, noted) in reversed(known.analysed.items()):
        left -= held.pop(key[:2], 0)  # each file once, in whatever form
        if left >= 0:
            used.update({noted: None, **noted.used})
    for key, (found, noted) in [*known.analysed.items()]:
        if noted not in used:
            del known.analysed[key]
            if found is not None:
                found.close()


def anatomy_of(module: SourceModule, options: Options, neighbours: Neighbours | None, read: Reader) -> Anatomy:
    """The anatomy of a file, which knows those that lie nearby, some imports away: they are read as it was."""
    near = noting(neighbours) if neighbours is not None else None
    return _anatomy(module, options, near, read, NEAR, near if isinstance(near, NotingProject) else None)


def _anatomy(
    module: SourceModule,
    options: Options,
    near: Noting | None,
    read: Reader,
    hops: int,
    project: NotingProject | None = None,
) -> Anatomy:
    """See above. Without `project` nothing is asked of those that import the file: it is the same for all of them."""

    def neighbour(importer: str, name: str) -> Neighbour | None:
        found = imported(importer, name)
        if found is None:
            return None
        return at(name, *found, hops)

    def at(name: str, path: str, source: bytes, away: int) -> Neighbour:
        looks = Looks(lambda: may_ask(path, source), lambda: runs_beside(source))
        return Neighbour(name, path, source, looks, lambda: analysed_there(path, source, away))

    def analysed_there(path: str, source: bytes, away: int) -> Anatomy | None:
        return _nearby(path, source, options, near, read, away - 1) if near is not None and away else None

    def imported(path: str, name: str) -> tuple[str, bytes] | None:
        return near(path, name) if near is not None else None

    def may_ask(path: str, source: bytes) -> bool:
        if seen(source).asks or mentions.user_words(source, options.vocabulary):
            return True
        inner = (imported(path, name) for name in imports(source)) if hops > 1 else ()
        if any(found is not None and seen(found[1]).asks for found in inner):
            return True
        others = deriving_from_any(path, source, near) if isinstance(near, NotingProject) else ()
        return any(seen(other).asks for other in others)

    def derived(cls: str, methods: frozenset[str]) -> list[tuple[Neighbour, str]]:
        found = deriving(module.path, cls, near, methods) if isinstance(near, NotingProject) else ()
        named = ((path, text, name) for path, text in found for name in standing_for(text, cls, methods))
        return [(at(path, path, text, max(hops, 1)), name) for path, text, name in named]

    def called() -> list[Caller]:
        if project is None:
            return []
        runs = partial(_importing, options=options, project=project, read=read)
        return callers(anatomy, runs, MOST_HOPS)

    def arrived(
        name: str,
        summary: Callable[[Anatomy], Iterable[Arrived]],
        tells: Callable[[bytes], bool] = lambda source: True,
        along: Callable[[Iterable[Arrived]], Iterable[Arrived]] = iter,
    ) -> list[Arrived]:
        if project is None:
            return []
        above: Bases = bases_elsewhere(anatomy)
        places = [module.path, *dict.fromkeys(path for path, _ in above)]
        importing = dict(each for path in places for each in direct_importers(path, project, tells))
        for path in places:  # who has an object by way of another one's does not import its file
            importing.update(importers_of(path, project, speaks))
        told = _summaries(name, importing.items(), options, project, read, summary)
        all_told = along(each for said in told for each in said)
        return [own for each in all_told for own in arriving(each, anatomy, above)]

    def given() -> list[Handed]:
        return arrived("handed", handed, along=passed_on)

    def values() -> list[Handed]:
        return arrived("valued", valued, along=passed_on)

    def tools() -> dict[str, frozenset[str] | None]:
        return _read_by_models(module, options, near, project)

    def serves() -> bool:
        known = project is not None and direct_importers(module.path, project)
        return not known or is_imported(module.path, project)

    @cache
    def around() -> Collection[bytes]:
        return _sources_around(module.path, project) if project is not None else ()

    def said(text: str) -> bool:
        written = re.compile(rb"(?<!\w)%b(?!\w)" % re.escape(text.encode()))
        return not around() or any(map(written.search, around()))

    def speaks(text: bytes) -> bool:
        return mentions.agent(text, options.vocabulary)

    def in_messages() -> list[Said]:
        return arrived("said", said_by, speaks)

    def in_common(name: str) -> list[Placed]:
        if project is None:
            return []
        known = importers_of(module.path, project, lambda source: name.encode() in source)
        told = _summaries("placed", known, options, project, read, placed)
        return [each for said in told for each in said if each.name == name]

    def tells(path: str) -> bool:
        known = importers_of(path, project) if project is not None else ()
        return any(importer == module.path for importer, _ in known)

    known = options.vocabulary, neighbour, called, given, values, tools, serves, said, in_messages, tells, in_common
    anatomy = Anatomy(module, *known, derived)
    return anatomy


def _nearby(path: str, source: bytes, options: Options, near: Noting, read: Reader, hops: int) -> Anatomy | None:
    """The anatomy of a file as others see it: the same for all of them."""

    def work(near: Noting) -> Anatomy | None:
        module = _module(path, source, options, near, read)
        return _anatomy(module, options, near, read, hops) if module is not None else None

    return near.once(near.known.analysed, (path, source, hops, options.vocabulary, options.limits, read), work)


def _module(path: str, source: bytes, options: Options, near: Noting, read: Reader) -> SourceModule | None:
    """The index of a file as others see it, with what those say that use its classes; None for what cannot be
    analysed."""

    def work(near: Noting) -> SourceModule | None:
        try:
            tree = parse(source)
            if not isinstance(tree, ast.Module):
                return read(source, path, tree) if levels(tree) <= SHALLOW else None
            deriving, sharing = sources_deriving(path, near), sources_sharing(path, near)
            gate = Gate(tree, sources_near(path, near), deriving=deriving, sharing=sharing)
            if gate.levels > SHALLOW or too_many(options.limits, gate.size) is not None:
                return None
            if read is not read_bare:
                return read(source, path, tree)
            project = near if isinstance(near, NotingProject) else None
            altered = bring_in_form(tree, gate, source, path, near, project)
            return read_bare(source, path, tree, altered=altered)
        except Exception:  # a broken neighbour is a finding of its own file, here it only means less knowledge
            return None

    return near.once(near.known.analysed, (path, source, options.limits, read), work)


# -- who runs it --------------------------------------------------------------------------------------------------


def _importing(paths: Iterable[str], options: Options, project: NotingProject, read: Reader) -> Iterator[list[Passing]]:
    """The calls by which files that import one of some, directly or through others, run functions of others."""
    importing = dict(found for path in paths for found in importers_of(path, project))
    return _summaries("passings", importing.items(), options, project, read, passings)


def _summaries(
    name: str,
    importing: Iterable[tuple[str, bytes]],
    options: Options,
    project: NotingProject,
    read: Reader,
    summary: Callable[[Anatomy], Iterable[Told]],
) -> Iterator[list[Told]]:
    """What a `summary` says of each of some files, each seen with those that lie near it."""

    def said(path: str, source: bytes) -> list[Told]:
        def work(near: Noting) -> list[Told]:
            anatomy = _nearby(path, source, options, near, read, NEAR)
            return list(summary(anatomy)) if anatomy is not None else []

        is_new = (name, path, source) not in project.known.summaries
        found = project.once(project.known.summaries, (name, path, source), work)
        if is_new:
            _let_go(project.known, project.known.room, project)
        return found

    return (said(*file) for file in importing)


def _read_by_models(
    module: SourceModule, options: Options, near: Noting | None, project: NotingProject | None
) -> dict[str, frozenset[str] | None]:
    """The functions of a file of which a model reads the result, by what that file tells, and those that import it;
    with the parameters that get what a model has written, None for all."""

    def told(path: str, source: bytes, near: Noting | None) -> list[ToldTool]:
        own = indexed(path, source)
        return told_of(own, Values(Program(near, own, source))) if own is not None else []

    found = told(module.path, module.text.encode(), near)
    if project is not None:
        for path, source in importers_of(module.path, project, lambda text: mentions.agent(text, options.vocabulary)):
            found += project.once(project.known.summaries, ("told", path, source), partial(told, path, source))
    here = os.path.abspath(module.path)
    tools: dict[str, frozenset[str] | None] = {}
    for path, function, names in found:
        if path == here:
            before = tools.get(function, frozenset())
            tools[function] = before | names if before is not None and names is not None else None
    return tools


def _sources_around(path: str, project: Project) -> Collection[bytes]:
    """The files that import one, and those that these import."""
    importing = importers_of(path, project, lambda source: True)
    beside = (project(there, name) for there, source in importing for name in imports(source))
    sources = {os.path.abspath(found[0]): found[1] for found in (*importing, *beside) if found is not None}
    sources.pop(os.path.abspath(path), None)
    return sources.values()
