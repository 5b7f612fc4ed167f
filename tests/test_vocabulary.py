"""The user's own words: each makes a finding possible that the built-in words alone do not give."""

from __future__ import annotations

import pytest

from lint_rules.check import Options, Vocabulary, check_source
from lint_rules.rules.catalogue import BY_CODE

STALE = """\
def rounds(brain, dialog, tools):
    view = list(dialog)
    for _ in range(9):
        said = brain.ponder(view)
        dialog.append(said.message)
        if said.done:
            return said.text
        for wish in said.wishes:
            dialog.append({"role": "tool", "content": tools[wish.name](wish), "tool_call_id": wish.id})
    raise RuntimeError("too many rounds")
"""

UNLOCKED = """\
import threading

class Talk:  # conversation
    def __init__(self):
        self.guard = threading.Lock()
        self.scrollback = []

    def say(self, line):
        self.scrollback.append(line)

    def hear(self, line):
        with self.guard:
            self.scrollback.append(line)
"""

FIRST_ONLY = """\
def stuck(messages, last, now):
    return now.steps[0] == last.steps[0]
"""

cases = pytest.mark.parametrize(
    ("source", "words", "code"),
    [
        (STALE, Vocabulary(llm_calls=("brain.ponder",)), "AGL301"),
        (UNLOCKED, Vocabulary(history_names=("scrollback",)), "AGL101"),
        (FIRST_ONLY, Vocabulary(tool_call_attributes=("steps",)), "AGL401"),
    ],
    ids=["llm-calls", "history-names", "tool-call-attributes"],
)


@cases
def test_the_words_of_the_user_count(source: str, words: Vocabulary, code: str) -> None:
    found = check_source(source.encode(), "talk.py", Options(frozenset(BY_CODE), words)).findings
    assert [finding.code for finding in found] == [code]


@cases
def test_without_them_nothing_is_known(source: str, words: Vocabulary, code: str) -> None:
    assert check_source(source.encode(), "talk.py", Options(frozenset(BY_CODE))).findings == ()
