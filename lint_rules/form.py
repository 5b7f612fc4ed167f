"""The form in which ONE file is analysed: in the provider's words, and in normal form."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from typing import TYPE_CHECKING, NamedTuple

from lint_rules.gate import mentions
from lint_rules.noting import Project, is_project, noting
from lint_rules.options import Neighbours, Options

if TYPE_CHECKING:
    import ast

    from lint_rules.anatomy.dialect import Lowered
    from lint_rules.anatomy.dialect.votes import Votes
    from lint_rules.gate.speaking import Gate
    from lint_rules.syntax.parse import Tree

__all__ = ["Form", "bring_in_form", "formed", "sources_deriving", "sources_near", "sources_sharing"]


class Form(NamedTuple):
    """What was seen of a file: the rules that could find something in it, how deep it is nested, and its tree.

    `altered` is a tree that does not stand in the file so: it is in normal form, or in the provider's words.
    """

    speaking: frozenset[str] = frozenset()
    levels: int = 0
    tree: Tree | None = None
    altered: bool = False


def formed(
    source: bytes,
    path: str,
    options: Options,
    seen: Gate,
    tree: ast.Module,
    is_ours: bool,
    neighbours: Neighbours | None,
) -> Form:
    """A file in its form; nothing of one that no rule speaks about. `tree` is changed if `is_ours`."""
    import ast

    own = tree if is_ours else None
    has_parts = is_lowered = False
    if seen.has_own_words():
        own = own or ast.parse(source)
        is_lowered, has_parts = _lower(own, source, path, neighbours, neighbours if is_project(neighbours) else None)
        seen = seen.again(own) if is_lowered else seen
    knows_all = has_parts or mentions.user_words(source, options.vocabulary)
    speaking = options.codes if knows_all else seen.speaking(options.codes)
    if not speaking:
        return Form()
    from lint_rules.syntax.normal import normalize

    if not is_ours and not is_lowered:
        own = own or ast.parse(source)
        seen = seen.again(own)
    own = own or tree
    altered = normalize(own, seen.nodes, exported=_exported(path, neighbours))
    if altered:
        seen = seen.again(own)
        speaking |= seen.speaking(options.codes - speaking)
    return Form(speaking, seen.levels, own, altered or is_lowered)


def sources_near(path: str, neighbours: Neighbours | None) -> Callable[[str], bytes | None]:
    """What gives the source of a module that the file at `path` imports, None for one that is not of the project."""

    def source_of(module: str) -> bytes | None:
        found = neighbours(path, module) if neighbours is not None else None
        return found[1] if found is not None else None

    return source_of


def sources_deriving(path: str, neighbours: Neighbours | None) -> Callable[[str], list[bytes]]:
    """What gives the sources in which classes derive from those of a module that the file at `path` imports."""
    from lint_rules.project import deriving_from_any

    @cache  # the gate asks for each rule
    def sources(module: str) -> list[bytes]:
        found = neighbours(path, module) if neighbours is not None else None
        return deriving_from_any(*found, neighbours) if found is not None and is_project(neighbours) else []

    return sources


def sources_sharing(path: str, neighbours: Neighbours | None) -> Callable[[str], list[bytes]]:
    """What gives the sources of the other files that import a module which the file at `path` imports."""
    from lint_rules.project import direct_importers

    @cache
    def sources(module: str) -> list[bytes]:
        found = neighbours(path, module) if neighbours is not None else None
        others = direct_importers(found[0], neighbours) if found is not None and is_project(neighbours) else []
        return [source for near, source in others if near != path]

    return sources


def bring_in_form(
    tree: ast.Module, seen: Gate, source: bytes, path: str, neighbours: Neighbours, project: Project | None
) -> bool:
    """Brings the tree of a file in its form, in place, whatever rules say of it; whether it stands otherwise there.

    `project` tells who imports its classes, where that is to be asked.
    """
    from lint_rules.syntax.normal import normalize

    is_lowered = seen.has_own_words() and _lower(tree, source, path, neighbours, project).is_changed
    nodes = (seen.again(tree) if is_lowered else seen).nodes
    return normalize(tree, nodes, seen.defined_elsewhere(), _is_public) or is_lowered


def _is_public(name: str) -> bool:
    """Whether a function may be meant for other files: of a file that others see, not known by whom."""
    return not name.startswith("_")


def _exported(path: str, neighbours: Neighbours | None) -> Callable[[str], bool]:
    """What tells whether a file that imports the one at `path` names a function of it."""
    from lint_rules.project import direct_importers

    if not is_project(neighbours):
        return lambda name: False

    def named(name: str) -> bool:
        return any(name.encode() in source for _, source in direct_importers(path, neighbours))

    return named


def _lower(
    tree: ast.Module, source: bytes, path: str, neighbours: Neighbours | None, project: Project | None
) -> Lowered:
    from lint_rules.anatomy.dialect import lower, may_tell, votes_of
    from lint_rules.program.modules import forget_most
    from lint_rules.project import direct_importers

    near = noting(neighbours) if neighbours is not None else None

    def telling(place: str, source: bytes) -> Votes | None:
        if near is None:
            return None
        return near.once(near.known.summaries, ("votes", place, source), partial(votes_of, place, source))

    forget_most()
    importing = partial(direct_importers, project=project, tells=may_tell) if project is not None else None
    return lower(tree, source, path, neighbours, telling, importing)
