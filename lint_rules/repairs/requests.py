"""One keyword more for a request, in the words of its API: what it says of the tools that it offers."""

from __future__ import annotations

from typing import Any, NamedTuple

import libcst as cst

from lint_rules.syntax import expressions as ex
from lint_rules.syntax.module import SourceModule

_OPENAI = (".chat.completions.create", ".chat.completions.parse", ".responses.create", ".responses.parse")
_LITELLM = frozenset({"litellm.completion", "litellm.acompletion"})
_ANTHROPIC = (".messages.create", ".messages.stream")
_TIGHT = cst.AssignEqual(cst.SimpleWhitespace(""), cst.SimpleWhitespace(""))


class Words(NamedTuple):
    """A keyword and its value, for chat completions and responses, and for Anthropic's messages."""

    openai: tuple[str, str]
    anthropic: tuple[str, str]


ONE_CALL = Words(
    ("parallel_tool_calls", "False"), ("tool_choice", '{"type": "auto", "disable_parallel_tool_use": True}')
)
NO_CALL = Words(("tool_choice", '"none"'), ("tool_choice", '{"type": "none"}'))


def with_words(module: SourceModule, request: cst.Call, words: Words) -> cst.Call | None:
    """A request with tools that says it; None for those of other APIs, and where it may say something already."""
    name = ex.dotted(request.func) or ""
    if name.endswith(_OPENAI) or module.imports.resolve(name) in _LITELLM:
        keyword, value = words.openai
    elif name.endswith(_ANTHROPIC):
        keyword, value = words.anthropic
    else:
        return None
    said = ex.keywords(request)
    if "tools" not in said or keyword in said or any(arg.star for arg in request.args):
        return None
    return _with_argument(request, keyword, cst.parse_expression(value))


def _with_argument(call: cst.Call, keyword: str, value: cst.BaseExpression) -> cst.Call:
    """A call with an argument behind the others, on a line of its own where they have lines of their own."""
    *before, last = call.args
    between = _between(call)
    new = cst.Arg(
        value,
        keyword=cst.Name(keyword),
        equal=_TIGHT,
        comma=last.comma,
        whitespace_after_arg=last.whitespace_after_arg,
    )
    comma = last.comma if isinstance(last.comma, cst.Comma) else cst.Comma()
    last = last.with_changes(
        comma=comma.with_changes(whitespace_after=between), whitespace_after_arg=cst.SimpleWhitespace("")
    )
    return call.with_changes(args=[*before, last, new])


def _between(call: cst.Call) -> Any:
    """The space between two arguments, without the comments in it."""
    if len(call.args) > 1 and isinstance(call.args[-2].comma, cst.Comma):
        space = call.args[-2].comma.whitespace_after
    else:
        space = call.whitespace_before_args
    if isinstance(space, cst.ParenthesizedWhitespace):
        plain = cst.TrailingWhitespace(newline=space.first_line.newline)
        return space.with_changes(first_line=plain, empty_lines=[])
    return cst.SimpleWhitespace(" ")
