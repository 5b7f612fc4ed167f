"""Where a program goes on with a response that is no reply: by its status, or by the error that stands in it.

The bodies of refused requests have an `error` (OpenAI and Anthropic API references, errors), and so have the dicts in
which programs hand on what has gone wrong; libraries for HTTP give the status as `status_code` or `status` and say by
`ok`, `is_success` and `is_error` what it means.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from functools import partial
from itertools import pairwise
from typing import Any

import libcst as cst

from lint_rules.syntax import conditions
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.module import SourceModule
from lint_rules.syntax.truth import evaluate

_SERVED = 200
_STATUS = frozenset({"status_code", "status"})
_SAYS = {"ok": True, "is_success": True, "is_error": False, "error": False}
"""What parts of a response give where the request was served; an error goes by more names, `api_error`."""
_COMPARED: dict[type[cst.BaseCompOp], Callable[[Any, Any], bool]] = {
    cst.Equal: operator.eq, cst.NotEqual: operator.ne, cst.LessThan: operator.lt, cst.LessThanEqual: operator.le,
    cst.GreaterThan: operator.gt, cst.GreaterThanEqual: operator.ge,
}  # fmt: skip


Holds = Callable[[cst.BaseExpression], bool]
"""Whether a value is the response."""


class Refusals:
    """Answers for the nodes of one file, and one response: `is_response` tells what holds it."""

    def __init__(self, module: SourceModule, is_response: Holds) -> None:
        self._module = module
        self.served = partial(_served, is_response)
        """What a part of a test gives where the request was served; None where it does not say."""
        self._told: dict[cst.CSTNode, bool | None] = {}

    def __contains__(self, node: cst.CSTNode) -> bool:
        """Whether no request that was served comes to a node."""
        return any(self._tells(tested) is (not holds) for tested, holds in conditions.passed(self._module, node))

    def _tells(self, tested: conditions.Tested) -> bool | None:
        if tested not in self._told:
            self._told[tested] = evaluate(tested.test, self.served)
        return self._told[tested]


def _served(is_response: Holds, part: cst.BaseExpression) -> bool | None:
    """What a part of a test gives where the request was served."""
    if isinstance(part, cst.Comparison):
        return _of_key(is_response, part) if ex.text(part.left) == "error" else _of_status(is_response, part)
    pair = ex.member(part)
    if pair is None or not is_response(pair[0]):
        return None
    return _SAYS.get(pair[1], False if pair[1].endswith("_error") else None)


def _of_key(is_response: Holds, test: cst.Comparison) -> bool | None:
    """`"error" in response`."""
    _, how, response = ex.compared(test)
    return isinstance(how, cst.NotIn) if isinstance(how, (cst.In, cst.NotIn)) and is_response(response) else None


def _of_status(is_response: Holds, test: cst.Comparison) -> bool | None:
    """`response.status_code != 200`, `200 <= response.status < 300`, `response.status in (200, 201)`."""
    parts = [test.left, *(one.comparator for one in test.comparisons)]
    asked = [(pair := ex.member(part)) is not None and pair[1] in _STATUS and is_response(pair[0]) for part in parts]
    numbers = [_SERVED if is_status else ex.integer(part) for part, is_status in zip(parts, asked, strict=True)]
    first = test.comparisons[0]
    if asked[0] and isinstance(first.comparator, (cst.Tuple, cst.List, cst.Set)):
        among = _SERVED in {ex.integer(each.value) for each in first.comparator.elements}
        return among is isinstance(first.operator, cst.In)
    if not any(asked) or None in numbers:
        return None
    hows = [_COMPARED.get(type(one.operator)) for one in test.comparisons]
    return all(how is None or how(*pair) for how, pair in zip(hows, pairwise(numbers), strict=True))
