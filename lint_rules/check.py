"""ONE file from bytes to findings: gate, tree, anatomy, rules, suppress. Does no I/O.

libcst is imported only for files that pass the gate.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from lint_rules.anatomy.vocabulary import Vocabulary
from lint_rules.finding import NOT_ANALYSED, Finding, Related, Span
from lint_rules.rules.catalogue import BY_CODE, Rule
from lint_rules.suppress import Suppressions

if TYPE_CHECKING:
    from lint_rules.anatomy.agent import Anatomy
    from lint_rules.repairs.edits import Fix
    from lint_rules.rules.draft import Draft
    from lint_rules.syntax.module import SourceModule

__all__ = ["Neighbours", "Options", "Report", "Vocabulary", "check_source", "find_fixes", "map_source"]

Neighbours = Callable[[str, str], "tuple[str, bytes] | None"]
"""(path of the importing file, module as written, e.g. `turn` or `..core.store`) -> (path, source), or None."""

_AGENT_WORDS = re.compile(
    rb"tool_call|tool_use|toolUse|function_call|partial_json|on_invoke_tool|messages|history|conversation|['\"]role['\"]|\brole="
)


@dataclass(frozen=True, slots=True)
class Options:
    """What to look for in one file: codes of the enabled rules, and the user's words."""

    codes: frozenset[str]
    vocabulary: Vocabulary = field(default_factory=Vocabulary)


@dataclass(frozen=True, slots=True)
class Report:
    """Findings in order of place. A file that could not be analysed has exactly one: AGL000."""

    findings: tuple[Finding, ...] = ()
    suppressed: int = 0


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
        if not _may_hold_an_agent(source, options, parsed=tree is not None):
            return Report()
        anatomy = _anatomy(source, path, options, neighbours)
        findings = sorted(_findings(anatomy, options), key=lambda found: (found.span, found.code))
    except Unreadable as problem:
        return _not_analysed(path, str(problem), problem.line, problem.column)
    except RecursionError:
        return _not_analysed(path, "the code is nested too deeply to be analysed")
    except Exception as problem:  # nothing that libcst or a rule raises may cost the other files their check
        return _not_analysed(
            path, f"looplint failed on this file ({type(problem).__name__}: {problem}); please report it"
        )
    if not noqa or not findings:
        return Report(tuple(findings))
    suppressions = Suppressions(anatomy.module.text)
    kept = tuple(found for found in findings if not suppressions.covers(found.code, found.span.line))
    return Report(kept, len(findings) - len(kept))


def find_fixes(
    source: bytes, path: str, options: Options, *, neighbours: Neighbours | None = None
) -> tuple[SourceModule, list[tuple[Finding, Fix]]]:
    """The file, and its findings that have a fix, each with it, in order of place; suppressed ones are among them.

    Meant for a file that `check_source` has seen: raises whatever libcst and the rules raise.
    """
    anatomy = _anatomy(source, path, options, neighbours)
    found = [(_finding(rule, draft, anatomy), draft.fix) for rule, draft in _drafts(anatomy, options) if draft.fix]
    return anatomy.module, sorted(found, key=lambda pair: (pair[0].span, pair[0].code))


def map_source(source: bytes, path: str, options: Options, *, neighbours: Neighbours | None = None) -> str:
    """The anatomy that was found in one file, with evidence, as text for `looplint map`.

    Raises ValueError (one clear line) when the file cannot be analysed.
    """
    from lint_rules.anatomy.outline import outline

    return outline(_anatomy(source, path, options, neighbours))


def _may_hold_an_agent(source: bytes, options: Options, *, parsed: bool) -> bool:
    """The gate. Raises Unreadable for what is no Python, so that a broken file is never called clean."""
    if not parsed:
        _parse_ast(source)
    return _AGENT_WORDS.search(source) is not None or any(
        word.encode() in source for word in options.vocabulary.history_names + options.vocabulary.tool_call_attributes
    )


def _parse_ast(source: bytes) -> None:
    """Raises Unreadable unless this Python can parse `source`, or libcst can, which knows newer syntax."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(source)
    except (SyntaxError, ValueError) as problem:
        if not isinstance(problem, SyntaxError) or not _parses_as_newer_python(source):
            raise _unreadable(problem) from None
    except (RecursionError, MemoryError):
        raise Unreadable("the code is nested too deeply to be analysed") from None


def _unreadable(problem: Exception) -> Unreadable:
    if isinstance(problem, SyntaxError):
        return Unreadable(f"syntax error: {problem.msg}", problem.lineno or 1, max(problem.offset or 1, 1))
    return Unreadable(f"not Python source: {problem}")


def _parses_as_newer_python(source: bytes) -> bool:
    import libcst

    try:
        libcst.parse_module(source)
    except Exception:
        return False
    return True


def _anatomy(source: bytes, path: str, options: Options, neighbours: Neighbours | None) -> Anatomy:
    import libcst

    from lint_rules.anatomy.agent import Anatomy
    from lint_rules.syntax.module import SourceModule

    try:
        module = SourceModule(libcst.parse_module(source), path)
    except libcst.ParserSyntaxError as problem:
        message = str(problem.message).strip().splitlines()[0]
        raise Unreadable(f"syntax error: {message}", problem.raw_line, problem.raw_column + 1) from None
    except (SyntaxError, ValueError, LookupError) as problem:
        raise _unreadable(problem) from None

    def neighbour(name: str) -> Anatomy | None:
        found = neighbours(path, name) if neighbours is not None else None
        if found is None:
            return None
        try:
            return _anatomy(found[1], found[0], options, None)
        except Exception:  # a broken neighbour is a finding of its own file, here it only means less knowledge
            return None

    return Anatomy(module, options.vocabulary, neighbour)


def _findings(anatomy: Anatomy, options: Options) -> list[Finding]:
    return [_finding(rule, draft, anatomy) for rule, draft in _drafts(anatomy, options)]


def _drafts(anatomy: Anatomy, options: Options) -> list[tuple[Rule, Draft]]:
    rules = [BY_CODE[code] for code in sorted(options.codes) if code in BY_CODE]
    return [(rule, draft) for rule in rules for draft in rule.check(anatomy)]


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
