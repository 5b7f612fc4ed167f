"""The look at the bytes: whether anything in a file speaks of agents. Most files cost this, and the parsing."""

from __future__ import annotations

import re

from lint_rules.anatomy import vocabulary as words
from lint_rules.anatomy.frameworks import ENTRIES, PACKAGES
from lint_rules.anatomy.vocabulary import Vocabulary

__all__ = ["agent", "begins", "catches", "cuts", "plainly", "shortens", "user_words"]

_AGENT_WORDS = (
    b"messages", b"role", b"chat", b"completion", b"choice", b"tool_call", b"tool_use", b"toolUse", b"ToolUse",
    b"ToolCall", b"FunctionCall", b"function_call", b"partial_json", b"responses", b"generate_content", b"converse",
    b"conversation", b"stop_reason", b"finish_reason", b"Message", b"ModelRe", b"langchain", b"langgraph", b"ollama",
    b"init_chat_model", b"bind_tools", b"with_structured_output", b"ResponseInputItem", b"ResponseFunctionToolCall",
    b"inputSchema", b"input_schema", b"json_schema", b"tool_spec", b"args_schema", b"function_schema", b"tool_schema",
    b"openai_schema", b"outputSchema", b"assistant", b"pydantic_ai", b"to_input_list", b"prompt",
)  # fmt: skip
"""One of them stands in every file in which `evidence` sees a message, a tool call, or a request to a model..."""
_JSON_WORDS = (b"loads", b"eval(", b"from_json", b"decode", b"dumps")
_TOOL_WORDS = (
    b"tool", b"Tool", b"TOOL", b"func", b"Func", b"FUNC", b"fn_name", b"arguments",
    *(name.encode() for name in sorted(words.MATCHERS)),
)  # fmt: skip
"""... or one of each of these, where JSON is parsed for a tool, or calls are picked out of a text ..."""
_TOLD_OF = (b"description", b"parameters", b"**", *(b"@" + name.encode() for name in words.TOOL_DECORATORS), b".tool")
_HEAD = re.compile(rb"\[0?:\s*[\w(]")
"""... or one of these, where a tool gives back the head of a text, ..."""
_EMPTIED = re.compile(rf"\.(?:{'|'.join(sorted(words.HISTORY_NAMES))}) ?=".encode())
"""... or one of these, where a history is emptied before a question, ..."""
_SERVES = re.compile(
    rf"^[ \t]*(?:from|import)[ ]+(?:{'|'.join(sorted({*PACKAGES, 'gr'}))})\b|^def (?:{'|'.join(ENTRIES)})\b".encode(),
    re.MULTILINE,
)
"""... or one of these, where the agent lies in a file that is imported."""
_BEGINS = re.compile(rf"\b(?:{'|'.join(sorted({*words.THREADS, *words.TASKS}))})\b".encode())
_CUT = re.compile(rb"\[[^\[\]]*:|\bpop\(\w+\)|\bpopleft\b|\bdeque\b|\breversed\b|, ?-1\)|-=|\bdel\b")

_PLAIN_WORDS = (b"tool_calls", b'"role"', b"'role'", b"completions.create")


def agent(source: bytes, vocabulary: Vocabulary) -> bool:
    """Whether there is any word of agents, or of the user's."""
    return (
        any(word in source for word in _AGENT_WORDS)
        or (any(word in source for word in _JSON_WORDS) and any(word in source for word in _TOOL_WORDS))
        or (any(word in source for word in _TOLD_OF) and shortens(source))
        or _EMPTIED.search(source) is not None
        or _SERVES.search(source) is not None
        or user_words(source, vocabulary)
    )


def shortens(source: bytes) -> bool:
    """Whether the head of something is taken: it may be a text that a model reads, if another file tells of it."""
    return _HEAD.search(source) is not None


def catches(source: bytes) -> bool:
    """Whether errors are caught: it may keep a history for another file."""
    return b"except" in source or b"suppress" in source


def cuts(source: bytes) -> bool:
    """Whether a list may be cut by position: it may be the history of another file."""
    return _CUT.search(source) is not None


def begins(source: bytes) -> bool:
    """Whether a thread or task is begun: it may run the agent of another file."""
    return _BEGINS.search(source) is not None


def plainly(source: bytes) -> bool:
    """Whether a file speaks of agents so plainly that it will most likely be analysed: four of five are."""
    return any(word in source for word in _PLAIN_WORDS)


def user_words(source: bytes, vocabulary: Vocabulary) -> bool:
    """Whether there is a word that the user has listed: such a file is always worth it."""
    listed = (*vocabulary.llm_calls, *vocabulary.history_names, *vocabulary.tool_call_attributes)
    return any(name.rpartition(".")[2].encode() in source for name in listed)
