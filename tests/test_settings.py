"""Which rules run where: selections, per-file ignores, configuration files, and what is said of mistakes in them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from marked_engine import Project, seeing

from lint_rules import check, layer, output, settings
from lint_rules.layer import Layer
from lint_rules.limits import Limits
from lint_rules.rules import catalogue
from lint_rules.rules.catalogue import Rule

ALL = {"AGL101", "AGL102", "AGL201", "AGL301", "AGL401", "AGL901"}
DEFAULT = ALL - {"AGL901"}


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Project:
    """A project in which the rules are rule-101 to rule-401, and rule-901, which is opt-in."""
    rules = tuple(
        Rule(code, f"rule-{code[3:]}", "opt-in" if code == "AGL901" else "correctness", "a rule")
        for code in sorted(ALL)
    )
    monkeypatch.setattr(catalogue, "RULES", rules)
    monkeypatch.setattr(catalogue, "BY_CODE", {rule.code: rule for rule in rules})
    monkeypatch.setattr(catalogue, "BY_NAME", {rule.name: rule for rule in rules})
    return Project(tmp_path, monkeypatch, capsys)


def options(project: Project, *words: str) -> dict[str, check.Options]:
    """The options each file is checked with."""
    seen: dict[str, check.Options] = {}
    project.use(seeing(seen))
    run = project.run("check", *words)
    assert (run.code, run.err.replace("looplint: note: no rule is selected, so nothing can be found\n", "")) == (0, "")
    return seen


def codes(project: Project, *words: str, file: str = "a.py") -> set[str]:
    """Codes of the rules that a file is checked with."""
    project.write(file)
    return set(options(project, *words)[file].codes)


# -- selections on the command line -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ([], DEFAULT),
        (["--select=AGL301"], {"AGL301"}),
        (["--select=AGL1"], {"AGL101", "AGL102"}),
        (["--select=AGL"], ALL),
        (["--select=rule-201"], {"AGL201"}),
        (["--select=AGL201, AGL301"], {"AGL201", "AGL301"}),
        (["--select=AGL201", "--select", "rule-901"], {"AGL201", "AGL901"}),
        (["--select="], set()),
        (["--extend-select=AGL901"], ALL),
        (["--select=AGL201", "--extend-select=AGL9"], {"AGL201", "AGL901"}),
        (["--ignore=AGL1"], DEFAULT - {"AGL101", "AGL102"}),
        (["--ignore=rule-102"], DEFAULT - {"AGL102"}),
        (["--select=AGL1", "--ignore=AGL102"], {"AGL101"}),
        # the more specific one wins, whatever its kind
        (["--select=AGL102", "--ignore=AGL1"], {"AGL102"}),
        (["--select=rule-102", "--ignore=AGL1"], {"AGL102"}),
        (["--ignore=AGL", "--extend-select=AGL10"], {"AGL101", "AGL102"}),
        # of two alike, the ignore
        (["--select=AGL102", "--ignore=rule-102"], set()),
    ],
)
def test_selection(project: Project, words: list[str], expected: set[str]) -> None:
    assert codes(project, *words) == expected


@pytest.mark.parametrize(
    ("option", "word", "near"),
    [
        ("--select", "AGL31", "AGL301"),
        ("--select", "agl301", "AGL301"),
        ("--extend-select", "rule-91", "rule-901"),
        ("--ignore", "RULE-101", "rule-101"),
        ("--ignore", "E501", None),
        ("--per-file-ignores", "a.py:AGL77", "AGL"),
    ],
)
def test_a_mistyped_rule_is_an_error_with_a_suggestion(
    project: Project, option: str, word: str, near: str | None
) -> None:
    project.write("a.py")
    run = project.run("check", option, word)
    assert (run.code, run.out) == (2, "")
    assert f"looplint: error: {option}: " in run.err
    assert repr(word.rpartition(":")[2]) in run.err
    assert ("did you mean" in run.err) is (near is not None)
    assert near is None or f"did you mean {near!r}" in run.err


def test_the_notice_cannot_be_selected(project: Project) -> None:
    run = project.run("check", "--ignore", "AGL000")
    assert run.code == 2
    assert "AGL000 is the notice that a file could not be analysed" in run.err


# -- per-file ignores ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("pattern", "covered"),
    [
        ("tests/*:AGL1", {"tests/a.py", "tests/deep/a.py"}),
        ("tests:AGL1", {"tests/a.py", "tests/deep/a.py"}),
        ("tests/**/a.py:AGL1", {"tests/a.py", "tests/deep/a.py"}),
        ("a.py:AGL1", {"a.py", "tests/a.py", "tests/deep/a.py", "other/a.py"}),
        ("/a.py:AGL1", {"a.py"}),
        ("./a.py:AGL1", {"a.py"}),
        ("other/a.py:AGL1,tests/deep/:AGL1", {"other/a.py", "tests/deep/a.py"}),
        ("!tests:AGL1", {"a.py", "other/a.py"}),
        ("{tests/deep,other}/*.py:AGL1", {"tests/deep/a.py", "other/a.py"}),
        ("!{tests,other}:AGL1", {"a.py"}),
        ("[[:alpha:]].py:AGL1", {"a.py", "tests/a.py", "tests/deep/a.py", "other/a.py"}),
        ("**/deep/**:AGL1", {"tests/deep/a.py"}),
    ],
)
def test_per_file_ignores(project: Project, pattern: str, covered: set[str]) -> None:
    project.write("a.py", "tests/a.py", "tests/deep/a.py", "other/a.py")
    seen = options(project, "--per-file-ignores", pattern)
    assert {path for path, found in seen.items() if found.codes == DEFAULT - {"AGL101", "AGL102"}} == covered
    assert {path for path, found in seen.items() if found.codes == DEFAULT} == set(seen) - covered


def test_per_file_ignores_take_many_codes(project: Project) -> None:
    assert codes(project, "--per-file-ignores", "a.py:AGL101,AGL2,b.py:AGL3") == DEFAULT - {"AGL101", "AGL201"}
    assert codes(project, "--per-file-ignores=a.py:AGL1", "--per-file-ignores=*.py:AGL2") == {"AGL301", "AGL401"}


def test_per_file_ignores_take_absolute_patterns(project: Project) -> None:
    assert codes(project, "--per-file-ignores", f"{project.path}/a.py:AGL") == set()


def test_per_file_ignores_need_a_pattern(project: Project) -> None:
    run = project.run("check", "--per-file-ignores", "AGL101")
    assert run.code == 2
    assert "expected PATTERN:CODE, got 'AGL101'" in run.err


# -- configuration files ------------------------------------------------------------------------------------------


def test_every_option_can_be_configured(project: Project) -> None:
    project.configure(
        """
        select = ["AGL1", "rule-201"]
        extend-select = ["AGL901"]
        ignore = ["AGL102"]
        exclude = ["left"]
        extend-exclude = ["right"]
        force-exclude = true
        output-format = "concise"
        llm-calls = ["my.ask"]
        history-names = ["log"]
        tool-call-attributes = ["calls"]
        max-file-bytes = 1_000
        max-file-nodes = 0
        max-file-seconds = 7
        [tool.looplint.per-file-ignores]
        "b.py" = ["AGL9"]
        """
    )
    project.write("a.py", "b.py", "left/a.py", "right/a.py")
    seen = options(project, ".", "left/a.py")
    words = check.Vocabulary(("my.ask",), ("log",), ("calls",))
    assert seen == {
        "a.py": check.Options(frozenset({"AGL101", "AGL201", "AGL901"}), words, Limits(1000, 0, 7)),
        "b.py": check.Options(frozenset({"AGL101", "AGL201"}), words, Limits(1000, 0, 7)),
    }
    assert project.run("check").out == "", "the concise format has no summary"


def test_the_command_line_beats_the_file(project: Project) -> None:
    project.configure(
        """
        exclude = ["left"]
        output-format = "github"
        history-names = ["log"]
        max-file-bytes = 1
        per-file-ignores = { "*" = ["AGL3"] }
        """
    )
    project.write("left/a.py", "right/a.py")
    words = ["--exclude=right", "--output-format=text", "--history-names=memory", "--per-file-ignores=*:AGL1"]
    words.append("--max-file-bytes=100")
    seen = options(project, *words)
    assert set(seen) == {"left/a.py"}
    assert seen["left/a.py"].vocabulary.history_names == ("memory",)
    assert seen["left/a.py"].limits == Limits(bytes=100)
    assert seen["left/a.py"].codes == DEFAULT - {"AGL101", "AGL102"}
    assert project.run("check", *words).out == "All clear: 1 file checked.\n"


@pytest.mark.parametrize(
    ("configured", "words", "expected"),
    [
        ("select = ['AGL1']", ["--select=AGL3"], {"AGL301"}),
        ("extend-select = ['AGL9']", ["--select=AGL3"], {"AGL301"}),
        ("select = ['AGL1']", ["--extend-select=AGL3"], {"AGL101", "AGL102", "AGL301"}),
        ("select = ['AGL101', 'AGL2']", ["--ignore=AGL1"], {"AGL201"}),
        ("ignore = ['AGL102']", ["--extend-select=AGL102"], DEFAULT),
        # an ignore of the file outlives a `--select` that is less specific, and no other
        ("ignore = ['AGL102']", ["--select=AGL1"], {"AGL101"}),
        ("ignore = ['AGL102']", ["--select=AGL102"], {"AGL102"}),
        ("ignore = ['AGL1']", ["--select=AGL102"], {"AGL102"}),
        ("ignore = ['AGL102']", ["--ignore=AGL2"], DEFAULT - {"AGL102", "AGL201"}),
    ],
)
def test_selections_of_both(project: Project, configured: str, words: list[str], expected: set[str]) -> None:
    project.configure(configured)
    assert codes(project, *words) == expected


@pytest.mark.parametrize("name", ["~/cache", "~"])
def test_the_cache_may_lie_in_the_home_of_the_user(
    project: Project, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    for variable in ("HOME", "USERPROFILE"):
        monkeypatch.setenv(variable, str(project.path / "home"))
    project.configure(f"cache-dir = '{name}'", folder="sub")
    expected = str(project.path / "home") + name[1:]
    folder = str(project.path / "sub")
    assert settings.Resolver(Layer(folder)).settings(folder).cache_dir == expected
    assert settings.Resolver(Layer(folder, cache_dir=name), isolated=True).settings(folder).cache_dir == expected


def test_the_nearest_file_counts(project: Project) -> None:
    project.configure("select = ['AGL1']")
    project.configure("select = ['AGL2']", folder="near")
    project.write("near/between/pyproject.toml", content="[project]\nname = 'no table of ours'\n")
    project.write("a.py", "near/a.py", "near/between/a.py")
    seen = options(project)
    assert {path: sorted(found.codes) for path, found in seen.items()} == {
        "a.py": ["AGL101", "AGL102"],
        "near/a.py": ["AGL201"],
        "near/between/a.py": ["AGL201"],
    }


def test_a_file_above_the_current_folder_counts(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    project.configure("select = ['AGL1']\nexclude = ['sub/left']\nper-file-ignores = {'sub/b.py' = ['AGL']}")
    project.write("sub/a.py", "sub/b.py", "sub/left/a.py")
    monkeypatch.chdir(project.path / "sub")
    seen = options(project)
    assert {path: len(found.codes) for path, found in seen.items()} == {"a.py": 2, "b.py": 0}


def test_isolated(project: Project) -> None:
    project.configure("select = ['AGL1']")
    assert codes(project, "--isolated") == DEFAULT


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("pyproject.toml", "[tool.looplint]\nselect = ['AGL2']\nexclude = ['left']"),
        ("other.toml", "[tool.looplint]\nselect = ['AGL2']\nexclude = ['left']"),
        ("other.toml", "select = ['AGL2']\nexclude = ['left']"),
    ],
)
def test_a_named_configuration_file(project: Project, name: str, content: str) -> None:
    project.configure("select = ['AGL1']", folder="here")
    project.write(f"conf/{name}", content=content)
    project.write("here/left/a.py", "here/a.py")
    seen = options(project, "--config", f"conf/{name}")
    assert {path: set(found.codes) for path, found in seen.items()} == {"here/a.py": {"AGL201"}}


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (None, "conf.toml: cannot be read: No such file"),
        ("[tool.other]\n", "conf.toml: has no [tool.looplint] table"),
        ("selct = ['AGL1']", "conf.toml: unknown option 'selct' (did you mean 'select'?)"),
        ("=", "conf.toml: is not valid TOML"),
    ],
)
def test_a_named_configuration_file_that_cannot_be_used(project: Project, content: str | None, complaint: str) -> None:
    project.write("a.py")
    if content is not None:
        project.write("conf.toml", content=content)
    run = project.run("check", "--config", "conf.toml")
    assert (run.code, run.out) == (2, "")
    assert run.err.startswith(f"looplint: error: {complaint}")


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("selct = ['AGL1']", "unknown option 'selct' (did you mean 'select'?)"),
        ("per_file_ignores = {}", "unknown option 'per_file_ignores' (did you mean 'per-file-ignores'?)"),
        ("enable = true", "unknown option 'enable'"),
        ("select = 'AGL1'", "in 'select': expected a list of strings, got a string"),
        ("select = ['AGL1', 7]", "in 'select': expected a list of strings, got an integer"),
        ("ignore = ['AGL31']", "in 'ignore': no rule has the code, prefix or name 'AGL31' (did you mean 'AGL301'?)"),
        ("force-exclude = 'yes'", "in 'force-exclude': expected true or false, got a string"),
        ("output-format = 'jsn'", "in 'output-format': no output format is called 'jsn' (did you mean 'json'?)"),
        ("output-format = 2020-01-01", "in 'output-format': expected a string, got a date or time"),
        ("per-file-ignores = ['a.py:AGL1']", "in 'per-file-ignores': expected a table"),
        ("per-file-ignores = {'a.py' = 'AGL1'}", "in 'per-file-ignores': expected a list of strings, got a string"),
        ("per-file-ignores = {'a.py' = ['AGL77']}", "in 'per-file-ignores': no rule has the code"),
        ("history-names = 1.5", "in 'history-names': expected a list of strings, got a number"),
        ("exclude = ['!']", "in 'exclude': '!' is not a pattern of paths: it is empty"),
        ("exclude = ['{a,b']", "in 'exclude': '{a,b' is not a pattern of paths: its `{` is never closed"),
        ("exclude = ['[[:alhpa:]]']", "in 'exclude': '[[:alhpa:]]' is not a pattern of paths: there is no class [:alh"),
        ("extend-exclude = ['a[b']", "in 'extend-exclude': 'a[b' is not a pattern of paths: its `[` is never closed"),
        ("exclude = ['a\\']", "in 'exclude': 'a\\\\' is not a pattern of paths: nothing follows its last backslash"),
        ("per-file-ignores = {'[a-' = []}", "in 'per-file-ignores': '[a-' is not a pattern of paths: its `[` is never"),
        (f"exclude = ['{'{a,b}' * 40}']", "in 'exclude': '{a,b}"),
        ("max-file-bytes = -1", "in 'max-file-bytes': expected a whole number from 0 up (0 is no limit), got -1"),
        ("max-file-nodes = true", "in 'max-file-nodes': expected a whole number from 0 up (0 is no limit), got a bool"),
        ("select = [", "is not valid TOML"),
        ("a = " + "[" * 20_000, "is not valid TOML"),
    ],
)
def test_a_mistake_in_a_file_is_named_and_costs_only_its_folder(project: Project, text: str, complaint: str) -> None:
    project.configure(text, folder="wrong")
    project.write("wrong/a.py", "wrong/sub/a.py", "right/a.py")
    run = project.check()
    assert run.code == 2
    assert run.paths == ["right/a.py"]
    assert run.err.startswith(f"looplint: error: {os.path.join('wrong', 'pyproject.toml')}: {complaint}")
    assert run.err.count("\n") == 1


@pytest.mark.parametrize("content", [b"\xff\xfe\x00", b"tool = 1\n[tool.looplint]\n", b"[tool]\nlooplint = 7\n"])
def test_a_pyproject_that_is_none(project: Project, content: bytes) -> None:
    project.write("wrong/pyproject.toml", content=content)
    project.write("wrong/a.py", "right/a.py")
    run = project.check()
    assert (run.code, run.paths) == (2, ["right/a.py"])
    assert run.err.startswith(f"looplint: error: {os.path.join('wrong', 'pyproject.toml')}: ")


def test_a_mistake_above_all_files_is_told_once(project: Project) -> None:
    project.configure("selct = []")
    project.write("a.py", "sub/a.py")
    run = project.check(".", "a.py", "sub")
    assert (run.code, run.paths) == (2, [])
    assert run.err.count("selct") == 1


def test_every_format_has_a_renderer() -> None:
    assert set(layer.OUTPUT_FORMATS) == set(output.FORMATS)
