"""Findings as SARIF 2.1.0, for code scanning: rules with their pages, related places, what happens in which order,
fingerprints and fixes."""

from __future__ import annotations

import ast
import json
import os
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any
from urllib.parse import quote

from lint_rules import __version__
from lint_rules.finding import NOT_ANALYSED, Finding, Related, Span
from lint_rules.fingerprint import fingerprints
from lint_rules.output.hunks import hunks
from lint_rules.output.page import Page, in_file, valid
from lint_rules.paths import CellPath, posix
from lint_rules.rules.catalogue import by_code

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"

SEQUENCES = frozenset(
    {
        *("AGL201", "AGL301", "AGL306", "AGL308", "AGL309", "AGL402", "AGL407", "AGL408"),
        *("AGL601", "AGL602", "AGL603", "AGL606", "AGL607", "AGL609", "AGL610", "AGL613", "AGL614"),
    }
)
"""Rules that tell what happens one after the other; of the others, places are related, and none is before another."""

_LEVELS = {"correctness": "error", "suspicious": "warning", "opt-in": "note"}
_PRECISIONS = {"correctness": "high", "suspicious": "medium", "opt-in": "low"}

Object = dict[str, Any]


def render(findings: Sequence[Finding], page: Page) -> Iterator[str]:
    """One log with one run. Columns are from 1 and count characters. What could not be analysed is no result of the
    tool, but a notification of how it ran."""
    results = [finding for finding in findings if finding.code != NOT_ANALYSED]
    failures = [finding for finding in findings if finding.code == NOT_ANALYSED]
    rules = sorted({(finding.code, finding.name) for finding in results})
    names = fingerprints(results, page.source)
    run = {
        "tool": {
            "driver": {
                "name": "looplint",
                "version": __version__,
                "semanticVersion": __version__,
                "rules": [_rule(*rule) for rule in rules],
                "notifications": [{"id": NOT_ANALYSED, "name": "not-analysed"}] if failures else [],
            }
        },
        "columnKind": "unicodeCodePoints",
        "invocations": [
            {
                "executionSuccessful": not failures,
                "toolExecutionNotifications": list(map(_notification, failures)),
            }
        ],
        "results": [
            _result(finding, rules.index((finding.code, finding.name)), name, page)
            for finding, name in zip(results, names, strict=True)
        ],
    }
    yield json.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2)


# -- rules --------------------------------------------------------------------------------------------------------


def _rule(code: str, name: str) -> Object:
    rule = by_code().get(code)
    if rule is None:  # one that is about comments, not about agents
        return {"id": code, "name": name, "defaultConfiguration": {"level": "note"}}
    page = rule.page().strip()
    return {
        "id": rule.code,
        "name": rule.name,
        "shortDescription": {"text": rule.summary},
        "fullDescription": {"text": _what_it_does(page)},
        "help": {"text": page, "markdown": page},
        "defaultConfiguration": {"level": _LEVELS[rule.group], "enabled": rule.default},
        "properties": {"tags": ["agents", rule.group], "precision": _PRECISIONS[rule.group]},
    }


def _what_it_does(page: str) -> str:
    """The first paragraph under the first heading but the title."""
    paragraphs = [part for part in page.split("\n\n") if not part.startswith("# ")]
    heading, _, text = paragraphs[0].partition("\n")
    return " ".join((text if heading.startswith("#") else paragraphs[0]).split())


# -- results ------------------------------------------------------------------------------------------------------


def _result(finding: Finding, index: int, name: str, page: Page) -> Object:
    help_ = f"\n{finding.help}" if finding.help else ""
    result = {
        "ruleId": finding.code,
        "ruleIndex": index,
        "level": _LEVELS[by_code()[finding.code].group] if finding.code in by_code() else "note",
        "message": {"text": valid(in_file(finding)[1] + finding.message + help_)},
        "locations": [_location(finding.path, finding.span)],
        "partialFingerprints": {"looplint/v1": name},
        "properties": {"confidence": finding.confidence},
    }
    if finding.related:
        result["relatedLocations"] = [
            {"id": number, **_related(finding, related)} for number, related in enumerate(finding.related, 1)
        ]
    if flow := _flow(finding, page):
        result["codeFlows"] = [{"threadFlows": [{"locations": [{"location": step} for step in flow]}]}]
    if fix := _fix(finding, page):
        result["fixes"] = [fix]
    return result


def _notification(finding: Finding) -> Object:
    return {
        "descriptor": {"id": finding.code, "index": 0},
        "level": "error",
        "message": {"text": valid(in_file(finding)[1] + finding.message)},
        "locations": [_location(finding.path, finding.span)],
    }


def _location(path: str, span: Span, message: str = "") -> Object:
    """Of a cell SARIF knows nothing: it is a logical place, and the line in it is said in words."""
    location: Object = {"physicalLocation": {"artifactLocation": _artifact(path), "region": _region(span)}}
    if isinstance(path, CellPath):
        location = {
            "physicalLocation": {"artifactLocation": _artifact(path.file), "region": _region(Span(1, 1, 1, 2))},
            "logicalLocations": [{"name": f"cell {path.cell}", "kind": "cell", "decoratedName": f"{path}:{span.line}"}],
        }
        message = message and f"cell {path.cell}, line {span.line}: {message}"
    if message:
        location["message"] = {"text": valid(message)}
    return location


def _related(finding: Finding, related: Related) -> Object:
    return _location(related.path or finding.path, related.span, related.message)


def _artifact(path: str) -> Object:
    """A path below the current folder is relative to the root of the sources; of others, the URI is whole."""
    uri = quote(os.fsencode(posix(path)))
    if os.path.isabs(path):
        return {"uri": f"file://{uri}" if uri.startswith("/") else f"file:///{uri}"}
    return {"uri": uri, "uriBaseId": "%SRCROOT%"}


def _region(span: Span) -> Object:
    """SARIF counts from 1, and its end is exclusive, as ours are; a place before the text is its first."""
    line, column = max(span.line, 1), max(span.column, 1)
    end_line, end_column = max((span.end_line, span.end_column), (line, column))
    return {"startLine": line, "startColumn": column, "endLine": end_line, "endColumn": max(end_column, 1)}


# -- what happens in which order ----------------------------------------------------------------------------------


def _flow(finding: Finding, page: Page) -> list[Object]:
    """The places of a finding that is a sequence, in the order in which they run; empty unless there are several.

    Within one function the order of lines is the order of running; of places elsewhere it is not known.
    """
    if finding.code not in SEQUENCES:
        return []
    text = page.source(finding.path)
    if text is None:
        return []
    try:
        home = _function(text, finding.span.line)
    except (SyntaxError, ValueError, RecursionError, MemoryError):  # changed, it may be, since it was checked
        return []
    steps = [
        (related.span, related.message)
        for related in finding.related
        if related.path is None and _function(text, related.span.line) == home
    ]
    if not steps:
        return []
    return [_location(finding.path, *step) for step in sorted([*steps, (finding.span, finding.message)])]


def _function(text: str, line: int) -> tuple[int, int] | None:
    """First and last line of the innermost function that a line lies in; None for the module."""
    around = [(first, last) for first, last in _functions(text) if first <= line <= last]
    return min(around, key=lambda span: span[1] - span[0], default=None)


@lru_cache(maxsize=1)
def _functions(text: str) -> list[tuple[int, int]]:
    """First and last lines of all functions; findings come file by file, and one file is kept."""
    tree = ast.parse(text.removeprefix("\ufeff"))
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
    return [(node.lineno, node.end_lineno or node.lineno) for node in ast.walk(tree) if isinstance(node, kinds)]


# -- fixes --------------------------------------------------------------------------------------------------------


def _fix(finding: Finding, page: Page) -> Object | None:
    if finding.fix is None or finding.fix.applicability == "display" or isinstance(finding.path, CellPath):
        return None
    before = page.source(finding.path)
    after = page.mended(finding.path).get((finding.code, finding.span))
    if before is None or after is None:
        return None
    changes = [{"artifactLocation": _artifact(finding.path), "replacements": list(_replacements(before, after))}]
    safe = "" if finding.fix.applicability == "safe" else " (unsafe: read the diff)"
    return {"description": {"text": f"{finding.fix.title}{safe}"}, "artifactChanges": changes}


def _replacements(before: str, after: str) -> Iterator[Object]:
    for span, text in hunks(before, after):
        yield {"deletedRegion": _region(span), "insertedContent": {"text": valid(text)}}
