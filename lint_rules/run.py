"""Many files: which ones, with which options, in this process or in several."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from lint_rules import check, files, saving
from lint_rules.cache import Cache, Digests, digest
from lint_rules.errors import PLEASE_REPORT, describe, reason
from lint_rules.files import Trouble
from lint_rules.finding import NOT_ANALYSED, Finding, Misread, Report, Span
from lint_rules.gate import mentions
from lint_rules.importers import Given
from lint_rules.layer import SettingsError
from lint_rules.noting import NotingProject
from lint_rules.options import Wish
from lint_rules.paths import absolute, is_notebook, shown
from lint_rules.settings import Resolver

if TYPE_CHECKING:
    from lint_rules.fix import Applied, Dropped

COLLECTIONS = 1_000_000, 20, 20
"""When Python looks for garbage: a tree is many objects that live as long as its file, and leaves little. Rarely."""
FEW_FILES = 2
FEW_BYTES = 256 * 1024
FEW_AGENT_BYTES = 48 * 1024
"""Starting processes costs more than it saves below the first, and below both others: what speaks of agents takes
many times as long as what does not."""
AHEAD_FILES = 512
AHEAD_BYTES = 128 * 1024
"""Of so many, the smallest first, the first process finds out whether any will be analysed, before it starts others."""


class Task(NamedTuple):
    """One file to check. `path` is as shown to people; `source` is given for standard input only."""

    path: str
    options: check.Options
    source: bytes | None = None
    wish: Wish = Wish()
    """What may be fixed; fixed it is only if `fix` is set."""
    fix: bool = False
    report_unused_noqa: bool = False


class Rewrite(NamedTuple):
    """The bytes of a file before and after the fixes that were applied."""

    before: bytes
    after: bytes
    applied: tuple[Applied, ...]


class Outcome(NamedTuple):
    """What came of a task: findings, or the reason why the file could not be read."""

    path: str
    findings: tuple[Finding, ...] = ()
    suppressed: int = 0
    misread: tuple[Misread, ...] = ()
    error: str | None = None
    rewrite: Rewrite | None = None
    unsaved: str | None = None
    """Why the fixes were not written; the findings are those of the file as it is."""
    dropped: tuple[Dropped, ...] = ()
    neighbours: Digests = ()
    """The modules nearby that were asked for."""
    content: str | None = None
    """The digest of the bytes, if the same will be found in the same bytes again."""


class Sifted(NamedTuple):
    """Outcomes without what is not to be reported, and how much that was."""

    outcomes: Sequence[Outcome]
    known: int = 0
    """Findings that the baseline lists."""
    unchanged: int = 0
    """Findings on lines that did not change."""
    solved: tuple[str, ...] = ()
    """What the baseline lists and is not there any more, in words."""


_Settle = Callable[[Task, Outcome], Outcome]
_given = Given()
"""The files of this run."""


class Plan:
    """The tasks of a run in their order, and the paths that could not be looked at."""

    def __init__(self) -> None:
        self.tasks: list[Task] = []
        self.troubles: list[Trouble] = []


# -- what to check ------------------------------------------------------------------------------------------------


def plan(
    names: Iterable[str],
    resolver: Resolver,
    stdin: bytes | None = None,
    stdin_filename: str | None = None,
    *,
    fix: bool = False,
    unsafe: bool = False,
) -> Plan:
    """Find the files that `names` stand for, and the options of each.

    Standard input, if given, is checked first, with the settings of the file it is said to be; that need not exist.
    With `fix`, what has a fix is fixed: a safe one or, with `unsafe`, any.
    """
    planner = _Planner(resolver, fix, unsafe)
    if stdin is not None:
        path = absolute(stdin_path(stdin_filename))
        if stdin_filename is None or not planner.forces(path) or not planner.excludes_named(path, is_dir=False):
            planner.add(path, stdin)
    for found in files.discover(names, planner):
        if isinstance(found, Trouble):
            planner.plan.troubles.append(found)
        else:
            planner.add(found)
    return planner.plan


def stdin_path(filename: str | None) -> str:
    """The path under which standard input is shown."""
    return shown(absolute(filename)) if filename else "<stdin>"


class _Planner:
    """Gathers a plan; also the policy of discovery. A configuration file that cannot be used is noted once."""

    def __init__(self, resolver: Resolver, fix: bool, unsafe: bool) -> None:
        self.plan = Plan()
        self._resolver = resolver
        self._fix = fix
        self._unsafe = unsafe
        self._noted: set[SettingsError] = set()

    def add(self, path: str, source: bytes | None = None) -> None:
        try:
            settings = self._resolver.settings(os.path.dirname(path))
            options = settings.options(path)
        except SettingsError as error:
            self._note(error)
        else:
            wish = Wish(self._unsafe, settings.fixable)
            task = Task(shown(path), options, source, wish, self._fix, settings.report_unused_noqa)
            self.plan.tasks.append(task)

    def excludes(self, path: str, is_dir: bool) -> bool:
        try:
            return self._resolver.settings(os.path.dirname(path)).excludes(path, is_dir)
        except SettingsError as error:
            self._note(error)
            return True

    def forces(self, path: str) -> bool:
        try:
            return self._resolver.settings(os.path.dirname(path)).force_exclude
        except SettingsError:
            return False  # noted when the file is added, or by what is met below the folder

    def excludes_named(self, path: str, is_dir: bool) -> bool:
        return self._resolver.settings(os.path.dirname(path)).excludes_with_parents(path, is_dir)

    def _note(self, error: SettingsError) -> None:
        if error not in self._noted:
            self._noted.add(error)
            self.plan.troubles.append(Trouble(error.path or "", error.message))


# -- checking -----------------------------------------------------------------------------------------------------


def check_tasks(
    tasks: Sequence[Task], jobs: int | None = None, cache: Cache | None = None, *, write: bool = False
) -> Iterator[Outcome]:
    """Check files; outcomes come in the order of the tasks. `jobs` is the most processes to use, None for one a CPU.

    What `cache` knows is not analysed; what it did not know, it does when the last outcome was given. With `write`,
    each file that is fixed is written at once, in this process, whether or not it is its turn.
    """
    files.forget_neighbours()
    _begin(tuple(task.path for task in tasks if task.source is None))
    settle = _saved if write else _unwritten
    found = _check_all(tasks, jobs, settle) if cache is None else _check_unknown(tasks, jobs, settle, cache)
    return (_offered(task, outcome) for task, outcome in zip(tasks, found, strict=True))


def _check_unknown(tasks: Sequence[Task], jobs: int | None, settle: _Settle, cache: Cache) -> Iterator[Outcome]:
    """Check what the cache does not know, and let it know."""
    known = [_remembered(task, cache) for task in tasks]
    fresh = _check_all([task for task, found in zip(tasks, known, strict=True) if found is None], jobs, settle)
    try:
        for task, remembered in zip(tasks, known, strict=True):
            outcome = remembered or next(fresh)
            if remembered is None and outcome.content is not None:
                report = Report(outcome.findings, outcome.suppressed)
                cache.note(task.path, outcome.content, task.options, report, outcome.neighbours)
            yield outcome
    finally:
        cache.save()


def _remembered(task: Task, cache: Cache) -> Outcome | None:
    """What is known of a file; nothing of one that is to be fixed, or that cannot be read."""
    if task.fix or task.source is not None:
        return None
    try:
        source = files.read_program(task.path, task.options.limits.bytes)
    except (OSError, ValueError):
        return None
    if _asks_of_noqa(task, source):
        return None
    found = cache.find(task.path, digest(source), task.options, _digest_near)
    return None if found is None else Outcome(task.path, found.findings, found.suppressed)


def _digests(noting: NotingProject) -> Digests:
    """What was asked for, also by others before that were used. Those that import a file are one, under no name."""
    asked: dict[tuple[str, str], bytes | None] = {}
    sharing: dict[str, Sequence[tuple[str, bytes]]] = {}
    for each in (noting, *noting.used):  # of what has changed meanwhile, the older: then it is looked at again
        asked.update(each.asked)
        sharing.update(each.sharing)
    near = [(*names, None if source is None else digest(source)) for names, source in asked.items()]
    return (*near, *((path, "", _digest_of_all(importing)) for path, importing in sharing.items()))


def _digest_of_all(files: Sequence[tuple[str, bytes]]) -> str:
    return digest(repr([(path, digest(source)) for path, source in files]).encode())


def _digest_near(path: str, module: str) -> str | None:
    """The digest of a module that another imports, or of those that import it, under no name."""
    if not module:
        return _digest_of_all(_given.importers(path))
    found = _given(path, module)
    return None if found is None else digest(found[1])


def _offered(task: Task, outcome: Outcome) -> Outcome:
    """An outcome that offers no fixes but those that are wanted."""
    if all(finding.fix is None or task.wish.fixes(finding.code) for finding in outcome.findings):
        return outcome
    findings = tuple(f if task.wish.fixes(f.code) else f._replace(fix=None) for f in outcome.findings)
    return outcome._replace(findings=findings)


def _check_all(tasks: Sequence[Task], jobs: int | None, settle: _Settle) -> Iterator[Outcome]:
    workers = min(jobs or _cpus(), len(tasks))
    if workers > 1 and len(tasks) >= FEW_FILES:
        sizes = [_size(task.path) for task in tasks]
        if sum(sizes) >= FEW_BYTES or (sum(sizes) >= FEW_AGENT_BYTES and _agent_bytes(tasks) >= FEW_AGENT_BYTES):
            return _check_in_processes(tasks, sizes, workers, settle)
    return (settle(task, check_task(task)) for task in tasks)


def _agent_bytes(tasks: Sequence[Task]) -> int:
    """How long those of a few files are together that plainly speak of agents."""
    held = 0
    for task in tasks:
        with suppress(OSError, ValueError):  # what is wrong with a file is told where it is checked
            source = files.read_program(task.path, task.options.limits.bytes)
            held += len(source) if mentions.plainly(source) else 0
    return held


def _check_in_processes(
    tasks: Sequence[Task], sizes: Sequence[int], workers: int, settle: _Settle
) -> Iterator[Outcome]:
    from lint_rules.processes import Work, map_in_processes

    begin = partial(_begin, _given.paths, workers)
    work = Work(check_task, settle, _died, partial(_load_ahead, tasks, sizes), begin)
    return map_in_processes(work, tasks, sizes, workers)


def _begin(paths: Sequence[str], processes: int = 1) -> None:
    """What each process does first: knows the files that were given, and looks for garbage rarely."""
    global _given
    _given = Given(paths, processes)
    gc.set_threshold(*COLLECTIONS)


def _load_ahead(tasks: Sequence[Task], sizes: Sequence[int]) -> None:
    """Loads what an analysis takes, if some file will be analysed: it is the dearest part of a process."""
    held = 0
    for place in sorted(range(len(tasks)), key=sizes.__getitem__)[:AHEAD_FILES]:
        task = tasks[place]
        with suppress(Exception):  # what is wrong with a file is told where it is checked
            source = files.read_program(task.path, task.options.limits.bytes)
            if not mentions.plainly(source):
                continue
            held += len(source)
            if held > AHEAD_BYTES:
                return
            if check.passes_gate(source, task.path, task.options, neighbours=_given):
                check.load(task.options)
                return


def check_task(task: Task) -> Outcome:
    """Check one file. Never raises: what goes wrong is an outcome, too."""
    try:
        most = 0 if is_notebook(task.path) else task.options.limits.bytes  # the outputs are not analysed
        source = files.read(task.path, most) if task.source is None else task.source
    except OSError as error:
        return Outcome(task.path, error=reason(error))
    neighbours = NotingProject(_given, _given.known)
    try:
        if is_notebook(task.path):
            return _of_notebook(task, source, neighbours)
        return (_fixed if task.fix else _checked)(task, source, neighbours)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # a panic in native code (libcst's parser) is no Exception
        return _failure(task.path, f"looplint itself failed on this file: {describe(error)}")


def _of_notebook(task: Task, source: bytes, neighbours: NotingProject) -> Outcome:
    """What comes of the program of a notebook; the fixes are those of the notebook."""
    from lint_rules import notebook

    try:
        program = notebook.program(source)
    except ValueError as error:
        return Outcome(task.path, (Finding(task.path, Span(1, 1, 1, 2), NOT_ANALYSED, "not-analysed", str(error)),))
    outcome = (_fixed if task.fix else _checked)(task, program, neighbours)
    if outcome.rewrite is None:
        return outcome
    try:
        after = notebook.written(source, outcome.rewrite.after)
    except ValueError as error:
        return _checked(task, program, neighbours)._replace(unsaved=f"left as it is: {error}")
    return outcome._replace(rewrite=outcome.rewrite._replace(before=source, after=after))


def _checked(task: Task, source: bytes, neighbours: NotingProject) -> Outcome:
    report = check.check_source(source, task.path, task.options, neighbours=neighbours)
    # Not from a file, or not understood: the same bytes may bring something else next time. Misread: to be said again.
    understood = not report.misread and all(finding.code != NOT_ANALYSED for finding in report.findings)
    return Outcome(
        task.path,
        _with_unused_noqa(task, source, report.findings),
        report.suppressed,
        report.misread,
        neighbours=_digests(neighbours),
        content=digest(source) if understood and task.source is None and not _asks_of_noqa(task, source) else None,
    )


def _asks_of_noqa(task: Task, source: bytes) -> bool:
    return task.report_unused_noqa and b"noqa" in source.lower()


def _with_unused_noqa(task: Task, source: bytes, found: tuple[Finding, ...]) -> tuple[Finding, ...]:
    """Findings, with those of comments that hide nothing, if that is asked: what there is without comments tells."""
    if not _asks_of_noqa(task, source) or any(finding.code == NOT_ANALYSED for finding in found):
        return found
    from lint_rules.noqa import unused_noqa

    bare = check.check_source(source, task.path, task.options, neighbours=_given, noqa=False)
    unused = unused_noqa(files.decode(source), task.path, bare.findings, task.options.codes)
    return tuple(sorted((*found, *unused), key=lambda finding: (finding.span, finding.code)))


def _fixed(task: Task, source: bytes, neighbours: NotingProject) -> Outcome:
    from lint_rules.fix import fix_source

    fixed = fix_source(source, task.path, task.options, task.wish, neighbours=neighbours)
    return Outcome(
        task.path,
        _with_unused_noqa(task, fixed.source, fixed.report.findings),
        fixed.report.suppressed,
        fixed.report.misread,
        rewrite=Rewrite(source, fixed.source, fixed.applied) if fixed.source != source else None,
        dropped=fixed.dropped,
    )


def fixes_apart(task: Task, source: bytes) -> Iterator[tuple[tuple[str, Span], bytes]]:
    """By code and place of each finding of a file that may be fixed, the bytes of the file after its fix alone."""
    from lint_rules.fix import each_fix

    def wanted(finding: Finding) -> bool:
        return task.wish.fixes(finding.code)

    for finding, after in each_fix(source, task.path, task.options, wanted, neighbours=_given):
        yield (finding.code, finding.span), after


def _unwritten(task: Task, outcome: Outcome) -> Outcome:
    return outcome


def _saved(task: Task, outcome: Outcome) -> Outcome:
    """Write the file of an outcome, if it was fixed. If that fails, the outcome is that of the file as it is."""
    if outcome.rewrite is None or task.source is not None:
        return outcome
    try:
        saving.save(task.path, outcome.rewrite.before, outcome.rewrite.after)
    except saving.Refused as error:
        unsaved = f"left as it is: {error}"
    except saving.Torn as error:
        unsaved = str(error)
    except OSError as error:
        unsaved = f"cannot be written: {reason(error)}"
    else:
        return outcome
    return check_task(task._replace(fix=False))._replace(unsaved=unsaved)


def clear(tasks: Iterable[Task]) -> Iterator[Trouble]:
    """Clear what fixing runs that were killed left beside these files; gives what somebody has to look at."""
    for folder in sorted({os.path.dirname(os.path.realpath(task.path)) for task in tasks if task.source is None}):
        for path, advice in saving.clear(folder):
            yield Trouble(shown(path), advice)


def _died(task: Task, code: int) -> Outcome:
    import signal

    how = f"exit code {code}"
    if code < 0:
        with suppress(ValueError):  # a signal that has no name
            how = signal.Signals(-code).name
    if how == "SIGKILL":
        how += ": memory may have run out"
    return _failure(task.path, f"the process that checked this file died ({how})")


def _failure(path: str, message: str) -> Outcome:
    """The outcome of a file that brought looplint down."""
    advice = f"{PLEASE_REPORT}; `--exclude` leaves the file out until then"
    return Outcome(path, (Finding(path, Span(1, 1, 1, 2), NOT_ANALYSED, "not-analysed", message, help=advice),))


def _size(path: str) -> int:
    try:
        return os.stat(path).st_size
    except OSError:
        return 0


def _cpus() -> int:
    """The CPUs this process may use: fewer than there are, in a container."""
    if sys.platform == "linux":
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
