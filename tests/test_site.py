"""The site: it is built without a warning, leads to every page, asks nobody else for anything, and finds symptoms."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from lint_rules.rules.catalogue import RULES

pytest.importorskip("zensical", reason="zensical is in the docs group only")

ROOT = Path(__file__).parent.parent


class Page(HTMLParser):
    """What a page links to, what its browser loads, and what can be linked to in it."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loads: list[str] = []
        self.anchors: set[str] = set()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.anchors.add(given.get("id", ""))
        if tag == "a":
            self.links.append(given.get("href", ""))
        elif given.get("rel") not in {"canonical", "next", "prev"}:
            self.loads += [given[name] for name in ("src", "href") if name in given]


def build(folder: Path) -> subprocess.CompletedProcess[str]:
    shutil.copytree(ROOT / "docs", folder / "docs", ignore=shutil.ignore_patterns("__pycache__"), dirs_exist_ok=True)
    shutil.copy(ROOT / "zensical.toml", folder)
    command = [sys.executable, "-m", "zensical", "build", "--strict", "--clean"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("project")
    done = build(folder)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder / "site"


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[Path, Page]:
    return {path: Page(path) for path in site.rglob("*.html")}


def inner(path: Path, site: Path, page: Page) -> Iterator[tuple[str, Path, str]]:
    """The links of a page into the site, each with the file and the place in it that it leads to."""
    for link in {*page.links, *page.loads}:
        parts = urlsplit(link)
        if parts.scheme or parts.netloc:
            continue
        start = site if parts.path.startswith("/") else path.parent
        target = (start / unquote(parts.path).lstrip("/")).resolve() if parts.path else path
        yield link, target / "index.html" if target.is_dir() else target, unquote(parts.fragment)


def test_every_link_leads_somewhere(site: Path, pages: dict[Path, Page]) -> None:
    broken = [
        f"{path.relative_to(site)}: {link}"
        for path, page in pages.items()
        for link, target, anchor in inner(path, site, page)
        if not target.exists() or (anchor and target in pages and anchor not in pages[target].anchors)
    ]
    assert len(pages) > len(RULES)
    assert broken == []


def test_the_navigation_leads_to_every_page(site: Path, pages: dict[Path, Page]) -> None:
    reached = {target for _, target, _ in inner(site / "index.html", site, pages[site / "index.html"])}
    assert sorted(set(pages) - reached - {site / "404.html"}) == []


def test_a_browser_asks_nobody_else(pages: dict[Path, Page]) -> None:
    styles = (text for path in next(iter(pages)).parent.rglob("*.css") for text in [path.read_text(encoding="utf-8")])
    assert [load for page in pages.values() for load in page.loads if urlsplit(load).netloc] == []
    assert [found for text in styles for found in re.findall(r"@import|url\(['\"]?(?:https?:)?//", text)] == []


def test_the_programs_that_make_it_are_no_part_of_it(site: Path) -> None:
    assert list(site.rglob("*.py")) == []


@pytest.mark.parametrize(
    ("seen", "name"),
    [
        ("400: tool_calls must be followed by tool messages", "missing-tool-result"),
        ("my agent repeats the same call", "stale-history-snapshot"),
        ("answers go to the wrong user", "cross-session-history"),
    ],
)
def test_the_search_knows_symptoms(site: Path, seen: str, name: str) -> None:
    items = json.loads((site / "search.json").read_text(encoding="utf-8"))["items"]
    assert any(f"rules/{name}/" in item["location"] and seen in item["text"] for item in items)


def test_a_broken_link_breaks_the_build(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "new.md").write_text("# New\n\n[gone](index.md#gone)\n")
    assert build(tmp_path).returncode != 0
