"""Rules of other packages, at every door. The package is `tests/plugin_example`, laid out as an installer does."""

from __future__ import annotations

import asyncio
import importlib
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import jsonschema
import pytest
from marked_engine import Project as Marked
from published import validate
from test_server import editing

from lint_rules import api
from lint_rules import check as checking
from lint_rules.api import Agent, Draft, Edits, Fix, Kind, Note, Rule, check, fix
from lint_rules.rules import catalogue
from lint_rules.schema import schema

EXAMPLE = Path(__file__).parent / "plugin_example"
PAGE = EXAMPLE.parent.parent / "docs" / "your-own-rule.md"
LOOP = re.search(r'LOOP = """\n(.*?)"""', (EXAMPLE / "test_acme.py").read_text(), re.DOTALL)
assert LOOP is not None
AGENT = LOOP[1]

heavy = pytest.mark.skipif(
    os.environ.get("LOOPLINT_HEAVY") != "1", reason="installs packages: LOOPLINT_HEAVY=1 runs it"
)


class Project(Marked):
    """A project with an agent, and packages with rules beside looplint."""

    site: Path

    def install(self, name: str = "looplint-acme", code: str = "", point: str = "", version: str = "1.0") -> None:
        """As pip does: the modules, and a folder that tells what they are."""
        module = name.replace("-", "_")
        point = point or f"ACM = {module}:RULES"
        told = self.site / f"{module}-{version}.dist-info"
        told.mkdir(parents=True)
        (told / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
        (told / "entry_points.txt").write_text(f"[looplint.rules]\n{point}\n")
        (self.site / f"{module}.py").write_text(code or (EXAMPLE / "looplint_acme.py").read_text())
        sys.modules.pop(module, None)
        importlib.invalidate_caches()

    def forget(self) -> None:
        """What a new process does not know yet."""
        catalogue._brought = None
        for name in [name for name in sys.modules if name.startswith("looplint_")]:
            del sys.modules[name]

    def started(self, *words: str) -> subprocess.CompletedProcess[str]:
        """What a process of its own says."""
        variables = os.environ | {"PYTHONPATH": str(self.site)}
        return subprocess.run([sys.executable, *words], cwd=self.path, env=variables, capture_output=True, text=True)


@pytest.fixture
def bare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Iterator[Project]:
    """Without a package."""
    (tmp_path / "project").mkdir()
    real = checking.check_source
    project = Project(tmp_path / "project", monkeypatch, capsys)
    project.use(real)
    project.site = tmp_path / "site"
    project.site.mkdir()
    monkeypatch.syspath_prepend(str(project.site))
    monkeypatch.setattr(catalogue, "_brought", None)
    project.write("agent.py", content=AGENT)
    yield project
    project.forget()


@pytest.fixture
def project(bare: Project) -> Project:
    bare.install()
    return bare


def codes(project: Project, *words: str) -> list[str]:
    project.forget()
    run = project.run("check", "--output-format", "json", "--no-cache", *words)
    assert run.err == ""
    return [found["code"] for found in run.json]


# -- the page and its package -------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["looplint_acme.py", "pyproject.toml", "test_acme.py"])
def test_the_page_shows_what_is_tested(name: str) -> None:
    assert (EXAMPLE / name).read_text() in PAGE.read_text()


def test_the_page_tells_of_all_that_a_rule_may_use() -> None:
    told = PAGE.read_text()
    asked = [name for name in vars(Agent) if not name.startswith("_")]
    assert [name for name in (*api.__all__, *asked) if f"`{name}" not in told and f".{name}" not in told] == []
    assert [name for name in api.__all__ if not getattr(api, name).__doc__] == []


def test_the_rule_has_thirty_lines() -> None:
    assert len((EXAMPLE / "looplint_acme.py").read_text().splitlines()) <= 30


# -- the command line ---------------------------------------------------------------------------------------------


def test_a_rule_of_a_package_is_one_of_the_rules(project: Project) -> None:
    run = project.run("check")
    assert (run.code, run.err) == (1, "")
    assert "agent.py:11:13: ACM101 unredacted-tool-result: `result` is stored as a tool wrote it" in run.out
    assert "and goes to the provider here" in run.out


@pytest.mark.parametrize(
    ("words", "found"),
    [
        (["--select=ACM"], True),
        (["--select=ACM1"], True),
        (["--select=unredacted-tool-result"], True),
        (["--select=AGL"], False),
        (["--ignore=ACM101"], False),
        (["--per-file-ignores=agent.py:ACM"], False),
        (["--isolated"], True),
    ],
)
def test_its_code_prefix_and_name_select_it(project: Project, words: list[str], found: bool) -> None:
    assert ("ACM101" in codes(project, *words)) is found


def test_an_opt_in_rule_of_a_package_is_one(bare: Project) -> None:
    bare.install(code=(EXAMPLE / "looplint_acme.py").read_text().replace('"suspicious"', '"opt-in"'))
    assert codes(bare) == []
    assert codes(bare, "--extend-select=ACM") == ["ACM101"]


def test_comments_hide_it_and_are_reported_where_they_hide_nothing(project: Project) -> None:
    stored = next(line for line in AGENT.splitlines() if '"role": "tool"' in line)
    project.write("agent.py", content=AGENT.replace(stored, f"{stored}  # noqa: ACM101"))
    assert codes(project) == []
    project.write("agent.py", content=AGENT.replace("import acme", "import acme  # noqa: ACM101, XYZ1"))
    assert codes(project, "--report-unused-noqa") == ["AGL001", "ACM101"]


def test_comments_are_written_for_it(project: Project) -> None:
    assert project.run("check", "--add-noqa").out == "Added 1 noqa directive.\n"
    assert codes(project) == []


def test_rules_are_listed_with_the_package_that_brings_them(project: Project) -> None:
    *_, row = project.run("rules").out.splitlines()
    assert row.split(None, 5)[:5] == ["ACM101", "unredacted-tool-result", "suspicious", "looplint-acme", "1.0"]
    assert project.run("rules", "--output-format=json").json[-1]["package"] == "looplint-acme 1.0"


@pytest.mark.parametrize("word", ["ACM101", "ACM", "unredacted-tool-result"])
def test_its_docstring_is_its_page(project: Project, word: str) -> None:
    page = project.run("explain", word).out
    assert page.startswith("# unredacted-tool-result (ACM101)\n\n## What it does\nReports a tool result")
    assert page.endswith("\nThis rule is part of looplint-acme 1.0.\n")


def test_sarif_and_gitlab_tell_of_it(project: Project) -> None:
    log = project.run("check", "--output-format=sarif").json
    validate(log, "sarif-2.1.0")
    (rule,) = log["runs"][0]["tool"]["driver"]["rules"]
    assert (rule["id"], rule["defaultConfiguration"]["level"]) == ("ACM101", "warning")
    assert rule["fullDescription"]["text"].startswith("Reports a tool result")
    (issue,) = project.run("check", "--output-format=gitlab").json
    assert (issue["check_name"], issue["severity"]) == ("ACM101", "minor")


def test_a_baseline_hides_it(project: Project) -> None:
    project.run("baseline", "--baseline=known.json")
    assert codes(project, "--baseline=known.json") == []


def test_the_schema_takes_codes_of_other_packages() -> None:
    jsonschema.validate({"select": ["ACM101", "ACM"]}, schema())
    assert "ACM101" not in json.dumps(schema())


# -- what is wrong with a package ---------------------------------------------------------------------------------


def test_a_code_whose_package_is_not_installed(bare: Project) -> None:
    bare.configure('ignore = ["ACM101"]')
    run = bare.run("check")
    assert run.code == 2
    assert (
        "no rule has the code, prefix or name 'ACM101' (did you mean 'AGL101'?); if it is a rule of another package"
        in run.err
    )


RULES = "from looplint.api import Rule\n\ndef asks(agent):\n    return []\n\nRULES = [{}]\n"


@pytest.mark.parametrize(
    ("code", "point", "said"),
    [
        (
            "import nowhere",
            "",
            "cannot be imported (ModuleNotFoundError: No module named 'nowhere' (looplint_acme.py:1)",
        ),
        ("raise SystemExit(0)", "", "cannot be imported (SystemExit: 0"),
        ("", "ACM = looplint_acme:NOTHING", "cannot be imported (AttributeError: "),
        ("RULES = 7", "", "`looplint_acme:RULES` is int, expected a looplint.api.Rule, or a list of them"),
        (RULES.format("7"), "", "`looplint_acme:RULES` is list, expected a looplint.api.Rule, or a list of them"),
        ("", "AGL = looplint_acme:RULES", "codes that begin with AGL are looplint's own"),
        ("", "XYZ = looplint_acme:RULES", "'ACM101' has no code of one to three capitals and three digits that begins"),
        (RULES.format("Rule('ACM1', 'a', 'opt-in', 'b', asks)"), "", "'ACM1' has no code of one to three capitals"),
        (RULES.format("Rule('ACM101', 'A b', 'opt-in', 'b', asks)"), "", "has no name of small letters and hyphens"),
        (RULES.format("Rule('ACM101', 'a', 'bad', 'b', asks)"), "", "is in no group: 'bad', expected correctness, "),
        (RULES.format("Rule('ACM101', 'a', 'opt-in', 'b')"), "", "has no function `asks`"),
        (RULES.format("Rule('ACM101', 'unbounded-rounds', 'opt-in', 'b', asks)"), "", "and is looplint's own"),
        (RULES.format("*[Rule('ACM101', 'a', 'opt-in', 'b', asks)] * 2"), "", "brings two rules ACM101"),
    ],
)
@pytest.mark.parametrize("command", ["check", "rules"])
def test_a_package_that_cannot_be_used_is_named(bare: Project, code: str, point: str, said: str, command: str) -> None:
    bare.install(code=code, point=point)
    run = bare.run(command)
    assert (run.code, run.out, run.err.count("\n")) == (2, "", 1)
    assert "looplint-acme 1.0" in run.err
    assert said in run.err


def test_two_packages_with_one_code_are_both_named(project: Project) -> None:
    project.install("looplint-other")
    run = project.run("check")
    assert (run.code, run.out) == (2, "")
    assert run.err == (
        "looplint: error: the rule ACM101 is brought by looplint-other 1.0 and by looplint-acme 1.0: "
        "uninstall one of the packages\n"
    )


def test_a_rule_that_fails_costs_its_own_findings_in_that_file(bare: Project) -> None:
    failing = "\n\ndef fails(agent):\n    return [1 / len(agent.asks[0].arguments.get('none', ()))]\n\n\n"
    failing += "RULES.append(Rule('ACM102', 'fails', 'suspicious', 'it fails', fails))\n"
    bare.install(code=(EXAMPLE / "looplint_acme.py").read_text() + failing)
    bare.write("b.py", content="x = 1\n")
    run = bare.run("check", "--output-format=json")
    assert run.code == 2
    assert [found["code"] for found in run.json] == ["AGL000", "ACM101"]
    assert run.json[0]["message"] == (
        "ACM102 fails failed on this file (ZeroDivisionError: division by zero (looplint_acme.py:32)), so findings may"
        " be missing; this is a bug in looplint-acme 1.0: please report it there"
    )


# -- around it ----------------------------------------------------------------------------------------------------


def test_what_was_found_with_another_state_of_the_package_is_not_told_again(project: Project) -> None:
    code = (EXAMPLE / "looplint_acme.py").read_text()
    assert "as a tool wrote it" in project.run("check").out
    project.forget()
    (project.site / "looplint_acme.py").write_text(code.replace("as a tool wrote it", "in the words of the tool"))
    assert "in the words of the tool" in project.run("check").out
    project.forget()
    (project.site / "looplint_acme-1.0.dist-info").rename(project.site / "looplint_acme-1.1.dist-info")
    metadata = project.site / "looplint_acme-1.1.dist-info" / "METADATA"
    metadata.write_text(metadata.read_text().replace("1.0", "1.1"))
    (project.site / "looplint_acme.py").write_text(code.replace("return", "RETURN"))
    assert "as a tool wrote it" in project.run("check").out


def test_processes_know_the_rules(project: Project) -> None:
    """Also those that begin with nothing in memory."""
    for number in range(20):
        project.write(f"{number:02}.py", content=AGENT + "# filler\n" * 2000)
    script = "import multiprocessing; from lint_rules import cli, processes\n"
    script += "processes._context = lambda: multiprocessing.get_context('spawn')\n"
    words = "['check', '--output-format=concise', '--jobs=2', '--select=ACM']"
    script += f"if __name__ == '__main__': raise SystemExit(cli.main({words}))\n"
    done = project.started("-c", script)
    assert (done.returncode, done.stderr, done.stdout.count(" ACM101 ")) == (1, "", 21)


def test_flake8_shows_them(project: Project) -> None:
    done = project.started("-m", "flake8", "--isolated", "agent.py")
    assert "agent.py:11:13: ACM101 `result` is stored" in done.stdout
    assert "ACM" not in project.started("-m", "flake8", "--isolated", "--ignore=ACM1", "agent.py").stdout


def test_flake8_says_what_is_wrong_with_a_package(bare: Project) -> None:
    bare.install(code="import nowhere")
    done = bare.started("-m", "flake8", "agent.py")
    assert done.returncode == 2
    assert "looplint: the rules of looplint-acme 1.0 cannot be imported" in done.stderr.splitlines()[-1]


def test_editors_show_them_with_their_page(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(project.site))

    async def session() -> None:
        async with editing(project.path) as editor:
            (found,) = await editor.open("agent.py", AGENT)
            assert found.code == "ACM101"
            place = found.range.start
            page = await editor.hover(editor.uri("agent.py"), place.line, place.character)
            assert page.startswith("# unredacted-tool-result (ACM101)")

    asyncio.run(session())


def test_the_server_says_what_is_wrong_with_a_package(bare: Project) -> None:
    bare.install(code="import nowhere")
    done = bare.started("-m", "lint_rules", "server")
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert "the rules of looplint-acme 1.0 cannot be imported" in done.stderr


def test_without_packages_nobody_looks_for_them_at_length(bare: Project) -> None:
    script = (
        "import sys; from lint_rules.cli import main; main(['check', '-q']); print('importlib.metadata' in sys.modules)"
    )
    assert bare.started("-c", script).stdout == "False\n"


def test_a_package_costs_nothing_where_there_is_no_agent(project: Project) -> None:
    project.write("agent.py", content="x = 1\n")
    script = "import sys; from lint_rules.cli import main; main(['check', '-q']); print('libcst' in sys.modules)"
    script += "; print('looplint_acme' in sys.modules)"
    assert project.started("-c", script).stdout == "False\nTrue\n"


def test_what_is_checked_brings_no_rules(project: Project) -> None:
    """`python -m` puts the current folder first, and what lies there is not to be trusted."""
    for path in project.site.iterdir():
        path.rename(project.path / path.name)
    project.write("looplint_acme.py", content="open('ran', 'w')\nRULES = []\n")
    done = project.started("-m", "looplint", "check", "--no-cache", "agent.py")
    assert (done.returncode, done.stderr) == (0, "")
    assert not (project.path / "ran").exists()


# -- what a rule may ask ------------------------------------------------------------------------------------------


def asking(question: object) -> Rule:
    return Rule("ACM101", "a-rule", "suspicious", "it asks", question)  # type: ignore[arg-type]


def answers(source: str, question: object) -> list[str]:
    """What a question that gives texts is told of a program."""
    told: list[str] = []

    def asks(agent: Agent) -> Iterator[Draft]:
        told[:] = question(agent)  # type: ignore[operator]
        return iter(())

    check(source, asking(asks))
    return told


def test_parts_with_reasons() -> None:
    def parts(agent: Agent) -> Iterator[str]:
        yield from (f"{agent.text(ask.node.func)} {ask.reason.text} {sorted(ask.arguments)}" for ask in agent.asks)
        yield from (f"asks {agent.text(loop.ask.func)} in {loop.function.name.value}" for loop in agent.rounds)
        yield from (f"{s.how} {s.history} {s.role} {s.is_answer} {len(s.answers)}" for s in agent.stores)
        yield from (f"{value.name} {value.reasons[0].text}" for value in agent.values(Kind.HISTORY))
        yield f"{agent.path} {[kind.name for kind in agent.kinds(agent.stores[0].node.func.value)]}"

    assert answers(AGENT, parts) == [
        "client.chat.completions.create calls `chat.completions.create` ['messages', 'model', 'tools']",
        "asks client.chat.completions.create in run",
        "append messages assistant False 0",
        "append messages tool True 1",
        "messages is sent as `messages=` to `chat.completions.create`",
        "agent.py ['HISTORY']",
    ]


def test_ways_avoid_what_they_are_told_to() -> None:
    def ways(agent: Agent) -> Iterator[str]:
        (loop,) = agent.rounds
        reply, answer = (store.node for store in agent.stores)
        yield str(agent.way(answer, [loop.ask]) is not None)
        yield str(agent.way(reply, [loop.ask], avoiding=[answer]) is not None)
        yield str(agent.way(loop.ask, [answer], avoiding=[reply]) is not None)

    # The second way is that of calls of which there are none: the loop over them is passed by.
    assert answers(AGENT, ways) == ["True", "True", "False"]


def test_helpers_are_read_where_they_are_called() -> None:
    helper = "def keep(messages, message):\n    messages.append(message)\n\n\n"
    source = helper + AGENT.replace("messages.append({", "keep(messages, {")
    (found,) = check(source, asking(lambda agent: [Draft(s.node, "stored", "") for s in agent.stores if s.is_answer]))
    assert found.span.line == 2


def test_names_through_imports() -> None:
    def names(agent: Agent) -> Iterator[str]:
        for store in agent.stores:
            yield from (name for _, name in agent.calls_in(store.node))

    source = AGENT.replace("import acme", "from acme import redact as clean").replace(": result}", ": clean(result)}")
    assert "acme.redact" in answers(source, names)


def test_a_rule_may_bring_fixes() -> None:
    def limited(agent: Agent) -> Iterator[Draft]:
        import libcst as cst

        for ask in agent.asks:
            if "timeout" not in ask.arguments:
                extra = cst.ensure_type(cst.parse_expression("f(timeout=60)"), cst.Call).args
                node = ask.node.with_changes(args=[*ask.node.args, *extra])
                edits = Fix("give it a timeout", "unsafe", lambda node=node, ask=ask: Edits(replaced={ask.node: node}))
                yield Draft(ask.node, "no timeout", "", (Note(ask.function, "here"),), fix=edits)

    rule = asking(limited)
    (found,) = check(AGENT, rule)
    assert found.fix is not None
    assert fix(AGENT, rule) == AGENT.replace("tools=tools)", "tools=tools, timeout=60)")


def test_a_rule_that_fails_fails_its_test() -> None:
    with pytest.raises(RuntimeError, match=r"agent\.py:1: ACM101 a-rule failed on this file \(ZeroDivisionError"):
        check(AGENT, asking(lambda agent: 1 / 0))


# -- installed ----------------------------------------------------------------------------------------------------


@heavy
def test_as_installed(tmp_path: Path) -> None:
    """Both packages as wheels, in an environment of their own."""
    root = EXAMPLE.parent.parent
    environment = tmp_path / "venv"
    subprocess.run([sys.executable, "-m", "venv", str(environment)], check=True)
    scripts = environment / ("Scripts" if os.name == "nt" else "bin")

    def run(command: str, *words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([scripts / command, *words], cwd=tmp_path, capture_output=True, text=True, timeout=600)

    packages = [str(root), str(EXAMPLE), "flake8", "pytest", "mypy"]
    done = run("python", "-m", "pip", "install", "--quiet", *packages)
    assert done.returncode == 0, done.stderr
    (tmp_path / "agent.py").write_text(AGENT)
    done = run("looplint", "check", "--output-format=concise")
    assert (done.returncode, done.stderr) == (1, "")
    assert done.stdout.startswith("agent.py:11:13: ACM101 ")
    assert "ACM101" in run("looplint", "rules").stdout
    assert "agent.py:11:13: ACM101 " in run("flake8", "--isolated", "agent.py").stdout
    assert run("python", "-m", "pytest", "-q", str(EXAMPLE)).returncode == 0
    done = run("mypy", "--strict", str(EXAMPLE / "looplint_acme.py"))
    assert done.returncode == 0, done.stdout
    assert run("python", "-m", "pip", "uninstall", "--yes", "looplint-acme").returncode == 0
    assert run("looplint", "check").returncode == 0
