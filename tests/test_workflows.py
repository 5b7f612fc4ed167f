"""What GitHub runs for us: files that it takes, no more rights than needed, and releases that need no secret."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from published import validate

ROOT = Path(__file__).parent.parent
WORKFLOWS: dict[str, dict[Any, Any]] = {
    path.stem: yaml.safe_load(path.read_text(encoding="utf-8"))
    for path in sorted((ROOT / ".github" / "workflows").glob("*.yml"))
}
RELEASE, DOCS = WORKFLOWS["release"], WORKFLOWS["docs"]

every_workflow = pytest.mark.parametrize("workflow", WORKFLOWS.values(), ids=WORKFLOWS)


def steps(workflow: dict[Any, Any], job: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = workflow["jobs"][job]["steps"]
    return found


def step_using(workflow: dict[Any, Any], job: str, action: str) -> dict[str, Any]:
    (found,) = [step for step in steps(workflow, job) if step.get("uses", "").partition("@")[0] == action]
    return found


def triggers(workflow: dict[Any, Any]) -> dict[str, Any]:
    found: dict[str, Any] = workflow[True]  # for YAML, `on` is a truth value
    return found


@every_workflow
def test_a_workflow_is_what_github_asks_for(workflow: dict[Any, Any]) -> None:
    validate({"on" if key is True else key: value for key, value in workflow.items()}, "github-workflow")


@every_workflow
def test_only_what_publishes_may_write(workflow: dict[Any, Any]) -> None:
    """A step that installs packages of others could use what its job may do."""
    assert workflow["permissions"] == {"contents": "read"}
    for name, job in workflow["jobs"].items():
        rights = {right for right, level in job.get("permissions", {}).items() if level == "write"}
        assert not rights or (name == "publish" and not any("run" in step for step in job["steps"]))


@every_workflow
def test_no_script_has_words_of_others_in_it(workflow: dict[Any, Any]) -> None:
    """What a tag or a branch is called could be run."""
    scripts = [step["run"] for job in workflow["jobs"].values() for step in job["steps"] if "run" in step]
    assert [script for script in scripts if "${{" in script] == []


@every_workflow
def test_what_a_script_calls_is_there(workflow: dict[Any, Any]) -> None:
    scripts = [step["run"] for job in workflow["jobs"].values() for step in job["steps"] if "run" in step]
    for name in re.findall(r"(?:\.ci|docs)/[\w.]+", " ".join(scripts)):
        assert (ROOT / name).is_file()
        assert name.endswith(".py") or os.access(ROOT / name, os.X_OK)


def test_a_release_is_made_by_a_tag_after_every_check() -> None:
    assert triggers(RELEASE) == {"push": {"tags": ["v*"]}}
    assert '.ci/release "$GITHUB_REF_NAME"' in [step.get("run") for step in steps(RELEASE, "build")]
    assert "\n.ci/run\n" in (ROOT / ".ci" / "release").read_text()


def test_what_was_checked_is_what_is_published() -> None:
    given = step_using(RELEASE, "build", "actions/upload-artifact")["with"]
    taken = step_using(RELEASE, "publish", "actions/download-artifact")["with"]
    assert RELEASE["jobs"]["publish"]["needs"] == "build"
    assert (given["name"], given["path"]) == (taken["name"], taken["path"])
    assert given["if-no-files-found"] == "error"


def test_pypi_trusts_the_workflow_and_no_password() -> None:
    """https://docs.pypi.org/trusted-publishers/: an OIDC token of the job in this environment, and attestations."""
    publish = RELEASE["jobs"]["publish"]
    assert (publish["environment"], publish["permissions"]) == ("pypi", {"id-token": "write"})
    assert step_using(RELEASE, "publish", "pypa/gh-action-pypi-publish")["with"] == {"attestations": True}
    assert "secrets." not in (ROOT / ".github" / "workflows" / "release.yml").read_text()


def test_the_pages_are_those_that_were_checked() -> None:
    scripts = [step["run"] for step in steps(DOCS, "build") if "run" in step]
    assert scripts[-2:] == ["python docs/generate.py --check", "python -m zensical build --strict --clean"]
    assert step_using(DOCS, "build", "actions/upload-pages-artifact")["with"] == {"path": "site/"}
    assert DOCS["jobs"]["publish"]["needs"] == "build"
    assert DOCS["jobs"]["publish"]["permissions"] == {"id-token": "write", "pages": "write"}
