"""What people are asked who report something: forms that GitHub takes, and that ask for what answers the question."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from published import validate

FOLDER = Path(__file__).parent.parent / ".github" / "ISSUE_TEMPLATE"
FORMS: dict[str, Any] = {
    path.name: yaml.safe_load(path.read_text(encoding="utf-8")) for path in sorted(FOLDER.glob("[0-9]*.yml"))
}


@pytest.mark.parametrize("name", FORMS)
def test_a_form_is_what_github_asks_for(name: str) -> None:
    validate(FORMS[name], "github-issue-forms")


def test_the_list_of_forms_is_what_github_asks_for() -> None:
    validate(yaml.safe_load((FOLDER / "config.yml").read_text(encoding="utf-8")), "github-issue-config")


@pytest.mark.parametrize("name", FORMS)
def test_a_form_asks_for_the_map_and_the_version(name: str) -> None:
    labels = [field["attributes"]["label"] for field in FORMS[name]["body"]]
    assert any("looplint map" in label for label in labels)
    assert any("looplint --version" in label for label in labels)
