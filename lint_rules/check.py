"""ONE file from bytes to findings: gate, tree, anatomy, rules, suppress. Does no I/O.

Most files stop at the gate. What they do not need (trees, libcst, anatomy) is imported where it is needed.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from lint_rules.anatomy.vocabulary import Vocabulary
from lint_rules.errors import PLEASE_REPORT, describe
from lint_rules.finding import NOT_ANALYSED, Finding, Report, Span
from lint_rules.form import Form, formed, sources_deriving, sources_near, sources_sharing
from lint_rules.gate import mentions
from lint_rules.limits import OverTime, reached, too_long, too_many
from lint_rules.options import Neighbours, Options
from lint_rules.paths import is_notebook
from lint_rules.rules.catalogue import by_code
from lint_rules.syntax.python import Unreadable, is_python

if TYPE_CHECKING:
    import ast

    from lint_rules.picture import Sheet
    from lint_rules.repairs.edits import Fix
    from lint_rules.syntax.module import SourceModule
    from lint_rules.syntax.parse import Tree

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
    "strangers",
]

Result = TypeVar("Result")


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
        if not seen.speaking or seen.tree is None:
            return Report()
        from lint_rules import analysis
        from lint_rules.syntax.depth import with_room
        from lint_rules.watch import within

        def report(tree: Tree, codes: frozenset[str], altered: bool) -> Report:
            asked = options._replace(codes=codes)
            work = partial(analysis.report, source, path, tree, asked, neighbours, noqa=noqa, altered=altered)
            return with_room(seen.levels, lambda: within(options.limits.seconds, work))

        found = report(seen.tree, seen.speaking, seen.altered)
        told = {finding.code for finding in found.findings} & by_code().keys() if seen.altered else set[str]()
        mended = frozenset(code for code in told if by_code()[code].repairs)
        return _with_offers(found, report(_parsed(source), mended, False)) if mended else found
    except Unreadable as problem:
        return _not_analysed(path, str(problem), problem.line, problem.column)
    except OverTime:
        return _not_analysed(path, too_long(options.limits))
    except MemoryError:
        return _not_analysed(path, f"there is not enough memory to analyse {len(source):,} bytes of code")
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as problem:  # a panic of libcst's native parser is no Exception; it costs this file only
        return _not_analysed(path, f"looplint failed on this file ({describe(problem)}); {PLEASE_REPORT}")


def _with_offers(found: Report, plain: Report) -> Report:
    """Findings in another form of a file, with the fixes that are offered for the same ones in the file as it is.

    `plain` is what those rules find there that have a repair.
    """
    fixes = {(finding.code, finding.span): finding.fix for finding in plain.findings}
    return found._replace(findings=tuple(f._replace(fix=fixes.get((f.code, f.span))) for f in found.findings))


def passes_gate(source: bytes, path: str, options: Options, *, neighbours: Neighbours | None = None) -> bool:
    """Whether a file will be analysed. Raises ValueError for what is no Python."""
    return bool(_look(source, path, options, None, neighbours).speaking)


def load(options: Options) -> None:
    """Imports all that an analysis takes: for processes that are forked later, to share it."""
    import lint_rules.analysis  # noqa: F401

    for code in options.codes & by_code().keys():
        by_code()[code].load()


def find_fixes(
    source: bytes, path: str, options: Options, *, neighbours: Neighbours | None = None
) -> tuple[SourceModule, list[tuple[Finding, Fix]]]:
    """The file, and its findings that have a fix, each with it, in order of place; suppressed ones are among them.

    Meant for a file that `check_source` has seen: raises whatever libcst and the rules raise.
    """
    from lint_rules import analysis

    return _with_tree(source, path, lambda tree: analysis.fixes(source, path, tree, options, neighbours))


def map_source(
    source: bytes,
    path: str,
    options: Options,
    *,
    neighbours: Neighbours | None = None,
    findings: tuple[Finding, ...] = (),
) -> Sheet:
    """The picture of one file, in the form in which it is checked, with what was found in it.

    Raises ValueError (one clear line) when the file cannot be analysed.
    """
    from lint_rules import analysis
    from lint_rules.reading import levels as levels_of
    from lint_rules.syntax.depth import with_room

    asked = options._replace(codes=frozenset(by_code()))  # whatever a file speaks about, if it does, is of interest
    form = _look(source, path, asked, None, neighbours)
    tree = _parsed(source) if form.tree is None else form.tree
    levels = max(form.levels, levels_of(tree))

    def draw() -> Sheet:
        return analysis.drawn(source, path, tree, options, neighbours, findings, altered=form.altered)

    return with_room(levels, draw)


def strangers(
    source: bytes, path: str, options: Options, *, neighbours: Neighbours | None = None
) -> list[tuple[str, int]]:
    """Functions that may ask a model, for all that is known of them, each with a line (from 1) in which it is called.

    Raises ValueError (one clear line) when the file cannot be analysed.
    """
    from lint_rules import analysis

    return _with_tree(source, path, lambda tree: analysis.strangers_of(source, path, tree, options, neighbours))


def _with_tree(source: bytes, path: str, function: Callable[[Tree], Result]) -> Result:
    """What `function` makes of the tree of a file. Raises Unreadable."""
    from lint_rules.reading import levels
    from lint_rules.syntax.depth import with_room

    _refuse_notebook(source, path)
    tree = _parsed(source)
    return with_room(levels(tree), lambda: function(tree))


def _look(source: bytes, path: str, options: Options, tree: ast.Module | None, neighbours: Neighbours | None) -> Form:
    """Raises Unreadable for what is no Python, so that a broken file is never called clean, and what is too large."""
    _refuse_notebook(source, path)
    _refuse(reached(options.limits, source))

    def told() -> bool:
        from lint_rules.project import is_imported

        return is_imported(path, neighbours, lambda other: mentions.agent(other, options.vocabulary))

    for_others = mentions.shortens(source) or mentions.catches(source) or mentions.cuts(source)
    worth = mentions.agent(source, options.vocabulary) or mentions.begins(source)
    if not worth and not (for_others and told()):
        if tree is None and not is_python(source):
            _parsed(source)
        return Form()
    import ast

    from lint_rules.gate.speaking import Gate
    from lint_rules.syntax.depth import levels_of_text, with_room

    parsed = tree or _parsed(source)
    if not isinstance(parsed, ast.Module):
        return Form(options.codes, levels_of_text(source), parsed)

    def beside() -> bool:
        from lint_rules.project import is_imported

        return is_imported(path, neighbours)

    near, deriving = sources_near(path, neighbours), sources_deriving(path, neighbours)
    seen = Gate(parsed, near, beside, told, deriving, sources_sharing(path, neighbours))
    _refuse(too_many(options.limits, seen.size))
    return with_room(seen.levels, lambda: formed(source, path, options, seen, parsed, tree is None, neighbours))


def _refuse(why: str | None) -> None:
    if why is not None:
        raise Unreadable(why)


def _refuse_notebook(source: bytes, path: str) -> None:
    """What a notebook holds is JSON, and most JSON is Python, which nothing is found in. Its program can be checked."""
    if is_notebook(path):
        from lint_rules.notebook import is_program

        if not is_program(source):
            raise Unreadable("this is a notebook, not its program: use `looplint check`, or `nbqa flake8`")


def _parsed(source: bytes) -> Tree:
    from lint_rules.syntax.parse import parse

    return parse(source)


def _not_analysed(path: str, message: str, line: int = 1, column: int = 1) -> Report:
    message = " ".join(message.split())
    span = Span(line, column, line, column + 1)
    return Report((Finding(path, span, NOT_ANALYSED, "not-analysed", message),))
