"""The first steps: a table of settings made from a project, the schema of these settings, completion by real shells."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from marked_engine import Project

from lint_rules.cli import main
from lint_rules.configuration import OPTIONS, read_pyproject
from lint_rules.layer import SettingsError
from lint_rules.schema import schema

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

AGENT = """\
from corp.llm import ask_gateway
import json


class Agent:
    def __init__(self, gateway):
        self.messages = []
        self.gateway = gateway

    def run(self, text):
        self.messages.append({"role": "user", "content": text})
        while True:
            reply = ask_gateway(self.messages, tools=TOOLS)
            kept = json.loads(json.dumps(self.messages))
            shown = self.show(self.messages)
            second = self.gateway.speak(history=self.messages)
            self.gateway.saved(self.messages)
            self.messages.append(reply)
            if not reply.tool_calls:
                return reply.content
            for call in reply.tool_calls:
                self.messages.append({"role": "tool", "tool_call_id": call.id, "content": run(call)})

    def show(self, messages):
        return len(messages)
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Project:
    return Project(tmp_path, monkeypatch, capsys)


# -- init ---------------------------------------------------------------------------------------------------------


def test_init_asks_about_the_functions_it_does_not_know(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("agent.py").write_text(AGENT)
    Path("other.py").write_text("x = 1\n")
    Path("third_party/lib").mkdir(parents=True)
    Path("third_party/lib/a.py").write_text("x = 1\n")
    assert main(["init"]) == 0
    assert capsys.readouterr().out == (
        "Wrote [tool.looplint] to pyproject.toml: 1 file with parts of an agent,\n"
        "1 problem, 1 function that may ask a model.\n"
    )
    assert Path("pyproject.toml").read_text() == (
        """\
[tool.looplint]
extend-exclude = ["third_party/"]  # code of others
# To begin with new problems only, run `looplint baseline` and take the # away:
# baseline = "looplint-baseline.json"
# These get a message history. Does one ask a model? Then take its # away:
llm-calls = [
    # "gateway.speak",  # agent.py:16
]
"""
    )
    text = Path("pyproject.toml").read_text().replace('# "gateway', '"gateway').replace("# baseline", "baseline")
    Path("pyproject.toml").write_text(text)
    layer = read_pyproject("pyproject.toml")
    assert layer is not None
    assert (layer.llm_calls, layer.baseline) == (("gateway.speak",), "looplint-baseline.json")
    main(["map", "agent.py"])
    assert "`gateway.speak` is listed under llm-calls" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("before", "gap"),
    [("", ""), ("[project]\nname = 'x'\n", "\n"), ("[project]\nname = 'x'", "\n\n"), ("[a]\r\nb = 1\r\n", "\r\n")],
)
def test_init_leaves_what_is_there_as_it_is(project: Project, before: str, gap: str) -> None:
    project.write("a.py", content="x = 1\n")
    project.write("pyproject.toml", content=before)
    assert project.run("init", "--quiet").out == ""
    after = Path("pyproject.toml").read_bytes().decode()
    assert after.startswith(before + gap + "[tool.looplint]")
    assert ("\r\n" in after) is ("\r\n" in before)
    assert "looplint" in tomllib.loads(after)["tool"]
    assert project.run("check").code == 0


def test_init_writes_nothing_over_a_table(project: Project) -> None:
    project.configure('ignore = ["AGL301"]')
    before = Path("pyproject.toml").read_bytes()
    run = project.run("init")
    assert (run.code, run.out) == (2, "")
    assert run.err == "looplint: error: pyproject.toml has a [tool.looplint] table: `looplint check` uses it\n"
    assert Path("pyproject.toml").read_bytes() == before


def test_init_of_what_is_no_toml(project: Project) -> None:
    project.write("pyproject.toml", content="[")
    run = project.run("init")
    assert (run.code, run.err.count("\n")) == (2, 1)
    assert "not valid TOML" in run.err


def test_init_can_only_show(project: Project) -> None:
    project.write("a.py")
    run = project.run("init", "--dry-run")
    assert run.out.startswith("[tool.looplint]\n")
    assert not Path("pyproject.toml").exists()


# -- schema -------------------------------------------------------------------------------------------------------

TABLES: dict[str, list[Any]] = {
    "select": [["AGL3"], ["stale-history-snapshot", "AGL"], ["AGL8"], "AGL3", [1]],
    "fixable": [["AGL301"], ["AGLX"]],
    "per-file-ignores": [{"tests/*": ["AGL"]}, {"tests/*": "AGL"}, {"tests/*": ["no"]}, []],
    "extend-exclude": [["a/"], [], ["a", 1], "a"],
    "force-exclude": [True, 1, "true"],
    "report-unused-noqa": [False, "no"],
    "output-format": ["sarif", "xml", 1],
    "baseline": ["a.json", 1],
    "llm-calls": [["a.b"], "a.b"],
    "max-file-bytes": [0, 10, -1, 1.5, True, "1"],
    "unheard-of": [1],
}


@pytest.mark.parametrize(("option", "value"), [(option, value) for option, all_ in TABLES.items() for value in all_])
def test_the_schema_takes_what_the_configuration_takes(tmp_path: Path, option: str, value: Any) -> None:
    path = tmp_path / "pyproject.toml"
    path.write_text(f"[tool.looplint]\n{option} = {toml(value)}\n")
    try:
        read_pyproject(str(path))
        is_taken = True
    except SettingsError:
        is_taken = False
    assert jsonschema.Draft7Validator(schema()).is_valid({option: value}) is is_taken


def toml(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f'"{key}" = {toml(one)}' for key, one in value.items()) + "}"
    if isinstance(value, bool):
        return str(value).lower()
    return repr(value)


def test_the_schema_knows_and_describes_every_option() -> None:
    made = schema()
    jsonschema.Draft7Validator.check_schema(made)
    assert set(made["properties"]) == set(OPTIONS)
    assert all(shape["description"] for shape in made["properties"].values())


# -- completion ---------------------------------------------------------------------------------------------------


def bash(script: str, *words: str) -> list[str]:
    """What bash offers for the last of these words."""
    listed = " ".join(f"'{word}'" for word in words)
    ask = f"COMP_WORDS=({listed}) COMP_CWORD={len(words) - 1}; _shtab_looplint; printf '%s\\n' \"${{COMPREPLY[@]}}\""
    done = subprocess.run(["bash", "-c", f"{script}\n{ask}"], capture_output=True, text=True, check=True)
    return done.stdout.split()


@pytest.mark.skipif(shutil.which("bash") is None, reason="no bash")
def test_bash_completes_commands_options_and_files(project: Project) -> None:
    script = project.run("generate-shell-completion", "bash").out
    assert bash(script, "looplint", "ba") == ["baseline"]
    assert bash(script, "looplint", "check", "--diff-") == ["--diff-base"]
    assert "sarif" in bash(script, "looplint", "check", "--output-format", "")
    project.write("agent.py")
    assert bash(script, "looplint", "check", "age") == ["agent.py"]


@pytest.mark.parametrize("shell", ["zsh", "fish", "tcsh"])
def test_other_shells_have_a_script(project: Project, shell: str) -> None:
    script = project.run("generate-shell-completion", shell).out
    assert "--diff-base" in script or "diff-base" in script


def test_completion_without_shtab(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "shtab", None)
    run = project.run("generate-shell-completion", "bash")
    assert (run.code, run.out) == (2, "")
    assert run.err == 'looplint: error: shell completion needs shtab: pip install "looplint[completion]"\n'
