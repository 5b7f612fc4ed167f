"""The command line from outside: words in; text, exit code and quiet endings out."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from marked_engine import Project, reporting, seeing

import lint_rules
from lint_rules import check, processes, run
from lint_rules.finding import NOT_ANALYSED, Finding, Misread, Span
from lint_rules.picture import Sheet
from lint_rules.rules.catalogue import RULES

posix = pytest.mark.skipif(os.name != "posix", reason="signals and process groups")


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Project:
    return Project(tmp_path, monkeypatch, capsys)


# -- exit codes and the summary -----------------------------------------------------------------------------------


def test_nothing_found(project: Project) -> None:
    project.write("a.py", "b.py", content="x = 1\n")
    run = project.run("check")
    assert (run.code, run.out, run.err) == (0, "All clear: 2 files checked.\n", "")


def test_problems_found(project: Project) -> None:
    project.write("a.py", content="x = 1  # AGL301 one\ny = 2  # AGL101 two\n")
    project.write("b.py", content="x = 1\n")
    run = project.run("check")
    assert run.code == 1
    assert run.out.splitlines()[-1] == "Found 2 problems in 1 file (2 files checked)."


def test_a_file_that_is_not_analysed_counts_more_than_problems(project: Project) -> None:
    project.write("a.py")
    project.write("b.py", content="BOOM")
    run = project.run("check")
    assert run.code == 2
    assert run.out.splitlines()[-1] == "Found 1 problem in 1 file (1 file checked, 1 could not be checked)."


def test_all_clear_is_not_said_of_what_could_not_be_checked(project: Project) -> None:
    run = project.run("check", "missing.py")
    assert (run.code, run.out) == (2, "No problems found (0 files checked, 1 could not be checked).\n")


def test_suppressed_findings_are_counted(project: Project) -> None:
    project.write("a.py", content="x = 1  # noqa\n")
    assert project.run("check").out == "All clear: 1 file checked, 1 problem suppressed by noqa.\n"


def test_a_misread_noqa_is_told_in_every_run(project: Project) -> None:
    project.use(lambda *_, **__: check.Report((), 2, (Misread(3, "`# noqa: x` is no list"),)))
    project.write("a.py")
    for _ in range(2):
        run = project.run("check")
        assert (run.code, run.err) == (0, "looplint: warning: a.py:3: `# noqa: x` is no list\n")
    assert project.run("check", "--quiet").err == ""


@pytest.mark.parametrize("content", ["x = 1  # AGL301 a problem", "BOOM"])
def test_exit_zero_whatever_is_found_in_files(project: Project, content: str) -> None:
    project.write("a.py", content=content)
    assert project.run("check").code != 0
    assert project.run("check", "--exit-zero").code == 0


@pytest.mark.parametrize("words", [["missing.py"], ["--select=AGL8"], ["--unheard-of"]])
def test_exit_zero_hides_no_failure_of_ours(project: Project, words: list[str]) -> None:
    project.write("a.py")
    assert project.run("check", "--exit-zero", *words).code == 2


# -- usage --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["check", "--unheard-of"], "--unheard-of"),
        (["check", "--output-format", "xml"], "xml"),
        (["check", "--jobs", "0"], "from 1 up, got '0'"),
        (["check", "--jobs", "some"], "from 1 up, got 'some'"),
        (["check", "--sel", "AGL1"], "there is no option --sel (did you mean '--select'?)"),
        (["check", "--slect=AGL1", "a.py"], "there is no option --slect (did you mean '--select'?)"),
        (["check", "a.py", "--exitzero"], "there is no option --exitzero (did you mean '--exit-zero'?)"),
        (["rules", "--output-fromat", "json"], "did you mean '--output-format'?"),
        (["check", "-z"], "there is no option -z; `looplint check --help`"),
        (["explain", "AGL301", "AGL302"], "unrecognized arguments: AGL302"),
        (["check", "--isolated", "--config", "x.toml"], "not allowed with"),
        (["check", "--stdin-filename", "a.py", "b.py"], "--stdin-filename"),
        (["check", "--statistics", "--output-format", "github"], "--statistics"),
        (["chek"], "did you mean 'check'?"),
        (["explain"], "RULE"),
        (["explain", "AGL999"], "'AGL999'"),
        (["explain", "AGL5O1"], "did you mean 'AGL501'?"),
        (["explain", "agl301"], "did you mean 'AGL301'?"),
        (["explain", "ignored-jsn-error"], "did you mean 'ignored-json-error'?"),
        (["map", "missing.py"], "missing.py: no such file"),
    ],
)
def test_usage_errors_are_one_line_that_names_the_word(project: Project, words: list[str], complaint: str) -> None:
    run = project.run(*words)
    assert (run.code, run.out) == (2, "")
    assert run.err.startswith("looplint: error: ")
    assert complaint in run.err
    assert run.err.count("\n") == 1


def test_a_path_without_check_is_understood(project: Project) -> None:
    project.write("a.py")
    assert "looplint check a.py" in project.run("a.py").err


def test_no_words_at_all(project: Project) -> None:
    run = project.run()
    assert run.code == 2
    assert "check" in run.err


@pytest.mark.parametrize("words", [["--help"], ["check", "--help"], ["map", "-h"]])
def test_help(project: Project, words: list[str]) -> None:
    run = project.run(*words)
    assert run.code == 0
    assert run.out.startswith("usage: looplint")


def test_version(project: Project) -> None:
    assert project.run("--version").out == f"looplint {lint_rules.__version__}\n"


# -- options of output --------------------------------------------------------------------------------------------


def test_quiet_prints_findings_only(project: Project) -> None:
    project.write("a.py", content="x = 1\n")
    assert project.run("check", "--quiet") == project.run("check", "-q")
    assert project.run("check", "-q").out == ""
    project.write("a.py")
    assert "Found" not in project.run("check", "-q").out
    assert "AGL301" in project.run("check", "-q").out


def test_quiet_still_says_what_went_wrong(project: Project) -> None:
    run = project.run("check", "-q", "missing.py")
    assert (run.out, run.err) == ("", "looplint: error: missing.py: no such file or folder\n")


def test_a_folder_without_python_files_is_remarked(project: Project) -> None:
    project.write("readme.txt")
    run = project.run("check")
    assert (run.code, run.out) == (0, "No problems found (0 files checked).\n")
    assert run.err.startswith("looplint: warning: no Python files to check in . (")
    assert project.run("check", "-q").err == ""


def test_a_selection_of_nothing_is_remarked(project: Project) -> None:
    project.write("a.py")
    run = project.run("check", "--select", "AGL301", "--ignore", "AGL301")
    assert run.code == 0
    assert "no rule is selected" in run.err


def test_statistics(project: Project) -> None:
    project.write("a.py", content="x  # AGL301 m\n" * 11 + "y  # AGL101 m\n")
    run = project.run("check", "--statistics")
    assert run.code == 1
    assert run.out.splitlines() == [
        "11  AGL301  a-name",
        " 1  AGL101  a-name",
        "Found 12 problems in 1 file (1 file checked).",
    ]


def test_statistics_as_json(project: Project) -> None:
    project.write("a.py", "b.py")
    assert project.check("--statistics").json == [{"code": "AGL301", "name": "a-name", "count": 2}]


@pytest.mark.parametrize(
    ("words", "environment", "coloured"),
    [
        ([], {}, False),
        (["--color", "always"], {"NO_COLOR": "1"}, True),
        (["--color=never"], {"FORCE_COLOR": "1"}, False),
        ([], {"FORCE_COLOR": "1"}, True),
        (["--color=auto"], {"FORCE_COLOR": "1", "NO_COLOR": "1"}, False),
        ([], {"FORCE_COLOR": ""}, False),
    ],
)
def test_colour(
    project: Project,
    monkeypatch: pytest.MonkeyPatch,
    words: list[str],
    environment: dict[str, str],
    coloured: bool,
) -> None:
    project.write("a.py")
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert ("\x1b[" in project.run("check", *words).out) is coloured


def test_colour_on_a_terminal(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    project.write("a.py")
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setenv("TERM", "xterm")
    assert "\x1b[" in project.run("check").out
    monkeypatch.setenv("TERM", "dumb")
    assert "\x1b[" not in project.run("check").out


def test_no_cache_is_accepted(project: Project) -> None:
    project.write("a.py")
    assert project.check("--no-cache").paths == ["a.py"]


# -- the user's words reach the engine ----------------------------------------------------------------------------


def test_vocabulary(project: Project) -> None:
    project.write("a.py")
    seen: dict[str, check.Options] = {}
    project.use(seeing(seen))
    project.run("check", "--llm-calls=my.ask, my.chat", "--llm-calls", "more", "--history-names=log")
    assert seen["a.py"].vocabulary == check.Vocabulary(llm_calls=("my.ask", "my.chat", "more"), history_names=("log",))


# -- standard input -----------------------------------------------------------------------------------------------


def test_stdin(project: Project) -> None:
    run = project.run("check", "-", stdin=b"x = 1  # AGL301 a problem")
    assert run.code == 1
    assert run.out.startswith("<stdin>:1:1: AGL301")
    assert "1 | x = 1" in run.out, "source lines come from standard input, too"


def test_stdin_has_the_name_and_settings_of_its_file(project: Project) -> None:
    project.configure("ignore = ['AGL301']", folder="sub")
    source = b"x  # AGL301 m\ny  # AGL101 m\n"
    run = project.check("-", "--stdin-filename", "sub/new.py", stdin=source)
    assert [(found["path"], found["code"]) for found in run.json] == [(os.path.join("sub", "new.py"), "AGL101")]
    assert len(project.check("-", "--stdin-filename", "new.py", stdin=source).json) == 2


def test_stdin_filename_alone_means_stdin(project: Project) -> None:
    assert project.check("--stdin-filename", "a.py", stdin=b"x  # AGL301 m").paths == ["a.py"]


def test_stdin_is_excluded_only_by_force(project: Project) -> None:
    words = ("-", "--stdin-filename", "gen/a.py", "--exclude", "gen")
    assert project.check(*words, stdin=b"x  # AGL301 m").paths == ["gen/a.py"]
    run = project.check(*words, "--force-exclude", stdin=b"x  # AGL301 m")
    assert (run.code, run.paths) == (0, [])


def test_stdin_and_files_together(project: Project) -> None:
    project.write("a.py")
    assert project.check("a.py", "-", stdin=b"x  # AGL301 m").paths == ["<stdin>", "a.py"]


# -- rules, explain, map ------------------------------------------------------------------------------------------


def test_rules_lists_every_rule(project: Project) -> None:
    head, *rows = project.run("rules").out.splitlines()
    assert head.split() == ["code", "name", "group", "summary"]
    assert [row.split(None, 3) for row in rows] == [[rule.code, rule.name, rule.group, rule.summary] for rule in RULES]


def test_rules_as_json(project: Project) -> None:
    listed = project.run("rules", "--output-format", "json").json
    assert listed == [
        {
            "code": rule.code,
            "name": rule.name,
            "group": rule.group,
            "package": "looplint",
            "summary": rule.summary,
        }
        for rule in RULES
    ]


@pytest.mark.parametrize("word", ["AGL301", "stale-history-snapshot"])
def test_explain_prints_the_page(project: Project, monkeypatch: pytest.MonkeyPatch, word: str) -> None:
    monkeypatch.setattr("lint_rules.rules.catalogue.Rule.page", lambda rule: f"# The page of {rule.code}\n")
    run = project.run("explain", word)
    assert (run.code, run.out) == (0, "# The page of AGL301\n")


@pytest.mark.parametrize("prefix", ["AGL", "AGL5", "AGL50"])
def test_explain_lists_the_rules_of_a_prefix(project: Project, prefix: str) -> None:
    run = project.run("explain", prefix)
    assert (run.code, run.err) == (0, "")
    listed = [line.split()[0] for line in run.out.splitlines()[1:]]
    assert listed == [rule.code for rule in RULES if rule.code.startswith(prefix)]


def test_explain_the_notice(project: Project) -> None:
    assert project.run("explain", NOT_ANALYSED).out.startswith("# not-analysed (AGL000)")


def test_map(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    project.write("sub/a.py", content="source = 1")
    project.configure("history-names = ['log']", folder="sub")

    def map_source(
        source: bytes, path: str, options: check.Options, *, neighbours: check.Neighbours, findings: tuple[Finding, ...]
    ) -> Sheet:
        words = f"{source!r} {options.vocabulary.history_names} {neighbours('sub/a.py', '.a')} {len(findings)}"
        return Sheet(path, reaching=(words,))

    monkeypatch.setattr(check, "map_source", map_source)
    run = project.run("map", "sub/a.py", "--format", "json")
    assert (run.code, run.err) == (0, "")
    [file] = json.loads(run.out)["files"]
    assert file["path"] == os.path.join("sub", "a.py")
    assert file["reaching"] == ["b'source = 1' ('log',) None 0"]


def test_map_of_what_cannot_be_analysed(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    project.write("a.py")

    def map_source(*_: object, **__: object) -> Sheet:
        raise ValueError("too deep")

    monkeypatch.setattr(check, "map_source", map_source)
    run = project.run("map", "a.py")
    assert (run.code, run.out, run.err) == (2, "", "looplint: error: a.py: too deep\n")


# -- many files ---------------------------------------------------------------------------------------------------


@pytest.fixture
def in_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every run of two files or more uses processes. They are forked, so that they know the stand-in engine."""
    import multiprocessing

    if "fork" not in multiprocessing.get_all_start_methods():
        pytest.skip("needs fork")
    monkeypatch.setattr(run, "FEW_FILES", 2)
    monkeypatch.setattr(run, "FEW_BYTES", 0)
    monkeypatch.setattr(processes, "_context", lambda: multiprocessing.get_context("fork"))


@pytest.mark.usefixtures("in_processes")
def test_processes_keep_the_order(project: Project) -> None:
    names = [f"{number:02}.py" for number in range(40)]
    project.write(*names)
    pids = set()
    project.use(lambda source, path, options, **_: reporting(whose(path))(source, path, options))
    run = project.check("--jobs", "2")
    assert run.paths == names
    pids = {found["message"] for found in run.json}
    assert 1 <= len(pids) <= 2
    assert str(os.getpid()) not in pids


def whose(path: str) -> Finding:
    """A finding that tells which process made it."""
    return Finding(path, Span(1, 1, 1, 2), "AGL301", "a-name", str(os.getpid()))


def test_forked_processes_share_what_is_loaded(tmp_path: Path) -> None:
    """libcst is the dearest of it, and Python tells of each import in each process."""
    import multiprocessing

    if "fork" not in multiprocessing.get_all_start_methods():
        pytest.skip("needs fork")
    root = Path(lint_rules.__file__).parent.parent
    agent = root / "fixtures/shallow_message_copy/good_deep_copies.py"
    (tmp_path / "0.py").write_text("messages = 1\n" * 20_000, encoding="utf-8")  # no agent, though the first and large
    for number in range(1, 8):
        (tmp_path / f"{number}.py").write_bytes(agent.read_bytes())
    script = (
        "import multiprocessing\n"
        "from lint_rules import cli, processes, run\n"
        "run.FEW_FILES = run.FEW_BYTES = 0\n"
        "processes._context = lambda: multiprocessing.get_context('fork')\n"
        "raise SystemExit(cli.main(['check', '--no-cache', '--isolated', '--jobs=2', '.']))\n"
    )
    words = [sys.executable, "-X", "importtime", "-c", script]
    done = subprocess.run(words, cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(root)}, capture_output=True)
    loaded = [line.rpartition(b"|")[2].strip() for line in done.stderr.splitlines()]
    assert done.returncode == 0
    assert loaded.count(b"libcst") == 1


@pytest.mark.usefixtures("in_processes")
def test_one_job_is_this_process(project: Project) -> None:
    project.write("a.py", "b.py", "c.py")
    project.use(lambda source, path, options, **_: reporting(whose(path))(source, path, options))
    assert {found["message"] for found in project.check("--jobs=1").json} == {str(os.getpid())}


@pytest.mark.usefixtures("in_processes")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")  # outside tests, a second pool would not be forked
def test_a_process_that_dies_costs_one_file(project: Project) -> None:
    names = [f"{number}.py" for number in range(9)]
    project.write(*names)
    project.write("4.py", content="DIE")
    run = project.check("--jobs", "2")
    assert run.code == 2
    assert run.paths == names
    assert [found["path"] for found in run.json if found["code"] == NOT_ANALYSED] == ["4.py"]
    assert "died" in run.json[4]["message"]


@pytest.mark.usefixtures("in_processes")
def test_without_processes_the_work_is_done_here(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError("no semaphores here")

    monkeypatch.setattr("concurrent.futures.ProcessPoolExecutor", refuse)
    project.write("a.py", "b.py")
    assert project.check("--jobs=2").paths == ["a.py", "b.py"]


@pytest.mark.parametrize("method", ["the preferred one", "spawn"])
def test_real_processes(tmp_path: Path, method: str) -> None:
    """As users start them."""
    for number in range(20):
        (tmp_path / f"{number:02}.py").write_text("x = (\n" + "# filler\n" * 2000)
    script = "import multiprocessing; from lint_rules import cli, processes\n"
    if method == "spawn":
        script += "processes._context = lambda: multiprocessing.get_context('spawn')\n"
    script += "if __name__ == '__main__': raise SystemExit(cli.main(['check', '--output-format=json', '--jobs=2']))\n"
    done = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, capture_output=True, timeout=60)
    assert done.returncode == 2
    assert [found["path"] for found in json.loads(done.stdout)] == [f"{number:02}.py" for number in range(20)]
    assert done.stderr == b""


# -- quiet endings ------------------------------------------------------------------------------------------------


def test_an_error_of_our_own_is_one_line(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise RuntimeError("odd\nthing")

    monkeypatch.setattr(run, "plan", fail)
    result = project.run("check")
    assert result.code == 2
    assert re.fullmatch(
        r"looplint: error: this is a bug in looplint, please report it: RuntimeError: odd thing \(test_cli\.py:\d+\)\n",
        result.err,
    )


def test_ctrl_c(project: Project) -> None:
    def interrupted(*_: object, **__: object) -> check.Report:
        raise KeyboardInterrupt

    project.write("a.py")
    project.use(interrupted)
    result = project.run("check")
    assert (result.code, result.out, result.err) == (130, "", "")


@posix
def test_ctrl_c_with_processes(tmp_path: Path) -> None:
    """Ctrl-C reaches the whole process group: all end at once, and none says a word."""
    with at_work_in_processes(tmp_path) as started:
        os.killpg(started.pid, signal.SIGINT)
        out, err = started.communicate(timeout=20)
    assert (started.returncode, out, err) == (130, b"", b"")
    with pytest.raises(ProcessLookupError):
        os.killpg(started.pid, 0)


@posix
@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGKILL], ids=lambda how: how.name)
def test_processes_end_with_their_parent(tmp_path: Path, how: signal.Signals) -> None:
    """A CI job that runs out of time kills the parent alone."""
    with at_work_in_processes(tmp_path) as started:
        started.send_signal(how)
        started.communicate(timeout=20)  # ends when nobody holds the pipes any more


@contextmanager
def at_work_in_processes(folder: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A run in a group of its own, whose two processes are busy for a minute."""
    (folder / "a.py").write_text("")
    (folder / "b.py").write_text("")
    script = (
        "import multiprocessing, os, signal, time\n"
        "from lint_rules import check, cli, processes, run\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"  # a job in the background is born deaf to it
        "def slow(*_, **__):\n"
        "    open(f'started-{os.getpid()}', 'w').close()\n"
        "    time.sleep(60)\n"
        "check.check_source = slow\n"
        "run.FEW_FILES = run.FEW_BYTES = 0\n"
        "processes._context = lambda: multiprocessing.get_context('fork')\n"
        "raise SystemExit(cli.main(['check', '--jobs=2', 'a.py', 'b.py']))\n"
    )
    started = subprocess.Popen(
        [sys.executable, "-c", script],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    try:
        deadline = time.monotonic() + 20
        while len(list(folder.glob("started-*"))) < 2:
            assert time.monotonic() < deadline, "the processes did not start"
            time.sleep(0.02)
        yield started
    finally:
        with suppress(ProcessLookupError):
            os.killpg(started.pid, signal.SIGKILL)
        started.communicate()


@posix
def test_a_reader_that_leaves(tmp_path: Path) -> None:
    """As in `looplint check | head -1`."""
    for number in range(12):
        (tmp_path / f"{number}.py").write_text("x = (\n" + "# filler\n" * 10)
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "wb") as nobody:
        done = subprocess.run(
            [sys.executable, "-m", "lint_rules", "check"],
            cwd=tmp_path,
            stdout=nobody,
            stderr=subprocess.PIPE,
            timeout=60,
        )
    assert (done.returncode, done.stderr) == (130, b"")


# -- cheap start --------------------------------------------------------------------------------------------------


def test_importing_the_command_line_is_cheap() -> None:
    script = "import sys, lint_rules.cli.check; print(*sorted(sys.modules))"
    loaded = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout.split()
    heavy = {"libcst", "rich", "tomllib", "multiprocessing", "concurrent.futures", "json", "difflib"}
    assert "lint_rules.cli" in loaded
    assert not heavy & set(loaded)


def test_a_check_without_agents_never_imports_libcst(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("x = 1\n")
    script = "import sys; from lint_rules.cli import main; main(['check', 'a.py']); print('libcst' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["All clear: 1 file checked.", "False"]
