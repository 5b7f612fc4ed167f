"""The picture as JSON, for programs: docs/looplint-map.schema.json tells what it holds.

What is there stays as it is while `version` does; more may come beside it. ASCII only, as the findings are.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

from lint_rules import __version__
from lint_rules.output.as_json import described
from lint_rules.output.page import valid
from lint_rules.picture import Known, Loop, Named, Sheet

VERSION = 1


def render(sheets: Sequence[Sheet]) -> Iterator[str]:
    """One object; of several files, those with parts of an agent are listed."""
    files = [sheet for sheet in sheets if sheet.is_agent or len(sheets) == 1]
    document = {"version": VERSION, "looplint": __version__, "looked_at": len(sheets), "files": list(map(_file, files))}
    yield json.dumps(document, indent=2)


def _file(sheet: Sheet) -> dict[str, Any]:
    return {
        "path": valid(sheet.path),
        "loops": list(map(_loop, sheet.loops)),
        "findings": list(map(described, sheet.findings)),
        "asks": list(map(_named, sheet.asks)),
        "reaching": list(sheet.reaching),
        "starts": list(map(_named, sheet.starts)),
        "writes": list(map(_named, sheet.shared)),
        "values": list(map(_known, sheet.known)),
    }


def _loop(loop: Loop) -> dict[str, Any]:
    return {**asdict(loop), "findings": list(loop.findings)}


def _named(named: Named) -> dict[str, Any]:
    return asdict(named)


def _known(value: Known) -> dict[str, Any]:
    return {
        "kind": value.kind,
        "name": value.name,
        "home": value.home,
        "evidence": [{"says": fact.says, "place": asdict(fact.place)} for fact in value.evidence],
        "written": [{"how": write.says, "place": asdict(write.place)} for write in value.written],
    }
