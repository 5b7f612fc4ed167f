"""Findings as JUnit's XML, which most CI servers show: a suite a file, a failed test a finding."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from itertools import groupby
from xml.etree import ElementTree

from lint_rules.finding import NOT_ANALYSED, Finding
from lint_rules.output.page import Page, plain
from lint_rules.paths import file_of


def render(findings: Sequence[Finding], page: Page) -> Iterator[str]:
    """One document. A file that could not be analysed is an error, no failure; without findings one test passed."""
    root = ElementTree.Element("testsuites", {"name": "looplint", **_counts(findings)})
    for path, group in groupby(findings, key=lambda finding: file_of(finding.path)):
        of_file = list(group)
        suite = ElementTree.SubElement(root, "testsuite", {"name": plain(path), **_counts(of_file)})
        for finding in of_file:
            _case(suite, finding)
    if not findings:
        suite = ElementTree.SubElement(root, "testsuite", name="looplint", tests="1", failures="0", errors="0")
        ElementTree.SubElement(suite, "testcase", name="no problems found", classname="looplint")
        root.set("tests", "1")
    ElementTree.indent(root)
    yield ElementTree.tostring(root, encoding="us-ascii", xml_declaration=True).decode()


def _case(suite: ElementTree.Element, finding: Finding) -> None:
    line, column = str(finding.span.line), str(finding.span.column)
    case = ElementTree.SubElement(
        suite,
        "testcase",
        name=f"{finding.code} {finding.name}",
        classname=plain(os.path.splitext(file_of(finding.path))[0]),
        file=plain(file_of(finding.path)),
        line=line,
        column=column,
    )
    kind = "error" if finding.code == NOT_ANALYSED else "failure"
    failure = ElementTree.SubElement(case, kind, type=finding.code, message=plain(finding.message))
    failure.text = f"{plain(finding.path)}:{line}:{column}: {plain(finding.message)}"
    if finding.help:
        failure.text += f"\nhelp: {_lines(finding.help)}"


def _counts(findings: Sequence[Finding]) -> dict[str, str]:
    errors = sum(finding.code == NOT_ANALYSED for finding in findings)
    return {"tests": str(len(findings)), "failures": str(len(findings) - errors), "errors": str(errors)}


def _lines(text: str) -> str:
    """Text that XML can hold: it has no way to write a control character."""
    return "\n".join(map(plain, text.splitlines()))
