"""`# noqa` comments: written for findings that are to stay, reported where they hide none. `suppress` reads them."""

from __future__ import annotations

import ast
import io
import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from tokenize import detect_encoding

from lint_rules.finding import NOT_ANALYSED, UNUSED_NOQA, Finding, Span
from lint_rules.rules.catalogue import by_code
from lint_rules.suppress import Suppressions, joined

_LISTED = re.compile(r"# noqa:\s?[A-Z]+[0-9]+(?:[,\s]*[A-Z]+[0-9]+)*", re.IGNORECASE)
"""A comment that names codes, to which others can be added."""


def add_noqa(source: bytes, findings: Iterable[Finding]) -> tuple[bytes, int]:
    """The bytes of a file with a comment for each finding, and the number of lines that got one.

    Lines that a string or backslashes join have one comment for all. Raises ValueError (one clear line) where the
    comment would become part of a string.
    """
    encoding, _ = detect_encoding(io.BytesIO(source).readline)
    lines = io.StringIO(source.decode(encoding), newline="").readlines()
    wanted: dict[int, set[str]] = defaultdict(set)
    ends = {number: span for span in joined(lines) for number in range(span[0], span[1] + 1)}
    for finding in findings:
        if finding.code != NOT_ANALYSED:
            first, last = ends.get(finding.span.line, (finding.span.line, finding.span.line))
            listed = (number for number in range(first, last + 1) if _LISTED.search(lines[number - 1]))
            wanted[next(listed, last)].add(finding.code)
    for number, codes in wanted.items():
        lines[number - 1] = _with_codes(lines[number - 1], sorted(codes))
    after = "".join(lines).encode(encoding)
    if ast.dump(ast.parse(after)) != ast.dump(ast.parse(source)):
        raise ValueError("a `# noqa` would become part of a string; write it by hand, behind the string")
    return after, len(wanted)


def _with_codes(line: str, codes: list[str]) -> str:
    """A line with a comment that names these codes, too."""
    text = line.rstrip("\r\n")
    end = line[len(text) :]
    if listed := _LISTED.search(text):
        return f"{text[: listed.end()]}, {', '.join(codes)}{text[listed.end() :]}{end}"
    return f"{text.rstrip()}  # noqa: {', '.join(codes)}{end}"


def unused_noqa(text: str, path: str, found: Iterable[Finding], enabled: Collection[str]) -> Iterator[Finding]:
    """A finding for each comment that lists codes of ours which hide nothing.

    `found` is what there is in the file without comments, `enabled` are the rules that were asked. Of a code whose
    rules were not, nobody can say what it hides.
    """
    places = {(finding.code, finding.span.line) for finding in found}
    for comment in Suppressions(text).listed():
        lines = set(comment.covers)
        hidden = {code for code, line in places if line in lines}
        idle = [code for code in comment.codes if _is_idle(code, hidden, enabled)]
        if idle:
            rest = [code for code in comment.codes if code not in idle]
            advice = f"write `# noqa: {', '.join(rest)}`" if rest else "take the comment out"
            named = ", ".join(idle)
            span = Span(comment.line, comment.column, comment.line, comment.column + len(comment.text))
            message = f"this `noqa` hides nothing: {named} is not found here"
            yield Finding(path, span, UNUSED_NOQA, "unused-noqa", message, advice)


def _is_idle(code: str, hidden: Collection[str], enabled: Collection[str]) -> bool:
    """Whether a code of a rule, or a prefix of some, hides nothing that could have been found."""
    meant = {known for known in by_code() if known.startswith(code)}
    if any(found.startswith(code) for found in hidden) or not (meant or code.startswith("AGL")):
        return False
    return not meant or any(known in enabled for known in meant)
