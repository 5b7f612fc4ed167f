"""The rules' pages: complete, up to date, and true: the bad example fires just this rule, the good one is silent."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from making import configuration, families, navigation, providers, symptoms

from lint_rules.check import Options, check_source
from lint_rules.cli.parser import COMMANDS, parser_of
from lint_rules.configuration import OPTIONS, read_config
from lint_rules.files import neighbours
from lint_rules.rules.catalogue import RULES, Rule

ROOT = Path(__file__).parent.parent
SECTIONS = [
    "What it does", "Why is this bad", "Symptoms", "Example", "Use instead", "How it decides", "Known problems",
    "Fix safety", "References",
]  # fmt: skip

every_rule = pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)


def example(rule: Rule, section: str) -> bytes:
    found = re.search(rf"## {section}\n```python\n(.*?)```", rule.page(), re.DOTALL)
    assert found is not None, f"{rule.name} has no code under {section}"
    return found[1].encode()


def codes(source: bytes, rule: Rule) -> set[str]:
    """What all default rules say of an example, and the rule itself; others that are opt-in need not like it."""
    active = frozenset({other.code for other in RULES if other.default} | {rule.code})
    return {found.code for found in check_source(source, "example.py", Options(active)).findings}


def only(rule: Rule) -> Options:
    return Options(frozenset({rule.code}))


@every_rule
def test_a_page_has_every_section_in_order(rule: Rule) -> None:
    assert re.findall(r"^## (.*)$", rule.page(), re.MULTILINE) == SECTIONS
    assert rule.page().startswith(f"# {rule.name} ({rule.code})\n")


@every_rule
def test_the_example_fires_this_rule_and_no_other(rule: Rule) -> None:
    assert codes(example(rule, "Example"), rule) == {rule.code}


@every_rule
def test_what_to_use_instead_is_silent(rule: Rule) -> None:
    assert codes(example(rule, "Use instead"), rule) == set()


@every_rule
def test_a_page_says_of_its_fix_how_far_it_can_be_trusted_or_why_there_is_none(rule: Rule) -> None:
    [said] = re.findall(r"## Fix safety\n(.*?)\n\n", rule.page(), re.DOTALL)
    folder = ROOT / "fixtures" / rule.name.replace("-", "_")
    programs = [path for path in folder.glob("bad_*.py") if ".fixed" not in path.name]
    found = [f for path in programs for f in check_source(path.read_bytes(), "a.py", only(rule)).findings]
    offered = {finding.fix.applicability for finding in found if finding.fix is not None}
    assert bool(offered) == rule.repairs
    words = {"safe": "safe", "unsafe": "unsafe", "display": "shown only"}
    assert offered <= {kind for kind, word in words.items() if re.search(rf"\b{word}\b", said, re.IGNORECASE)}
    assert rule.repairs or re.match(r"There is no fix: \w+ \w+", said)


def test_the_example_of_the_readme_has_the_bugs_that_it_says() -> None:
    folder = ROOT / "fixtures" / "example_agent"
    expected = (folder / "EXPECTED.txt").read_text(encoding="utf-8").splitlines()
    on = Options(frozenset(rule.code for rule in RULES if rule.default))
    found = [
        f"{path.name}:{finding.span.line}: {finding.code}"
        for path in sorted(folder.glob("*.py"))
        for finding in check_source(path.read_bytes(), str(path), on, neighbours=neighbours).findings
    ]
    assert found == [line.strip() for line in expected if line.strip()]


@every_rule
def test_a_page_tells_what_users_see(rule: Rule) -> None:
    words, errors = symptoms.symptoms(rule)
    assert words
    assert families.family(rule)
    assert all(len(error.text) > 15 and error.provider in symptoms.PROVIDERS for error in errors)


def test_a_symptom_leads_to_its_rules() -> None:
    page = symptoms.page()
    for seen, name in (
        ("400: tool_calls must be followed by tool messages", "missing-tool-result"),
        ("my agent repeats the same call", "stale-history-snapshot"),
        ("answers go to the wrong user", "cross-session-history"),
        ("`No tool output found for function call call_...`", "missing-tool-result"),
    ):
        assert re.search(rf"^\| {re.escape(seen)} \| .*\(rules/{name}\.md\)", page, re.MULTILINE), seen


def test_each_error_stands_with_its_provider() -> None:
    of_page = {speaker for provider in providers.PROVIDERS for speaker in provider.speaker}
    assert of_page == set(symptoms.PROVIDERS) - {"Python"}
    assert all(symptoms.errors_of(provider) for provider in symptoms.PROVIDERS)


def test_each_request_that_is_known_stands_with_its_provider() -> None:
    assert providers.unplaced() == set()


def test_each_option_has_an_example_that_is_read(tmp_path: Path) -> None:
    assert set(configuration.EXAMPLES) == set(OPTIONS)
    (tmp_path / "looplint.toml").write_text(configuration.example())
    layer = read_config(str(tmp_path / "looplint.toml"))
    assert None not in layer
    assert all(f"### `{option}`" in configuration.page() for option in OPTIONS)


@pytest.mark.parametrize("page", sorted(ROOT.glob("*.md")), ids=lambda path: path.name)
def test_what_a_page_of_the_repository_links_to_is_there(page: Path) -> None:
    links = re.findall(r"\]\(([^)#]+)", page.read_text(encoding="utf-8"))
    assert [link for link in links if "://" not in link and not (ROOT / link).exists()] == []


PAGES = [*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")]
every_page = pytest.mark.parametrize("page", sorted(PAGES), ids=lambda path: path.name)


def blocks(page: Path, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", page.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)


@every_page
def test_a_configuration_that_is_shown_is_read(page: Path, tmp_path: Path) -> None:
    for shown in blocks(page, "toml"):
        if "[tool.looplint" in shown:
            (tmp_path / "pyproject.toml").write_text(shown)
            read_config(str(tmp_path / "pyproject.toml"))


@every_page
def test_a_command_that_is_shown_is_understood(page: Path) -> None:
    lines = [line for shown in blocks(page, "sh") for line in shown.splitlines()]
    for line in lines:
        called = re.search(r"(?:^|[ /])looplint (.*)", re.sub(r" +#.*|[|<>;&].*", "", line).replace("[server]", ""))
        if called is not None and "pip install" not in line:
            parser_of(COMMANDS).parse_args(shlex.split(called[1]))


def test_each_page_has_a_place_in_the_navigation() -> None:
    site = (ROOT / "zensical.toml").read_text(encoding="utf-8")
    assert navigation.written(site, ["index.md", "ci.md"]).count("ci.md") == 1
    assert "adoption.md" not in navigation.written(site, ["index.md", "ci.md"])
    with pytest.raises(ValueError, match=r"docs/new\.md has no place"):
        navigation.written(site, ["new.md"])


def test_the_pages_are_up_to_date() -> None:
    done = subprocess.run([sys.executable, "docs/generate.py", "--check"], cwd=ROOT, capture_output=True, text=True)
    assert (done.stdout, done.returncode) == ("", 0)
