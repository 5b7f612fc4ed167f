"""What looplint knows of each provider: requests, the form of calls and results, errors, and the rules that name it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from lint_rules.anatomy.vocabulary import ENDPOINTS, LANGCHAIN_CALLS
from lint_rules.rules.catalogue import RULES, Rule
from making import markdown, symptoms


class Provider(NamedTuple):
    """What stands in the references of a provider's API. `requests` are keys of ENDPOINTS."""

    name: str
    requests: tuple[str, ...] = ()
    call: str = ""
    result: str = ""
    speaker: tuple[str, ...] = ()
    """Under which names of symptoms.PROVIDERS its errors stand."""
    word: str = ""
    """How the rules' pages name it, where that is not its name."""


_OPENAI_CALL = "`tool_calls[]` of the assistant's message: `id`, `function.name`, `function.arguments` (JSON text)"
_OPENAI_RESULT = "one message `role: tool` with the `tool_call_id` for each call, right behind the calls"

PROVIDERS = (
    Provider(
        "OpenAI, chat completions",
        tuple(name for name in ENDPOINTS if name.startswith(("chat.completions.", "ChatCompletion."))),
        _OPENAI_CALL,
        f"{_OPENAI_RESULT}; of the servers that speak its language, many want the same (DeepSeek, Qwen)",
        ("OpenAI", "Qwen"),
        "OpenAI",
    ),
    Provider(
        "OpenAI, responses",
        tuple(name for name in ENDPOINTS if name.startswith("responses.")),
        "an item `function_call`: `call_id`, `name`, `arguments` (JSON text)",
        "an item `function_call_output` with the `call_id` for each call",
        ("OpenAI Responses",),
        "responses",
    ),
    Provider(
        "Anthropic",
        ("messages.create", "messages.stream"),
        "a block `tool_use` of the assistant's message: `id`, `name`, `input` (an object)",
        "a block `tool_result` with the `tool_use_id` for each call, all of a round first in the next user message",
        ("Anthropic",),
    ),
    Provider(
        "Gemini",
        tuple(name for name in ENDPOINTS if name.startswith("generate_content")),
        "a part `function_call` of the model's turn: `name`, `args` (an object)",
        "a part `function_response` for each call, as many as there are calls, in the next turn",
        ("Gemini",),
    ),
    Provider(
        "Amazon Bedrock, Converse",
        ("converse", "converse_stream"),
        "a block `toolUse` of the assistant's message: `toolUseId`, `name`, `input` (an object)",
        "a block `toolResult` with the `toolUseId` for each call, all of a round in the next user message",
        ("Bedrock",),
        "Bedrock",
    ),
    Provider(
        "Mistral",
        ("chat.complete", "chat.complete_async", "chat.stream_async"),
        _OPENAI_CALL,
        f"{_OPENAI_RESULT}; behind results stands the assistant, not the user",
        ("Mistral",),
    ),
    Provider(
        "Ollama",
        ("ollama.chat", "ollama.generate"),
        "`tool_calls[]` of the assistant's message: `function.name`, `function.arguments` (an object)",
        "one message `role: tool` for each call",
    ),
    Provider("LiteLLM", tuple(name for name in ENDPOINTS if name.startswith("litellm.")), _OPENAI_CALL, _OPENAI_RESULT),
    Provider(
        "LangChain and LangGraph",
        tuple(sorted(LANGCHAIN_CALLS)),
        "`tool_calls` of an `AIMessage`: `id`, `name`, `args` (an object); what could not be parsed is in"
        " `invalid_tool_calls`",
        "one `ToolMessage` with the `tool_call_id` for each call",
        ("LangGraph",),
        "LangChain",
    ),
    Provider(
        "Pydantic AI",
        (),
        "a `ToolCallPart` of a `ModelResponse`",
        "a `ToolReturnPart`, or a `RetryPromptPart` that names the call",
        ("Pydantic AI",),
    ),
    Provider(
        "Models that run here: llama.cpp, Transformers, Hugging Face",
        ("create_chat_completion", "apply_chat_template", "chat_completion"),
        _OPENAI_CALL,
        _OPENAI_RESULT,
        ("llama.cpp",),
        "llama.cpp",
    ),
)


def page() -> str:
    """All providers."""
    return markdown.page(
        "# By provider",
        "A rule holds for all providers, unless its page says that only some want it so. What differs is how a program"
        " asks, what calls and results look like, and what the API answers when they do not fit together. Your own"
        " wrapper of a provider is found by what it is given and gives back; where that is not enough, name it in"
        " [`llm-calls`](configuration.md#llm-calls).",
        *(part for provider in PROVIDERS for part in _section(provider)),
    )


def unplaced() -> set[str]:
    """Requests that looplint knows, and the page does not."""
    return set(ENDPOINTS) - {name for provider in PROVIDERS for name in provider.requests}


def _section(provider: Provider) -> Iterator[str]:
    yield f"## {provider.name}"
    asked = ", ".join(f"`{name}`" for name in provider.requests)
    facts = {"Requests": asked, "A call": provider.call, "Its result": provider.result}
    yield "\n".join(f"- **{what}**: {text}." for what, text in facts.items() if text)
    errors = {text: rules for speaker in provider.speaker for text, rules in symptoms.errors_of(speaker).items()}
    if errors:
        links = ((markdown.code(text), ", ".join(map(markdown.link, rules))) for text, rules in errors.items())
        yield markdown.table(("it says", "look at"), links)
    naming = [rule for rule in RULES if _names(rule, provider.word or provider.name)]
    if naming:
        yield "Rules that speak of it: " + ", ".join(map(markdown.link, naming)) + "."


def _names(rule: Rule, word: str) -> bool:
    """Whether a rule's page speaks of it where it tells what it looks at; each page has references."""
    told = re.sub(r"^## (Symptoms|References)\n.*?(?=^## |\Z)", "", rule.page(), flags=re.DOTALL | re.MULTILINE)
    return re.search(rf"\b{re.escape(word)}\b", told) is not None
