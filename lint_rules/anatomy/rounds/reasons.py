"""What a program says of why it stops: words that stand where the model's answer would."""

from __future__ import annotations

import re

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.walk import walk

_REASON = re.compile(
    r"stop|repeat|limit|loop|max|abort|budget|cancel|interrupt|duplicate|again|fail|error|too (many|long)|stuck"
    r"|terminat|exceed|halt|give up|gave up|unable|could ?n.t|could not|can ?not|can.t|sorry|incomplete|unfinished"
    r"|no (final )?(answer|reply|response)|not (finish|complete|answer)",
    re.IGNORECASE,
)


def says_why(anatomy: Anatomy, value: cst.BaseExpression) -> bool:
    """Whether the words that stand in for an answer tell why the agent has stopped, or that it has none."""
    said = [value, *anatomy.facts.values_of(value)]
    texts = [ex.text(part) or "" for part in said]
    texts += [n.value for part in said for n in walk(part) if isinstance(n, cst.FormattedStringText)]
    return any(_REASON.search(text) for text in texts)


def is_mere_word(anatomy: Anatomy, value: cst.BaseExpression) -> bool:
    """Whether one word, as people say it, stands for an answer: "Done." gives no reason, and "timeout" is a code."""
    said = ex.text(value) or ""
    return said.istitle() and len(said.split()) == 1 and not says_why(anatomy, value)
