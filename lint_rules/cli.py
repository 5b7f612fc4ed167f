"""The command line: turns words into settings, and findings into words.

Imported at every start, so it imports little; each command imports what it needs.
"""

from __future__ import annotations

import argparse
import errno
import io
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext, redirect_stdout, suppress
from functools import cache, lru_cache
from typing import TYPE_CHECKING, TextIO

from lint_rules import arguments
from lint_rules.arguments import UsageError
from lint_rules.errors import describe, reason
from lint_rules.finding import NOT_ANALYSED, UNUSED_NOQA
from lint_rules.layer import DOCUMENTS, SettingsError, suggestion, unknown_rule
from lint_rules.paths import is_notebook
from lint_rules.settings import Resolver

if TYPE_CHECKING:
    from lint_rules.baseline import Baseline
    from lint_rules.cache import Cache
    from lint_rules.changes import Changes
    from lint_rules.files import Trouble
    from lint_rules.finding import Finding, Span
    from lint_rules.output.page import Page
    from lint_rules.rules.catalogue import Rule
    from lint_rules.run import Outcome, Plan, Sifted
    from lint_rules.settings import Settings

NOTHING_FOUND = 0
FOUND = 1
FAILED = 2
STOPPED = 130
"""By Ctrl-C, or because nobody reads what we print: what a shell reports of a program that was interrupted."""

STDIN = "-"


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit code. Whatever happens, no traceback reaches the user."""
    _open_missing_streams()
    _escape_unprintable()
    try:
        code = _run(sys.argv[1:] if argv is None else list(argv))
        sys.stdout.flush()
    except KeyboardInterrupt:
        code = STOPPED
    except BrokenPipeError:
        code = STOPPED
    except (UsageError, SettingsError) as error:
        _complain("error", str(error))
        code = FAILED
    except OSError as error:  # a full disk, say: no bug of ours
        _complain("error", f"{error.filename or 'standard output'}: {reason(error)}")
        code = FAILED
    except BaseException as error:  # a panic in native code (libcst's parser) is no Exception
        _complain("error", f"this is a bug in looplint, please report it: {describe(error)}")
        code = FAILED
    for stream in (sys.stdout, sys.stderr):
        _let_go(stream)
    return code


def _run(words: list[str]) -> int:
    named = {name: command for name, command in _COMMANDS.items() if words[:1] == [name]}
    parser = arguments.parser(named or _COMMANDS)  # of several, each costs as much as to check a small file
    if not words:
        parser.print_help(sys.stderr)
        return FAILED
    if words[0] not in _COMMANDS and not words[0].startswith("-"):
        raise UsageError(_no_command(words[0]))
    try:
        args = parser.parse_args(words)
    except SystemExit:  # after --help and --version
        return NOTHING_FOUND
    if args.command is None:
        raise UsageError(f"expected a command: {', '.join(_COMMANDS)}")
    command: arguments.Command = args.run
    return command(args)


def _no_command(word: str) -> str:
    if os.path.exists(word):
        return f"{word!r} is not a command; to check it: looplint check {word}"
    return f"{word!r} is not a command{suggestion(word, _COMMANDS)}; the commands are {', '.join(_COMMANDS)}"


# -- looplint check -----------------------------------------------------------------------------------------------


def _check(args: argparse.Namespace) -> int:
    from lint_rules import run

    resolver = Resolver(arguments.layer(args), config=args.config, isolated=args.isolated)
    _refuse_together(args)
    paths, source = _inputs(args)
    fix = args.fix or args.fix_only or args.diff
    plan = run.plan(paths, resolver, source, args.stdin_filename, fix=fix, unsafe=args.unsafe_fixes)
    settings = _settings_here(args, resolver, plan)
    output_format = _output_format(args, settings)
    baseline = _baseline(settings)
    changes = _changes(args)
    write = fix and not args.diff
    if write:
        plan.troubles.extend(run.clear(plan.tasks))
    checked = run.check_tasks(plan.tasks, args.jobs, _cache(args, resolver), write=write)
    try:
        outcomes = _all_outcomes(checked, plan, args)
    except KeyboardInterrupt:
        if write and not args.quiet:
            _complain("note", "stopped: files that were done are fixed, all others are as they were")
        raise
    if args.diff:
        _print_diffs(outcomes, _page(args, source, plan))
    elif fix and source is not None:
        source = _print_stdin(plan, outcomes, source)
    sifted = run.Sifted(outcomes)
    if baseline is not None or changes is not None:
        from lint_rules import adoption

        sifted = adoption.sift(outcomes, plan.tasks, baseline, changes, _page(args, source, plan).source)
    if args.add_noqa:
        return _add_noqa(sifted.outcomes, plan, args, paths)
    # The text of standard input, once fixed, is what goes to standard output.
    taken = args.diff or (fix and source is not None)
    with _to_file(args.output_file) if args.output_file else redirect_stdout(sys.stderr) if taken else nullcontext():
        return _report(sifted, plan, output_format, args, paths, source)


@contextmanager
def _to_file(path: str) -> Iterator[None]:
    """What is printed inside goes to a file: all of it, at the end, or nothing. Raises UsageError."""
    from lint_rules import saving

    with redirect_stdout(io.StringIO()) as printed:
        yield
    text = printed.getvalue().encode("utf-8", "backslashreplace")
    try:
        if os.path.exists(path) and not os.path.isfile(path):  # a device, a pipe: /dev/stdout
            with open(path, "wb") as file:
                file.write(text)
            return
        os.makedirs(os.path.dirname(path) or os.curdir, exist_ok=True)
        saving.replace(os.path.realpath(path), text)
    except OSError as error:
        raise UsageError(
            f"--output-file {path}: {error if isinstance(error, saving.Refused) else reason(error)}"
        ) from error


def _all_outcomes(outcomes: Iterator[Outcome], plan: Plan, args: argparse.Namespace) -> list[Outcome]:
    """All outcomes; on a terminal with a bar, if they take their time."""
    if args.quiet or not sys.stderr.isatty() or os.environ.get("TERM") == "dumb":
        return list(outcomes)
    from lint_rules.output.progress import watched

    return list(watched(outcomes, len(plan.tasks), sys.stderr))


def _cache(args: argparse.Namespace, resolver: Resolver) -> Cache | None:
    """What earlier runs found, where that may be used."""
    if args.no_cache:
        return None
    from lint_rules.cache import Cache

    try:
        return Cache(resolver.settings(os.getcwd()).cache_dir)
    except SettingsError:
        return None  # already noted


def _report(
    sifted: Sifted,
    plan: Plan,
    output_format: str,
    args: argparse.Namespace,
    paths: Sequence[str],
    source: bytes | None,
) -> int:
    """Print what was found and done, and tell the exit code."""
    outcomes = sifted.outcomes
    page = cache(lambda: _page(args, source, plan))  # most runs print nothing that needs it
    findings = [finding for outcome in outcomes for finding in outcome.findings]
    if args.fix_only or args.diff:
        findings = [finding for finding in findings if finding.code == NOT_ANALYSED]
    _print_findings(findings, output_format, args, page)
    troubles = _troubles(plan, outcomes)
    _complain_of(troubles, paths, plan, quiet=args.quiet)
    for line in sifted.solved:
        _complain("error", f"{line}: `looplint baseline` takes out what is solved, so that it cannot come back unseen")
    for outcome in outcomes if not args.quiet else ():
        for misread in outcome.misread:
            _complain("warning", f"{_at(outcome.path, misread.line, page)}: {misread.message}")
    _tell_fixes(outcomes, output_format, args, page)
    if output_format == "text" and not args.quiet:
        if not args.fix_only and not args.diff:
            print(_summary(findings, sifted, troubles))
        if offer := _offer(findings, args.unsafe_fixes):
            print(offer)
    would_change = args.diff and any(outcome.rewrite is not None for outcome in outcomes)
    return _exit_code(findings, troubles, args.exit_zero, open_ends=would_change or bool(sifted.solved))


def _inputs(args: argparse.Namespace) -> tuple[list[str], bytes | None]:
    """The paths to check, and the bytes of standard input if they are wanted."""
    paths: list[str] = args.paths or ([STDIN] if args.stdin_filename else ["."])
    if STDIN not in paths:
        if args.stdin_filename:
            raise UsageError(f"--stdin-filename names standard input, which is not among the paths: add {STDIN!r}")
        return paths, None
    try:
        if sys.stdin is None:
            raise OSError(errno.EBADF, "closed")
        return [path for path in paths if path != STDIN], sys.stdin.buffer.read()
    except OSError as error:
        raise UsageError(f"standard input cannot be read: {reason(error)}") from error


def _settings_here(args: argparse.Namespace, resolver: Resolver, plan: Plan) -> Settings:
    """The settings of the run as a whole: of the current folder, or that of standard input."""
    from lint_rules.files import Trouble
    from lint_rules.paths import absolute

    folder = os.path.dirname(absolute(args.stdin_filename)) if args.stdin_filename else os.getcwd()
    try:
        return resolver.settings(folder)
    except SettingsError as error:
        plan.troubles.insert(0, Trouble(error.path or "", error.message))
        return Resolver(arguments.layer(args), isolated=True).settings(folder)


def _output_format(args: argparse.Namespace, settings: Settings) -> str:
    """The format asked for, by the command line or the configuration."""
    output_format = settings.output_format
    if args.statistics and output_format not in ("text", "concise", "json"):
        raise UsageError(f"--statistics goes with the output formats text, concise and json, not with {output_format}")
    return output_format


def _refuse_together(args: argparse.Namespace) -> None:
    """Raises UsageError for options that say two things."""
    fixing = next((word for word in ("fix", "fix_only", "diff") if getattr(args, word)), None)
    if args.add_noqa and (fixing or args.stdin_filename or STDIN in args.paths):
        raise UsageError("--add-noqa writes comments into files: not with --fix or --diff, nor into standard input")


def _baseline(settings: Settings) -> Baseline | None:
    if settings.baseline is None:
        return None
    from lint_rules.baseline import Baseline

    return Baseline.read(settings.baseline)


def _changes(args: argparse.Namespace) -> Changes | None:
    if args.diff_base is None:
        return None
    from lint_rules.changes import Changes

    return Changes(args.diff_base)


def _add_noqa(outcomes: Sequence[Outcome], plan: Plan, args: argparse.Namespace, paths: Sequence[str]) -> int:
    """Write comments for what was found."""
    from lint_rules import adoption

    added, refused = adoption.add_noqa(outcomes)
    troubles = [*_troubles(plan, outcomes), *refused]
    _complain_of(troubles, paths, plan, quiet=args.quiet)
    if not args.quiet:
        print(f"Added {_count(added, 'noqa directive')}.")
    unread = [finding for outcome in outcomes for finding in outcome.findings if finding.code == NOT_ANALYSED]
    for finding in unread:
        _complain("error", f"{finding.path}: {finding.message}")
    return FAILED if unread or any(trouble.fatal for trouble in troubles) else NOTHING_FOUND


def _print_findings(
    findings: Sequence[Finding], output_format: str, args: argparse.Namespace, page: Callable[[], Page]
) -> None:
    if not findings and output_format not in DOCUMENTS:
        return
    from lint_rules.output import renderer

    if not args.statistics:
        if any(is_notebook(finding.path) for finding in findings):
            from lint_rules.output.cells import in_cells

            lines = renderer(output_format)(*in_cells(findings, page()))
        else:
            lines = renderer(output_format)(findings, page())
    else:
        from lint_rules.output import statistics

        lines = statistics.render_json(findings) if output_format == "json" else statistics.render(findings)
    for line in lines:
        print(line)


def _page(args: argparse.Namespace, stdin: bytes | None, plan: Plan) -> Page:
    """Where the output finds source lines. Files are read again: only those with findings are, and one at a time."""
    from lint_rules import files
    from lint_rules.output.page import Page
    from lint_rules.run import fixes_apart, stdin_path

    of_stdin = stdin_path(args.stdin_filename)

    def read(path: str) -> bytes:
        found = stdin if stdin is not None and path == of_stdin else files.read(path)
        return files.as_program(found, path)

    @lru_cache(maxsize=8)
    def source(path: str) -> str | None:
        try:
            return files.decode(read(path))
        except (OSError, ValueError):
            return None

    @lru_cache(maxsize=8)
    def mended(path: str) -> dict[tuple[str, Span], str]:
        task = next(task for task in plan.tasks if task.path == path)
        return {key: files.decode(after) for key, after in fixes_apart(task, read(path))}

    return Page(source, _wants_colour(args.color, sys.stdout), mended)


def _at(path: str, line: int, page: Callable[[], Page]) -> str:
    """A line (from 1) of a file as people read it: of a notebook, of a cell."""
    if not is_notebook(path):
        return f"{path}:{line}"
    from lint_rules.notebook import Cells
    from lint_rules.paths import CellPath

    cell, line = Cells(page().source(path) or "").place(line)
    return f"{CellPath.of(path, cell)}:{line}"


def _troubles(plan: Plan, outcomes: Iterable[Outcome]) -> list[Trouble]:
    """All paths that could not be looked at, each said once."""
    from lint_rules.files import Trouble

    whys = ((outcome.path, why) for outcome in outcomes for why in (outcome.error, outcome.unsaved))
    return list(dict.fromkeys([*plan.troubles, *(Trouble(path, why) for path, why in whys if why is not None)]))


def _complain_of(troubles: Sequence[Trouble], paths: Sequence[str], plan: Plan, *, quiet: bool) -> None:
    """One line on stderr for each thing that went wrong and, unless quiet, for each that may surprise."""
    for trouble in troubles:
        if trouble.fatal or not quiet:
            _complain("error" if trouble.fatal else "note", f"{trouble.path}: {trouble.message}")
    if quiet:
        return
    if not plan.tasks and not any(trouble.fatal for trouble in troubles):
        where = ", ".join(paths) or "standard input"
        _complain("warning", f"no Python files to check in {where} (.gitignore files and exclusions leave files out)")
    if plan.tasks and not any(task.options.codes for task in plan.tasks):
        _complain("note", "no rule is selected, so nothing can be found")


def _summary(findings: Sequence[Finding], sifted: Sifted, troubles: Iterable[Trouble]) -> str:
    """`Found 3 problems in 2 files (12 files checked).` and its kin."""
    outcomes = sifted.outcomes
    problems = [finding for finding in findings if finding.code != NOT_ANALYSED]
    not_analysed = len({finding.path for finding in findings if finding.code == NOT_ANALYSED})
    unread = sum(outcome.error is not None for outcome in outcomes)
    suppressed = sum(outcome.suppressed for outcome in outcomes)
    unsaved = sum(outcome.unsaved is not None for outcome in outcomes)
    failures = not_analysed + sum(trouble.fatal for trouble in troubles) - unsaved
    checked = f"{_count(len(outcomes) - not_analysed - unread, 'file')} checked"
    if failures:
        checked += f", {failures} could not be checked"
    if unsaved:
        checked += f", {unsaved} could not be written"
    if suppressed:
        checked += f", {_count(suppressed, 'problem')} suppressed by noqa"
    if sifted.known:
        checked += f", {_count(sifted.known, 'problem')} in the baseline"
    if sifted.unchanged:
        checked += f", {_count(sifted.unchanged, 'problem')} on lines that did not change"
    if problems:
        places = len({finding.path for finding in problems})
        return f"Found {_count(len(problems), 'problem')} in {_count(places, 'file')} ({checked})."
    is_clear = outcomes and not failures and not unsaved
    return f"All clear: {checked}." if is_clear else f"No problems found ({checked})."


def _count(number: int, noun: str, plural: str = "") -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {plural or noun + 's'}"


def _exit_code(findings: Iterable[Finding], troubles: Iterable[Trouble], exit_zero: bool, *, open_ends: bool) -> int:
    if any(trouble.fatal for trouble in troubles):
        return FAILED
    codes = {finding.code for finding in findings}
    if exit_zero or not (codes or open_ends):
        return NOTHING_FOUND
    return FAILED if NOT_ANALYSED in codes else FOUND


# -- fixes --------------------------------------------------------------------------------------------------------


def _print_diffs(outcomes: Iterable[Outcome], page: Page) -> None:
    """What fixes would change: harmless text for people, for programs the very bytes."""
    from lint_rules.files import decode
    from lint_rules.output import diff

    for outcome in outcomes:
        if outcome.rewrite is None:
            continue
        before, after = outcome.rewrite.before, outcome.rewrite.after
        if page.colour or sys.stdout.isatty():
            for line in diff.render(outcome.path, decode(before), decode(after), page):
                print(line)
        else:
            sys.stdout.flush()
            sys.stdout.buffer.writelines(diff.patch(outcome.path, before, after))


def _print_stdin(plan: Plan, outcomes: Iterable[Outcome], source: bytes) -> bytes:
    """Standard input goes to standard output, fixed or not; it is also returned."""
    for task, outcome in zip(plan.tasks, outcomes, strict=True):
        if task.source is not None and outcome.rewrite is not None:
            source = outcome.rewrite.after
    sys.stdout.flush()
    sys.stdout.buffer.write(source)
    sys.stdout.buffer.flush()
    return source


def _tell_fixes(
    outcomes: Iterable[Outcome], output_format: str, args: argparse.Namespace, page: Callable[[], Page]
) -> None:
    """Say what was fixed; on stderr where stdout holds data."""
    fixed = [outcome for outcome in outcomes if outcome.rewrite is not None]
    for outcome in outcomes:
        for dropped in outcome.dropped if not args.quiet else ():
            _complain("note", f"{_at(outcome.path, dropped.line, page)}: {dropped.code} is not fixed: {dropped.reason}")
    with redirect_stdout(sys.stdout if output_format == "text" else sys.stderr):
        if args.show_fixes:
            for line in _shown_fixes(fixed, page):
                print(line)
        if fixed and not args.quiet:
            number = sum(len(outcome.rewrite.applied) for outcome in fixed if outcome.rewrite is not None)
            verb = "Would apply" if args.diff else "Applied"
            print(f"{verb} {_count(number, 'fix', 'fixes')} in {_count(len(fixed), 'file')}.")


def _shown_fixes(fixed: Iterable[Outcome], page: Callable[[], Page]) -> Iterator[str]:
    from lint_rules.output.page import plain

    for outcome in fixed:
        for applied in outcome.rewrite.applied if outcome.rewrite is not None else ():
            yield f"{plain(_at(outcome.path, applied.line, page))}: {applied.code} {applied.name}: {applied.title}"


def _offer(findings: Iterable[Finding], unsafe: bool) -> str:
    """How many of the findings could be fixed, and by which option; "" if none."""
    offers = [finding.fix.applicability for finding in findings if finding.fix is not None]
    now = offers.count("safe") + (offers.count("unsafe") if unsafe else 0)
    more = 0 if unsafe else offers.count("unsafe")
    parts = [f"{now} with --fix{' --unsafe-fixes' * unsafe}"] * (now > 0)
    parts += [f"{more} with --fix --unsafe-fixes"] * (more > 0)
    return f"Fixes are at hand: {', '.join(parts)}." if parts else ""


# -- looplint baseline --------------------------------------------------------------------------------------------


def _write_baseline(args: argparse.Namespace) -> int:
    from lint_rules import adoption, run
    from lint_rules.baseline import FILE
    from lint_rules.paths import shown

    resolver = Resolver(arguments.layer(args), config=args.config, isolated=args.isolated)
    paths: list[str] = args.paths or ["."]
    settings = resolver.settings(os.getcwd())
    path = settings.baseline or os.path.join(settings.file.folder, FILE)
    plan = run.plan(paths, resolver)
    outcomes = _all_outcomes(run.check_tasks(plan.tasks, args.jobs, _cache(args, resolver)), plan, args)
    written = adoption.write_baseline(path, outcomes, plan.tasks, _page(args, None, plan).source, add=args.add_new)
    troubles = _troubles(plan, outcomes)
    _complain_of(troubles, paths, plan, quiet=args.quiet)
    if not args.quiet:
        name = shown(path)
        if written.is_first:
            print(f"Wrote {_count(written.listed, 'problem')} to {name}.")
        else:
            print(f"Took {_count(written.solved, 'solved problem')} out of {name}; {written.listed} are left in it.")
        if written.added:
            print(f"Added {_count(written.added, 'new problem')}.")
        if written.new:
            print(f"Left out {_count(written.new, 'new problem')}: correct them, or put them in with --add-new.")
        if settings.baseline is None:
            print(f'To use it, write `baseline = "{name}"` under [tool.looplint] in pyproject.toml.')
    unread = any(finding.code == NOT_ANALYSED for outcome in outcomes for finding in outcome.findings)
    return FAILED if unread or any(trouble.fatal for trouble in troubles) else NOTHING_FOUND


# -- looplint rules, explain, map ---------------------------------------------------------------------------------


def _rules(args: argparse.Namespace) -> int:
    from lint_rules.rules.catalogue import RULES

    _print_rules(RULES, args.output_format)
    return NOTHING_FOUND


def _print_rules(rules: Iterable[Rule], output_format: str = "text") -> None:
    rows = [(rule.code, rule.name, rule.group, rule.summary) for rule in rules]
    columns = ("code", "name", "group", "summary")
    if output_format == "json":
        import json

        print(json.dumps([dict(zip(columns, row, strict=True)) for row in rows], indent=2))
        return
    widths = [max(map(len, column)) for column in zip(columns, *rows, strict=True)]
    for row in (columns, *rows):
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())


def _explain(args: argparse.Namespace) -> int:
    from lint_rules.rules.catalogue import RULES, matching

    if args.rule in _PAGES:
        print(_PAGES[args.rule])
        return NOTHING_FOUND
    codes = matching(args.rule)
    rules = [rule for rule in RULES if rule.code in codes]
    if not rules:
        raise UsageError(f"{unknown_rule(args.rule)}; `looplint rules` lists the rules")
    if len(rules) == 1:
        print(rules[0].page().strip())
    else:
        _print_rules(rules)
    return NOTHING_FOUND


_PAGES = {
    NOT_ANALYSED: f"""\
# not-analysed ({NOT_ANALYSED})

The file could not be analysed: it is not valid Python for the interpreter that runs looplint, it cannot be decoded,
it is larger than `max-file-bytes` or `max-file-nodes` allow or took longer than `max-file-seconds`, it is
no notebook of format 4, or looplint itself failed on it. Nothing is known about the file, or, where one rule failed,
nothing of what that rule would have found; so `looplint check` exits with 2.

Correct the file, run looplint with a Python that understands it, or leave the file out with `--exclude`.""",
    UNUSED_NOQA: f"""\
# unused-noqa ({UNUSED_NOQA})

A `# noqa` comment lists a code of looplint's, and nothing with this code is found where it stands: the code was
corrected since, or the comment stood in the wrong place from the start. It would hide the next such problem unseen.

Reported with `--report-unused-noqa` only. A comment without codes is never reported, for it may be meant for others;
nor is a code whose rule is not selected, or one of another linter's.

Take the code out of the comment, or the comment out of the line.""",
}


def _map(args: argparse.Namespace) -> int:
    from lint_rules import check, files
    from lint_rules.paths import absolute, shown

    path = absolute(args.file)
    resolver = Resolver(arguments.layer(args), config=args.config, isolated=args.isolated)
    options = resolver.settings(os.path.dirname(path)).options(path)
    try:
        source = files.read(path)
    except (OSError, ValueError) as error:
        raise UsageError(f"{args.file}: {reason(error)}") from error
    try:
        source = files.as_program(source, path)
        outline = check.map_source(source, shown(path), options, neighbours=files.neighbours)
    except ValueError as error:
        raise UsageError(f"{args.file}: {error}") from error
    if is_notebook(path):
        from lint_rules.notebook import Cells

        outline = Cells(source.decode()).said(outline)
    print(outline)
    return NOTHING_FOUND


# -- looplint init, server, generate-shell-completion -------------------------------------------------------------


def _init(args: argparse.Namespace) -> int:
    from lint_rules import beginning, run, saving
    from lint_rules.configuration import read_pyproject

    path = os.path.join(os.getcwd(), "pyproject.toml")
    if read_pyproject(path) is not None:
        raise UsageError("pyproject.toml has a [tool.looplint] table: `looplint check` uses it")
    plan = run.plan(["."], Resolver(arguments.layer(args), isolated=True))
    outcomes = _all_outcomes(run.check_tasks(plan.tasks), plan, args)
    seen = beginning.look(plan.tasks, outcomes)
    table = beginning.table(seen)
    if args.dry_run:
        print(table, end="")
        return NOTHING_FOUND
    try:
        with open(path, "rb") as file:
            before = file.read()
    except FileNotFoundError:
        saving.replace(path, table.encode())
    else:
        end = b"\r\n" if b"\r\n" in before else b"\n"
        gap = end * (2 - before.endswith(b"\n")) if before else b""
        saving.save(path, before, before + gap + table.encode().replace(b"\n", end))
    if not args.quiet:
        print(f"Wrote [tool.looplint] to pyproject.toml: {_count(seen.agents, 'file')} with parts of an agent,")
        print(f"{_count(seen.problems, 'problem')}, {_count(len(seen.strangers), 'function')} that may ask a model.")
    return NOTHING_FOUND


def _server(args: argparse.Namespace) -> int:
    try:
        from lint_rules.server import serve
    except ImportError as error:
        raise UsageError('the language server needs pygls: pip install "looplint[server]"') from error
    serve()
    return NOTHING_FOUND


def _completion(args: argparse.Namespace) -> int:
    from lint_rules import completion

    try:
        print(completion.script(arguments.parser(_COMMANDS), args.shell))
    except ImportError as error:
        raise UsageError('shell completion needs shtab: pip install "looplint[completion]"') from error
    return NOTHING_FOUND


_COMMANDS: dict[str, arguments.Command] = {
    "check": _check,
    "baseline": _write_baseline,
    "rules": _rules,
    "explain": _explain,
    "map": _map,
    "init": _init,
    "server": _server,
    "generate-shell-completion": _completion,
}


# -- terminals ----------------------------------------------------------------------------------------------------


def _wants_colour(choice: str, stream: TextIO) -> bool:
    if choice != "auto":
        return choice == "always"
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    return stream.isatty() and os.environ.get("TERM") != "dumb"


def _complain(kind: str, message: str) -> None:
    """One line on stderr."""
    from lint_rules.output.page import plain

    with suppress(OSError):  # when nobody listens, there is nobody to tell
        print(f"looplint: {kind}: {plain(message)}", file=sys.stderr)


def _escape_unprintable() -> None:
    """Print what the terminal's encoding lacks as escapes instead of failing."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")


def _open_missing_streams() -> None:
    """Standard streams that were closed by whoever started us lead nowhere; else a file we open would take their place.

    Standard input stays None: who reads it is to know.
    """
    if None in (sys.stdin, sys.stdout, sys.stderr):
        while (descriptor := os.open(os.devnull, os.O_RDWR)) <= 2:
            os.set_inheritable(descriptor, True)
        os.close(descriptor)
        sys.stdout = sys.stdout or open(os.devnull, "w")  # noqa: SIM115
        sys.stderr = sys.stderr or open(os.devnull, "w")  # noqa: SIM115


def _let_go(stream: TextIO) -> None:
    """Let Python's last flush of a stream go nowhere if it would fail, for it would say so and change the exit code."""
    try:
        stream.flush()
    except (OSError, ValueError):
        with suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
