"""No comment is lost by a fix: it stays, or moves with its statement, or the fix is refused and says so.

Those of a statement that a fix drops stand above what takes its place. Comments are put everywhere into the programs
of the fixtures: above each statement, behind it, at the end of each block, and within brackets.
"""

from __future__ import annotations

import io
import tokenize
from collections import Counter, defaultdict
from pathlib import Path

import pytest
from sampling import sample
from test_fix import KNOWN, MENDED, fixed, name, of_folder
from test_fix_repairs import ANSWER, LOOP, PARSE

from lint_rules.check import Options
from lint_rules.fix import Fixed

ASKS = {"swallowed_history_error/bad_database_error_passed"}
"""A comment at its `pass` says why: a person must look, there is no fix."""


def commented(text: str, *, within: bool) -> str:
    """A program with comments around its statements or within their brackets, each of them different."""
    above: dict[int, int] = {}
    behind: dict[int, str] = {}
    ends: dict[int, list[int]] = defaultdict(list)
    indents = [0]
    start = depth = last = 0
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.INDENT:
            indents.append(len(token.string))
        elif token.type == tokenize.DEDENT:
            ends[last].append(indents.pop())
        elif token.type == tokenize.NL and depth and within:
            behind[token.start[0]] = "within"
        elif token.type == tokenize.NEWLINE:
            start, last = 0, token.end[0]
            if not within:
                behind[last] = "behind"
        elif token.type not in (tokenize.NL, tokenize.COMMENT, tokenize.ENDMARKER):
            depth += (token.string in ("(", "[", "{")) - (token.string in (")", "]", "}"))
            if not start and not within:
                start = token.start[0]
                above[start] = token.start[1]
    lines = []
    for number, line in enumerate(text.splitlines(), 1):
        lines += [f"{' ' * above[number]}# above {number}"] if number in above else []
        lines += [f"{line}  # {behind[number]} {number}" if number in behind and "#" not in line else line]
        lines += [] if within else [f"{' ' * indent}# end {number} {indent}" for indent in ends[number]]
    return "\n".join(lines) + "\n"


def comments(source: bytes) -> Counter[str]:
    tokens = tokenize.tokenize(io.BytesIO(source).readline)
    return Counter(token.string for token in tokens if token.type == tokenize.COMMENT)


def lost(before: str, after: Fixed) -> Counter[str]:
    return comments(before.encode()) - comments(after.source)


@pytest.mark.parametrize("path", sample(MENDED, 8, "around"), ids=name)
def test_fixes_keep_the_comments_around_statements(path: Path) -> None:
    text, options = path.read_text(encoding="utf-8"), of_folder(path)
    source = commented(text, within=False)
    result = fixed(source, options=options)
    assert not lost(source, result)
    assert not result.dropped
    if name(path) not in ASKS:
        assert len(result.applied) == len(fixed(text, options=options).applied)


@pytest.mark.parametrize("path", sample(MENDED, 8, "within"), ids=name)
def test_fixes_keep_the_comments_within_statements_or_are_refused(path: Path) -> None:
    source = commented(path.read_text(encoding="utf-8"), within=True)
    result = fixed(source, options=of_folder(path))
    assert not lost(source, result)
    assert all("it would lose the comment in line " in dropped.reason for dropped in result.dropped)


def test_a_comment_in_what_is_replaced_costs_the_fix() -> None:
    source = KNOWN.replace("dict(message)", "{\n        **message,  # all of it\n    }")
    result = fixed(source)
    assert (result.source.decode(), result.applied) == (source, ())
    assert [dropped.reason for dropped in result.dropped] == ["it would lose the comment in line 3: # all of it"]


def test_a_file_without_tokens_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object) -> None:
        raise tokenize.TokenError("EOF in multi-line statement")

    monkeypatch.setattr("lint_rules.fix.tokenize.tokenize", fails)
    result = fixed(KNOWN)
    assert (result.source.decode(), result.applied) == (KNOWN, ())
    assert "its comments cannot be compared" in result.dropped[0].reason


def test_comments_of_a_handler_that_is_made_anew() -> None:
    """AGL501: those of `continue` stay with it, those of other statements stand above the answer."""
    handler = (
        "            except ValueError as e:  # bad JSON\n"
        "                # for those who look\n"
        '                logging.warning("bad arguments")  # once\n'
        "                # as if there were none\n"
        "                arguments = {}  # empty\n"
        "                # the next call\n"
        "                continue  # at once\n"
        "                # the end\n"
    )
    source = LOOP.replace(PARSE, f"            try:\n    {PARSE}{handler}")
    told = '                result = f"Error: the arguments are not valid JSON: {e}"\n'
    expected = source.replace(
        "                arguments = {}  # empty\n",
        f"                # empty\n{told}    {ANSWER}",
    )
    assert fixed(source).source.decode() == expected


@pytest.mark.parametrize("init", [True, False], ids=["an `__init__`", "none"])
def test_comments_of_a_class_attribute_that_moves(init: bool) -> None:
    """AGL103: they move with it, and those of the statement behind it stay."""
    begin = "    def __init__(self):\n"
    made = "        self.client = OpenAI()\n"
    source = (
        "from openai import OpenAI\n\n\nclass Tutor:\n"
        "    # what was said\n    messages = []  # a list\n    # the cheap one\n    model = 'gpt-5'\n\n"
        + (begin + made + "\n")
        * init
        + "    def ask(self, text):\n"
        "        self.messages.append({'role': 'user', 'content': text})\n"
        "        reply = OpenAI().chat.completions.create(model=self.model, messages=self.messages)\n"
        "        self.messages.append(reply.choices[0].message)\n\n\n"
        "def serve(pupils):\n    return {pupil: Tutor() for pupil in pupils}\n"
    )
    result = fixed(source, options=Options(frozenset({"AGL103"})))
    assert len(result.applied) == 1, result.report
    head, _, rest = source.partition("    # what was said\n    messages = []  # a list\n")
    kept = "    # the cheap one\n    model = 'gpt-5'\n\n"
    moved = begin + "        # what was said\n        # a list\n        self.messages = []\n"
    body = rest.removeprefix(kept).removeprefix(begin)
    assert result.source.decode() == head + kept + moved + "\n" * (not init) + body
    assert not lost(source, result)
