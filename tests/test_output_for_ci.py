"""What CI servers read: SARIF against its published schema, GitLab's code quality, JUnit through a parser of it."""

from __future__ import annotations

import io
import json
import os
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from junitparser import JUnitXml
from marked_engine import Project, reporting
from published import validate

from lint_rules import __version__
from lint_rules.cli import main
from lint_rules.finding import NOT_ANALYSED, Finding, Related, Span
from lint_rules.output import renderer
from lint_rules.output.page import Page

FIXTURES = Path(__file__).parent.parent / "fixtures"
SOURCE = """\
def answer(client, history):
    working = copy.copy(history)
    while True:
        reply = client.send(messages=working)
        history.append(reply)
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Project:
    return Project(tmp_path, monkeypatch, capsys)


def stale(path: str = "agent.py", **changes: Any) -> Finding:
    related = (
        Related(Span(5, 9, 5, 30), "only the original grows"),
        Related(Span(2, 15, 2, 33), "copied here"),
        Related(Span(1, 1, 1, 2), "made there", path="other.py"),
    )
    found = Finding(path, Span(4, 17, 4, 46), "AGL301", "stale-history-snapshot", "it is stale", "copy later")
    return found._replace(related=related)._replace(**changes)


def log(*findings: Finding, files: dict[str, str] | None = None) -> Any:
    """The one run of a SARIF log, which is valid."""
    page = Page((files or {"agent.py": SOURCE}).get)
    document = json.loads("\n".join(renderer("sarif")(findings, page)))
    validate(document, "sarif-2.1.0")
    (run,) = document["runs"]
    return run


# -- SARIF --------------------------------------------------------------------------------------------------------


def test_the_schema_is_the_real_one() -> None:
    with pytest.raises(jsonschema.ValidationError):
        validate({"version": "2.1.0", "runs": [{"results": []}]}, "sarif-2.1.0")


def test_sarif_of_nothing(project: Project) -> None:
    project.write("a.py", content="x = 1\n")
    run = project.run("check", "--output-format", "sarif")
    validate(run.json, "sarif-2.1.0")
    assert (run.code, run.json["runs"][0]["results"]) == (0, [])
    assert run.json["runs"][0]["invocations"][0]["executionSuccessful"] is True


def test_sarif_rules_have_their_pages() -> None:
    run = log(stale(), stale(code="AGL901", name="no-repeat-guard"))
    driver = run["tool"]["driver"]
    assert driver["version"] == __version__
    first, second = driver["rules"]
    assert (first["id"], first["name"], first["defaultConfiguration"]["level"]) == (
        *("AGL301", "stale-history-snapshot"),
        "error",
    )
    assert first["fullDescription"]["text"].startswith("Reports a copy")
    assert "## Why is this bad" in first["help"]["markdown"]
    assert second["defaultConfiguration"] == {"level": "note", "enabled": False}
    assert [driver["rules"][result["ruleIndex"]]["id"] for result in run["results"]] == ["AGL301", "AGL901"]


def test_sarif_places() -> None:
    (result,) = log(stale())["results"]
    assert result["message"]["text"] == "it is stale\ncopy later"
    assert result["locations"][0]["physicalLocation"] == {
        "artifactLocation": {"uri": "agent.py", "uriBaseId": "%SRCROOT%"},
        "region": {"startLine": 4, "startColumn": 17, "endLine": 4, "endColumn": 46},
    }
    notes = [
        (place["physicalLocation"]["artifactLocation"]["uri"], place["message"]["text"])
        for place in result["relatedLocations"]
    ]
    assert notes == [("agent.py", "only the original grows"), ("agent.py", "copied here"), ("other.py", "made there")]


def test_sarif_steps_of_a_sequence_come_as_they_run() -> None:
    def steps(found: Finding) -> list[int]:
        (result,) = log(found)["results"]
        flows = result.get("codeFlows", [])
        locations = [step["location"] for flow in flows for step in flow["threadFlows"][0]["locations"]]
        return [location["physicalLocation"]["region"]["startLine"] for location in locations]

    assert steps(stale()) == [2, 4, 5], "what lies elsewhere runs nobody knows when"
    assert steps(stale(code="AGL302", name="unbounded-rounds")) == [], "these places are in no order"
    assert steps(stale(related=())) == []
    assert steps(stale(path="gone.py")) == []


@pytest.mark.skipif(os.name != "posix", reason="paths of POSIX")
def test_sarif_uris() -> None:
    paths = ["a b/ü.py", "/else where/a.py", "<stdin>", os.fsdecode(b"\xff.py")]
    results = log(*(stale(path=path, related=()) for path in paths))["results"]
    artifacts = [result["locations"][0]["physicalLocation"]["artifactLocation"] for result in results]
    assert [artifact["uri"] for artifact in artifacts] == [
        *("a%20b/%C3%BC.py", "file:///else%20where/a.py", "%3Cstdin%3E", "%FF.py")
    ]
    assert ["uriBaseId" in artifact for artifact in artifacts] == [True, False, True, True]


def test_fingerprints_are_of_content() -> None:
    def names(source: str, *lines: int, code: str = "AGL301") -> list[str]:
        found = [stale(code=code, span=Span(line, 1, line, 2), related=()) for line in lines]
        results = log(*found, files={"agent.py": source})["results"]
        return [result["partialFingerprints"]["looplint/v1"] for result in results]

    before = names("send(a)\nsend(b)\n", 1, 2)
    assert names("# moved\n\nif x:\n    send(a)\n    send(b)\n", 4, 5) == before
    assert len({*before, *names("send(c)\n", 1), *names("send(a)\n", 1, code="AGL302")}) == 4
    first, second = names("send(a)\nsend(a)\n", 1, 2)
    assert first == before[0]
    assert second != first


def test_what_is_not_analysed_is_no_result() -> None:
    run = log(stale(), Finding("b.py", Span(3, 1, 3, 2), NOT_ANALYSED, "not-analysed", "no Python"))
    assert len(run["results"]) == 1
    assert run["invocations"][0]["executionSuccessful"] is False
    (notification,) = run["invocations"][0]["toolExecutionNotifications"]
    assert notification["message"]["text"] == "no Python"
    assert run["tool"]["driver"]["notifications"][notification["descriptor"]["index"]]["id"] == NOT_ANALYSED


@pytest.mark.parametrize("span", [Span(0, 0, 0, 0), Span(2, 5, 1, 1), Span(9, 9, 9, 9)])
def test_a_place_outside_the_text_is_valid_all_the_same(span: Span) -> None:
    log(stale(span=span))


FIXABLE = ("stale_history_snapshot/bad_list_copy_helpdesk", "negative_zero_slice/bad_last_but_first")


@pytest.mark.parametrize("name", FIXABLE)
@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\n no end"])
def test_sarif_fixes_do_what_our_own_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], name: str, line_end: str
) -> None:
    monkeypatch.chdir(tmp_path)
    source = (FIXTURES / f"{name}.py").read_text(encoding="utf-8")
    before = source.rstrip() if line_end == "\n no end" else source.replace("\n", line_end)
    Path("agent.py").write_text(before, encoding="utf-8", newline="")
    main(["check", "--isolated", "--no-cache", "--output-format", "sarif"])
    document = json.loads(capsys.readouterr().out)
    validate(document, "sarif-2.1.0")
    fixes = [fix for result in document["runs"][0]["results"] for fix in result.get("fixes", ())]
    assert len(fixes) == 1
    (change,) = fixes[0]["artifactChanges"]
    assert change["artifactLocation"]["uri"] == "agent.py"
    after = applied(before, change["replacements"])
    assert after != before
    main(["check", "--isolated", "--no-cache", "--fix", "--unsafe-fixes"])
    assert after == Path("agent.py").read_bytes().decode()


def applied(text: str, replacements: list[dict[str, Any]]) -> str:
    """A text after replacements, as SARIF means them: they delete a region and insert text in its place."""
    lines = io.StringIO(text, newline="").readlines()
    starts = [sum(map(len, lines[:number])) for number in range(len(lines) + 1)]

    def offset(region: dict[str, int], end: str) -> int:
        return starts[region[f"{end}Line"] - 1] + region[f"{end}Column"] - 1

    for replacement in sorted(replacements, key=lambda one: -offset(one["deletedRegion"], "start")):
        region = replacement["deletedRegion"]
        start, end = offset(region, "start"), offset(region, "end")
        text = text[:start] + replacement["insertedContent"]["text"] + text[end:]
    return text


def test_sarif_of_real_findings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a program with seven bugs: all that the other formats say, and the fixes they offer."""
    monkeypatch.chdir(FIXTURES)
    for output_format in ("sarif", "json"):
        words = ["check", "--isolated", "--no-cache", "--output-format", output_format]
        main([*words, "-o", str(tmp_path / "new" / output_format), "example_agent"])
    document = json.loads((tmp_path / "new" / "sarif").read_text())
    validate(document, "sarif-2.1.0")
    results = document["runs"][0]["results"]
    findings = json.loads((tmp_path / "new" / "json").read_text())
    assert [result["ruleId"] for result in results] == [finding["code"] for finding in findings]
    assert len({result["partialFingerprints"]["looplint/v1"] for result in results}) == len(results) == 7
    assert ["fixes" in result for result in results] == [finding["fix"] is not None for finding in findings]


# -- --output-file ------------------------------------------------------------------------------------------------


def test_a_report_goes_to_a_file_as_a_whole(project: Project) -> None:
    project.write("a.py")
    run = project.run("check", "--output-file", "reports/out.txt")
    assert (run.code, run.out, run.err) == (1, "", "")
    report = Path("reports/out.txt").read_text()
    assert report == project.run("check").out
    Path("reports/out.txt").write_text("old " * 1000)
    project.run("check", "--output-file", "reports/out.txt")
    assert Path("reports/out.txt").read_text() == report


def test_with_a_report_in_a_file_standard_output_is_free_for_the_diff(project: Project) -> None:
    project.write("a.py", content="BOOM")
    run = project.run("check", "--diff", "-o", "report.json", "--output-format", "json")
    assert (run.code, run.out) == (2, "")
    assert json.loads(Path("report.json").read_text())[0]["code"] == NOT_ANALYSED


@pytest.mark.parametrize("place", ["a.py/report", "folder"])
def test_a_report_that_cannot_be_written_is_said(project: Project, place: str) -> None:
    project.write("a.py", "folder/b.py")
    run = project.run("check", "-o", place)
    assert run.code == 2
    assert run.err.startswith(f"looplint: error: --output-file {place}: ")
    assert run.err.count("\n") == 1


# -- GitLab -------------------------------------------------------------------------------------------------------


def test_gitlab(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    project.write("sub/agent.py", content=SOURCE)
    project.use(reporting(stale(path=os.path.join("sub", "agent.py")), stale(span=Span(5, 1, 5, 2))))
    first, second = project.run("check", "--output-format", "gitlab").json
    assert first == {
        "type": "issue",
        "check_name": "AGL301",
        "description": "AGL301 stale-history-snapshot: it is stale",
        "content": {"body": "copy later"},
        "categories": ["Bug Risk"],
        "severity": "major",
        "fingerprint": first["fingerprint"],
        "location": {"path": "sub/agent.py", "lines": {"begin": 4, "end": 4}},
    }
    assert first["fingerprint"] != second["fingerprint"]
    monkeypatch.chdir("sub")
    monkeypatch.setenv("CI_PROJECT_DIR", str(project.path))
    project.use(reporting(stale()))
    (again,) = project.run("check", "--output-format", "gitlab").json
    assert again["location"]["path"] == "sub/agent.py", "from the root of the repository, wherever it runs"


def test_gitlab_of_nothing(project: Project) -> None:
    project.write("a.py", content="x = 1\n")
    assert project.run("check", "--output-format", "gitlab").out == "[]\n"


# -- JUnit --------------------------------------------------------------------------------------------------------


def junit(text: str) -> JUnitXml:
    return JUnitXml.fromstring(text.encode())


def test_junit(project: Project) -> None:
    project.write("a.py", content="x = 1  # AGL301 <one> & \x1b two\ny = 2  # AGL101 second\n")
    project.write("b.py", content="BOOM")
    read = junit(project.run("check", "--output-format", "junit").out)
    assert (read.tests, read.failures, read.errors) == (3, 2, 1)
    first, second = read
    assert [suite.name for suite in (first, second)] == ["a.py", "b.py"]
    case = next(iter(first))
    assert case.name == "AGL301 a-name"
    assert case.result[0].message == "<one> & \\x1b two"
    assert case.result[0].text.startswith("a.py:1:1: <one> & ")
    assert [type(case.result[0]).__name__ for suite in read for case in suite] == ["Failure", "Failure", "Error"]


def test_junit_of_nothing(project: Project) -> None:
    project.write("a.py", content="x = 1\n")
    read = junit(project.run("check", "--output-format", "junit").out)
    assert (read.tests, read.failures, read.errors) == (1, 0, 0)
    assert [case.is_passed for suite in read for case in suite] == [True]
