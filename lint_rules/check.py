"""ONE file from bytes to findings: gate, tree, anatomy, rules, suppress. Does no I/O.

libcst is imported only for files that pass the gate, and parses only those in which a bare tree shows something.
"""

from __future__ import annotations

import ast
import codecs
import io
import symtable
import warnings
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from importlib.util import decode_source
from typing import TYPE_CHECKING, NamedTuple, Union

from lint_rules.anatomy.vocabulary import Vocabulary
from lint_rules.finding import NOT_ANALYSED, Finding, Related, Report, Span
from lint_rules.gate import mentions
from lint_rules.rules.catalogue import BY_CODE, Rule
from lint_rules.syntax.depth import DEEPEST, SHALLOW, levels_of_text, with_room

if TYPE_CHECKING:
    import libcst

    from lint_rules.anatomy.agent import Anatomy
    from lint_rules.repairs.edits import Fix
    from lint_rules.rules.draft import Draft
    from lint_rules.syntax.module import SourceModule

__all__ = [
    "Neighbours",
    "Options",
    "Report",
    "Vocabulary",
    "check_source",
    "find_fixes",
    "load",
    "map_source",
    "passes_gate",
]

Neighbours = Callable[[str, str], "tuple[str, bytes] | None"]
"""(path of the importing file, module as written, e.g. `turn` or `..core.store`) -> (path, source), or None."""

_TOO_DEEP = "the code is nested too deeply to be analysed"


class Options(NamedTuple):
    """What to look for in one file: codes of the enabled rules, and the user's words."""

    codes: frozenset[str]
    vocabulary: Vocabulary = Vocabulary()


class Unreadable(ValueError):
    """The bytes are no Python that can be analysed. `line` and `column` are 1-based."""

    def __init__(self, message: str, line: int = 1, column: int = 1) -> None:
        super().__init__(message)
        self.line = line
        self.column = column


def check_source(
    source: bytes,
    path: str,
    options: Options,
    *,
    tree: ast.Module | None = None,
    neighbours: Neighbours | None = None,
    noqa: bool = True,
) -> Report:
    """Check the bytes of one file; never raises.

    `tree` is the file's `ast`, where the caller has it already. `neighbours` finds the source of modules that the
    file imports; without it, what they do is unknown. `noqa=False` leaves suppression to the caller.
    """
    try:
        seen = _look(source, path, options, tree, neighbours)
        if not seen.speaking:
            return Report()

        def report() -> Report:
            if isinstance(seen.tree, ast.Module) and _is_silent(source, path, options, seen, neighbours):
                return Report()
            module = _read(source, path, seen.tree)
            return _report(_anatomy(module, options, neighbours, _read), seen.speaking, noqa)

        return with_room(seen.levels, report)
    except Unreadable as problem:
        return _not_analysed(path, str(problem), problem.line, problem.column)
    except RecursionError:
        return _not_analysed(path, _TOO_DEEP)
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as problem:  # a panic of libcst's native parser is no Exception; it costs this file only
        return _not_analysed(
            path, f"looplint failed on this file ({type(problem).__name__}: {problem}); please report it"
        )


def _report(anatomy: Anatomy, codes: frozenset[str], noqa: bool) -> Report:
    findings = sorted(_findings(anatomy, codes), key=lambda found: (found.span, found.code))
    if not noqa or not findings:
        return Report(tuple(findings))
    from lint_rules.suppress import Suppressions

    suppressions = Suppressions(anatomy.module.text)
    kept = tuple(found for found in findings if not suppressions.covers(found.code, found.span.line))
    return Report(kept, len(findings) - len(kept))


def passes_gate(source: bytes, path: str, options: Options, *, neighbours: Neighbours | None = None) -> bool:
    """Whether a file will be analysed. Raises ValueError for what is no Python."""
    return bool(_look(source, path, options, None, neighbours).speaking)


def load(options: Options) -> None:
    """Imports all that an analysis takes: for processes that are forked later, to share it."""
    import lint_rules.anatomy.agent
    import lint_rules.syntax.bare  # noqa: F401

    for code in options.codes & BY_CODE.keys():
        BY_CODE[code].load()


def find_fixes(
    source: bytes, path: str, options: Options, *, neighbours: Neighbours | None = None
) -> tuple[SourceModule, list[tuple[Finding, Fix]]]:
    """The file, and its findings that have a fix, each with it, in order of place; suppressed ones are among them.

    Meant for a file that `check_source` has seen: raises whatever libcst and the rules raise.
    """

    tree = _parsed(source)

    def found() -> tuple[SourceModule, list[tuple[Finding, Fix]]]:
        anatomy = _anatomy(_read(source, path, tree), options, neighbours, _read)
        fixable = [
            (_finding(rule, draft, anatomy), draft.fix) for rule, draft in _drafts(anatomy, options.codes) if draft.fix
        ]
        return anatomy.module, sorted(fixable, key=lambda pair: (pair[0].span, pair[0].code))

    return with_room(_levels(source, tree), found)


def map_source(source: bytes, path: str, options: Options, *, neighbours: Neighbours | None = None) -> str:
    """The anatomy that was found in one file, with evidence, as text for `looplint map`.

    Raises ValueError (one clear line) when the file cannot be analysed.
    """
    from lint_rules.anatomy.outline import outline

    tree = _parsed(source)
    try:
        return with_room(
            _levels(source, tree),
            lambda: outline(_anatomy(_read(source, path, tree), options, neighbours, _read)),
        )
    except RecursionError:
        raise Unreadable(_TOO_DEEP) from None


# -- reading ------------------------------------------------------------------------------------------------------


Tree = Union[ast.Module, "libcst.Module"]
"""The `ast` of a file; libcst's tree where only libcst can parse, which knows newer syntax."""


class _Look(NamedTuple):
    """What the gate saw of a file: the rules that could find something in it, how deep it is nested, and its tree."""

    speaking: frozenset[str] = frozenset()
    levels: int = 0
    tree: Tree | None = None


def _look(source: bytes, path: str, options: Options, tree: ast.Module | None, neighbours: Neighbours | None) -> _Look:
    """Raises Unreadable for what is no Python, so that a broken file is never called clean."""
    if not mentions.agent(source, options.vocabulary):
        if tree is None:
            _assert_python(source)
        return _Look()
    parsed = tree or _parsed(source)
    if not isinstance(parsed, ast.Module):
        return _Look(options.codes, levels_of_text(source), parsed)
    from lint_rules.gate.speaking import Gate

    def nearby(module: str) -> bytes | None:
        found = neighbours(path, module) if neighbours is not None else None
        return found[1] if found is not None else None

    seen = Gate(parsed, nearby)
    if mentions.user_words(source, options.vocabulary):
        return _Look(options.codes, seen.levels, parsed)
    return _Look(seen.speaking(options.codes), seen.levels, parsed)


def _assert_python(source: bytes) -> None:
    """Raises Unreadable as `_parsed` does. Makes no tree, which is half of the cost of `ast.parse`."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with suppress(Exception):
            symtable.symtable(source, "<file>", "exec")  # type: ignore[arg-type]
            return
    _parsed(source)


def _levels(source: bytes, tree: Tree) -> int:
    from lint_rules.gate.signs import Signs

    return Signs(tree).levels if isinstance(tree, ast.Module) else levels_of_text(source)


def _parsed(source: bytes) -> Tree:
    """Raises Unreadable for what neither Python nor libcst can parse."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(source)
    except (SyntaxError, ValueError) as problem:
        newer = _parsed_as_newer_python(source) if isinstance(problem, SyntaxError) else None
        if newer is None:
            raise _unreadable(source, problem) from None
        return newer
    except (RecursionError, MemoryError):
        raise Unreadable(_TOO_DEEP) from None


def _parsed_as_newer_python(source: bytes) -> libcst.Module | None:
    levels = levels_of_text(source)
    if levels > DEEPEST or b"\0" in source:  # libcst lets a NUL byte pass, no Python does
        return None
    import libcst

    with suppress(Exception):
        return with_room(levels, lambda: libcst.parse_module(source))
    return None


def _unreadable(source: bytes, problem: Exception) -> Unreadable:
    """What is wrong, in words, and where: in characters, while Python counts bytes."""
    import tokenize

    if source.startswith((b"\xff\xfe", b"\xfe\xff")):
        return Unreadable("the file is UTF-16: Python reads UTF-8, or the encoding that a coding comment names")
    if b"\0" in source:
        return Unreadable("the file holds a NUL byte", *_place(source, source.index(b"\0")))
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(source).readline)
        text = source.decode(encoding)
    except UnicodeDecodeError as undecodable:
        at = undecodable.start
        return Unreadable(f"the file is not valid {undecodable.encoding}: byte 0x{source[at]:02x}", *_place(source, at))
    except SyntaxError as unknown:
        clash = "a byte order mark says UTF-8, the coding comment something else"
        return Unreadable(clash if source.startswith(codecs.BOM_UTF8) else str(unknown))
    try:
        ast.parse(text)
    except (SyntaxError, ValueError) as same:
        problem = same
    if not isinstance(problem, SyntaxError):
        return Unreadable(f"not Python source: {problem}")
    too_deep = "too many nested" in problem.msg
    message = _TOO_DEEP if too_deep else f"syntax error: {problem.msg}"
    return Unreadable(message, problem.lineno or 1, max(problem.offset or 1, 1))


def _place(source: bytes, offset: int) -> tuple[int, int]:
    """Line and column, from 1, of a byte among bytes that may be no text."""
    before = source[:offset]
    return before.count(b"\n") + 1, offset - before.rfind(b"\n")


Reader = Callable[[bytes, str, Tree], "SourceModule"]
"""Makes the index of a file from its bytes, path and tree."""


def _anatomy(module: SourceModule, options: Options, neighbours: Neighbours | None, read: Reader) -> Anatomy:
    """The anatomy of a file, which knows those that lie nearby: they are read as it was."""
    from lint_rules.anatomy.agent import Anatomy, Neighbour

    def neighbour(name: str) -> Neighbour | None:
        found = neighbours(module.path, name) if neighbours is not None else None
        return Neighbour(found[1], lambda: nearby(*found)) if found is not None else None

    def nearby(path: str, source: bytes) -> Anatomy | None:
        try:
            tree = _parsed(source)
            if _levels(source, tree) > SHALLOW:
                return None
            return _anatomy(read(source, path, tree), options, None, read)
        except Exception:  # a broken neighbour is a finding of its own file, here it only means less knowledge
            return None

    return Anatomy(module, options.vocabulary, neighbour)


def _read(source: bytes, path: str, tree: Tree | None) -> SourceModule:
    """As libcst parses it, if that has not been done. Raises Unreadable."""
    import libcst

    from lint_rules.syntax.module import SourceModule

    try:
        return SourceModule(source, path, None if isinstance(tree, ast.Module) else tree)
    except libcst.ParserSyntaxError as problem:
        message = str(problem.message).strip().splitlines()[0]
        raise Unreadable(f"syntax error: {message}", problem.raw_line, problem.raw_column + 1) from None
    except (SyntaxError, ValueError, LookupError) as problem:
        raise _unreadable(source, problem) from None


def _read_bare(source: bytes, path: str, tree: Tree) -> SourceModule:
    """Without formatting and positions, at a sixth of the cost, where that can be."""
    from lint_rules.syntax.bare import Unlike, bare_tree
    from lint_rules.syntax.module import SourceModule

    if isinstance(tree, ast.Module):
        text = decode_source(source)
        with suppress(Unlike):
            return SourceModule(text, path, bare_tree(text, tree))
    return _read(source, path, tree)


# -- judging ------------------------------------------------------------------------------------------------------


def _is_silent(source: bytes, path: str, options: Options, seen: _Look, neighbours: Neighbours | None) -> bool:
    """Whether no rule has anything to report, as a bare tree shows."""
    assert seen.tree is not None
    with closing(_anatomy(_read_bare(source, path, seen.tree), options, neighbours, _read_bare)) as anatomy:
        try:
            return not any(True for _ in _drafts(anatomy, seen.speaking))
        except Exception:  # who asks for positions, or makes a repair, has something to report
            return False


def _findings(anatomy: Anatomy, codes: frozenset[str]) -> list[Finding]:
    return [_finding(rule, draft, anatomy) for rule, draft in _drafts(anatomy, codes)]


def _drafts(anatomy: Anatomy, codes: frozenset[str]) -> Iterator[tuple[Rule, Draft]]:
    from lint_rules.gate.speaking import NEED_NO_FACTS

    if not anatomy.knows_agent:
        codes &= NEED_NO_FACTS
    rules = [BY_CODE[code] for code in sorted(codes) if code in BY_CODE]
    return ((rule, draft) for rule in rules for draft in rule.check(anatomy))


def _finding(rule: Rule, draft: Draft, anatomy: Anatomy) -> Finding:
    module = anatomy.module
    related = tuple(
        Related(
            (note.module or module).positions.span(note.node),
            note.message,
            note.module.path if note.module is not None and note.module is not module else None,
        )
        for note in draft.related
    )
    return Finding(
        path=module.path,
        span=module.positions.span(draft.node),
        code=rule.code,
        name=rule.name,
        message=draft.message,
        help=draft.help,
        confidence=draft.confidence,
        related=related,
        fix=draft.fix.offer if draft.fix is not None else None,
    )


def _not_analysed(path: str, message: str, line: int = 1, column: int = 1) -> Report:
    message = " ".join(message.split())
    span = Span(line, column, line, column + 1)
    return Report((Finding(path, span, NOT_ANALYSED, "not-analysed", message),))
