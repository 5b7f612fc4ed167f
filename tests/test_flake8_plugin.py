"""The flake8 door, through flake8 itself. Most tests put `echo_engine` in the engine's place, the last ones do not."""

from __future__ import annotations

import multiprocessing
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from flake8.options.manager import OptionManager

from lint_rules.flake8_plugin import AgentLoopPlugin
from lint_rules.rules import catalogue

TESTS = Path(__file__).parent
FIXTURES = TESTS.parent / "fixtures"
ECHO = f"[flake8:local-plugins]\nextension = ECH = echo_engine:Nothing\npaths = {TESTS}\n[flake8]\n"


@dataclass(frozen=True)
class Run:
    code: int
    out: str
    err: str

    @property
    def places(self) -> list[str]:
        """`file.py:1:1 AGL101` for each entry."""
        return [re.sub(r"^(?:\./)?(\S+): (\S+) .*", r"\1 \2", line) for line in self.out.splitlines()]


class Folder:
    """A project in which flake8 runs with the echo engine."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.configure("")

    def configure(self, text: str) -> None:
        (self.path / ".flake8").write_text(ECHO + text)

    def write(self, **sources: str | bytes) -> None:
        for name, source in sources.items():
            content = source if isinstance(source, bytes) else source.encode()
            (self.path / f"{name}.py").write_bytes(content)

    def flake8(self, *arguments: str, stdin: bytes = b"", module: tuple[str, ...] = ("-m", "flake8")) -> Run:
        done = subprocess.run(
            [sys.executable, *module, "-j1", *arguments],
            cwd=self.path,
            input=stdin,
            capture_output=True,
            timeout=600,
        )
        return Run(done.returncode, done.stdout.decode(), done.stderr.decode())


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    return Folder(tmp_path)


def test_places_are_those_of_the_text_flake8_read(folder: Folder) -> None:
    folder.write(
        plain="x = 'AGL101'\n",
        wide="x = 'é\U0001f600', 'AGL101'\n",
        crlf=b"y = 1\r\nx = 'AGL101'\r\n",
        bom=b"\xef\xbb\xbfx = 'AGL101'\n",
        bom_cookie=b"\xef\xbb\xbf# coding: utf-8\nx = 'AGL101'\n",
        form_feed=b"\x0cx = 1\n\x0cx = 'AGL101'\n",
        latin="# -*- coding: latin-1 -*-\nx = 'é', 'AGL101'\n".encode("latin-1"),
        cyrillic="\n# vim: set fileencoding=cp1251 :\nx = 'я', 'AGL101'\n".encode("cp1251"),
        coding_twice="# coding: latin-1 coding: cp1251\nx = 'é', 'AGL101'\n".encode("latin-1"),
        no_cookie="x = 1\n# coding: latin-1 é AGL101\n",
        cookie_in_string="'''\n# coding: latin-1 é AGL101 RELATED coding\n'''\n",
        empty="",
    )
    run = folder.flake8("--select=AGL")
    assert "(see coding:2: the other place)" in run.out, "the text of a string was changed"
    assert run.places == [
        "bom.py:1:6 AGL101",
        "bom_cookie.py:2:6 AGL101",
        "coding_twice.py:2:11 AGL101",
        "cookie_in_string.py:2:21 AGL101",
        "crlf.py:2:6 AGL101",
        "cyrillic.py:3:11 AGL101",
        "form_feed.py:2:7 AGL101",
        "latin.py:2:11 AGL101",
        "no_cookie.py:2:21 AGL101",
        "plain.py:1:6 AGL101",
        "wide.py:1:12 AGL101",
    ]


def test_stdin_has_its_display_name(folder: Folder) -> None:
    source = "# coding: latin-1\nx = 'é', 'AGL101'\n".encode("latin-1")
    run = folder.flake8("--stdin-display-name=some/name.py", "-", stdin=source)
    assert run.places == ["some/name.py:2:11 AGL101"]
    assert "at some/name.py with" in run.out


def test_an_entry_is_one_line_with_the_first_related_place(folder: Folder) -> None:
    folder.write(
        a="x = 'AGL101'  # RELATED here RELATED other.py\n",
        b="x = 'AGL101'  # RELATED b/c.py\n",
        c="x = 'AGL101'\n",
    )
    run = folder.flake8()
    message = "AGL101 at {} with () () (), noqa=False, tree=Module, 100%"
    assert run.code == 1
    assert run.out.splitlines() == [
        f"./a.py:1:6: {message.format('./a.py')} (see line 1: the other place)",
        f"./b.py:1:6: {message.format('./b.py')} (see b/c.py:1: the other place)",
        f"./c.py:1:6: {message.format('./c.py')}",
    ]


def test_flake8_itself_suppresses(folder: Folder) -> None:
    folder.write(
        a="x = 'AGL101'  # noqa: AGL1\ny = 'AGL201'  # noqa: AGL1\n",
        b="# flake8: noqa\nx = 'AGL101'\n",
        c="x = 'AGL101'\n",
    )
    folder.configure("per-file-ignores = c.py: AGL1\n")
    assert folder.flake8().places == ["a.py:2:6 AGL201"]
    assert len(folder.flake8("--disable-noqa").places) == 3


def test_a_failure_becomes_one_entry_and_the_run_goes_on(folder: Folder) -> None:
    folder.write(
        a="x = 'AGL101'\ny = 'BOOM'\n",
        b="x = 'AGL101'\ny = 'PANIC'\n",
        c="\nx = 'AGL000'\n",
        d="x = 'AGL101'\n",
    )
    run = folder.flake8()
    assert (run.code, run.err) == (1, "")
    assert run.places == ["a.py:1:1 AGL000", "b.py:1:1 AGL000", "c.py:2:6 AGL000", "d.py:1:6 AGL101"]
    assert (
        "AGL000 looplint failed on this file (RuntimeError: first line second line); this is a bug in looplint"
        in run.out
    )


def test_silent_where_flake8_reports_that_it_cannot_read(folder: Folder) -> None:
    folder.write(a="x = ('AGL101'\n", b="x = 'AGL000'\nif\n")
    run = folder.flake8(".", "missing.py")
    assert {place.split()[1] for place in run.places} == {"E902", "E999"}
    assert {place.split(":")[0] for place in run.places} == {"a.py", "b.py", "missing.py"}


BOTH = "x = 'AGL101', 'AGL901'\n"


@pytest.mark.parametrize(
    ("arguments", "config", "codes"),
    [
        ([], "", "AGL101"),
        (["--ignore=E501"], "", "AGL101"),
        (["--extend-ignore=E501"], "", "AGL101"),
        ([], "ignore = E501\n", "AGL101"),
        (["--agl-select=AGL901"], "", "AGL101 AGL901"),
        (["--agl-select=AGL9"], "", "AGL101 AGL901"),
        (["--agl-select=AGL101,opt-in-example"], "", "AGL101 AGL901"),
        (["--agl-select=AGL901", "--ignore=E501"], "", "AGL101 AGL901"),
        (["--agl-select=AGL901", "--extend-ignore=AGL901"], "", "AGL101"),
        (["--agl-select=AGL901", "--select=E,AGL1"], "", "AGL101 AGL901"),
        ([], "agl-select =\n    unlocked-history-append,\n    AGL9\n", "AGL101 AGL901"),
        (["--agl-select=AGL1"], "agl_select = AGL9\n", "AGL101"),
        (["--extend-select=AGL901"], "", "AGL101 AGL901"),
        (["--select=AGL901"], "", "AGL901"),
        (["--select=AGL"], "", "AGL101 AGL901"),
        (["--select=E"], "", ""),
        (["--extend-ignore=AGL"], "", ""),
    ],
)
def test_which_rules_run(folder: Folder, arguments: list[str], config: str, codes: str) -> None:
    folder.write(a=BOTH)
    folder.configure(config)
    run = folder.flake8(*arguments)
    assert run.err == ""
    assert " ".join(place.split()[1] for place in run.places) == codes


def test_flake8_counts_opt_in_rules_among_those_ignored_by_default(monkeypatch: pytest.MonkeyPatch) -> None:
    opt_in = catalogue.Rule("AGL901", "opt-in-example", "opt-in", "an example")
    monkeypatch.setattr(catalogue, "RULES", (catalogue.BY_CODE["AGL101"], opt_in))
    manager = OptionManager(version="", plugin_versions="", parents=[], formatter_names=[])
    AgentLoopPlugin.add_options(manager)
    assert manager.extended_default_ignore == ["AGL901"]


@pytest.mark.parametrize(("argument", "config"), [("--agl-select=AGL9,nonsense", ""), ("-v", "agl-select = nonsense")])
def test_an_unknown_rule_is_a_usage_error(folder: Folder, argument: str, config: str) -> None:
    folder.write(a=BOTH)
    folder.configure(config)
    run = folder.flake8(argument)
    assert (run.code, run.out) == (2, "")
    assert "error: --agl-select: no rule has the code, prefix or name 'nonsense'" in run.err.splitlines()[-1]
    assert "Traceback" not in run.err


START = """
import multiprocessing, sys
from flake8.main.cli import main
if __name__ == "__main__":
    multiprocessing.set_start_method({!r})
    sys.exit(main())
"""


@pytest.mark.parametrize("start", multiprocessing.get_all_start_methods())
def test_options_reach_the_workers(folder: Folder, start: str) -> None:
    folder.write(**{f"f{number}": BOTH for number in range(4)})
    folder.configure("agl-history-names = diary, log\nagl_tool_call_attributes = invocations\n")
    run = folder.flake8("-j2", "--agl-llm-calls=app.ask", "--agl-select=AGL9", module=("-c", START.format(start)))
    assert run.places == [f"f{number}.py:1:{column}" for number in range(4) for column in ("6 AGL101", "16 AGL901")]
    assert run.out.count("with ('app.ask',) ('diary', 'log') ('invocations',), noqa=False") == 8


def test_help_lists_the_options_and_none_is_eaten(folder: Folder) -> None:
    help_text = folder.flake8("--help").out
    options = re.findall(r"^  (--agl-\S+)", help_text, re.MULTILINE)
    limits = [f"--agl-max-file-{name}" for name in ("bytes", "nodes", "seconds")]
    words = ["--agl-history-names", "--agl-llm-calls", "--agl-select", "--agl-tool-call-attributes"]
    assert sorted(options) == sorted(words + limits)


@pytest.fixture(scope="module")
def bad_files() -> list[Path]:
    files = sorted((FIXTURES / "first_tool_only_comparison").glob("bad_*.py"))
    files = [file for file in files if not file.name.endswith(".fixed.py")]
    if not files:
        pytest.skip("no fixtures yet")
    return files


def test_real_findings_stand_where_the_fixtures_expect_them(bad_files: list[Path]) -> None:
    expected = {
        f"{file.name}:{number} {code}"
        for file in bad_files
        for number, line in enumerate(file.read_text().splitlines(), 1)
        for code in re.findall(r"AGL\d{3}", line.partition("# expect:")[2])
    }
    run = subprocess.run(
        [sys.executable, "-m", "flake8", "--isolated", "--select=AGL401", "-j2", *map(str, bad_files)],
        capture_output=True,
        text=True,
        timeout=600,
    )
    entries = (re.match(r"(.+?):(\d+):\d+: (\S+)", line) for line in run.stdout.splitlines())
    assert run.stderr == ""
    assert expected
    assert {f"{Path(entry[1]).name}:{entry[2]} {entry[3]}" for entry in entries if entry} == expected
