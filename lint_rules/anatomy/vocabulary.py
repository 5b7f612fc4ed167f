"""The words of agents: which calls reach a model, which keys make a message. Data only.

Sources: the API references of OpenAI (chat completions, responses), Anthropic (messages), Google (Gemini
generate_content), AWS (Bedrock converse), Mistral, Ollama, LiteLLM and LangChain (chat models).
"""

from __future__ import annotations

import re
from collections.abc import Collection
from functools import lru_cache
from typing import NamedTuple

from lint_rules.syntax.threads import IN_THREAD


class Vocabulary(NamedTuple):
    """The user's words beside these: wrappers that call a model, names of histories, of tool-call lists."""

    llm_calls: tuple[str, ...] = ()
    history_names: tuple[str, ...] = ()
    tool_call_attributes: tuple[str, ...] = ()


ENDPOINTS: dict[str, tuple[str, ...]] = {
    "chat.completions.create": ("messages",),
    "chat.completions.parse": ("messages",),
    "chat.completions.stream": ("messages",),
    "ChatCompletion.create": ("messages",),
    "ChatCompletion.acreate": ("messages",),
    "responses.create": ("input",),
    "responses.parse": ("input",),
    "responses.stream": ("input",),
    "messages.create": ("messages",),
    "messages.stream": ("messages",),
    "chat.complete": ("messages",),
    "chat.complete_async": ("messages",),
    "chat.stream_async": ("messages",),
    "litellm.completion": ("messages",),
    "litellm.acompletion": ("messages",),
    "litellm.responses": ("input",),
    "litellm.aresponses": ("input",),
    "litellm.batch_completion": ("messages",),
    "ollama.chat": ("messages",),
    "ollama.generate": ("prompt",),
    "generate_content": ("contents",),
    "generate_content_async": ("contents",),
    "generate_content_stream": ("contents",),
    "converse": ("messages",),
    "converse_stream": ("messages",),
    "chat_completion": ("messages",),
    "create_chat_completion": ("messages",),
    "apply_chat_template": ("conversation",),
}
"""Ends of dotted names of calls that reach a model, and the keyword under which they take the history."""

ENDPOINT_ENDS = frozenset(name.rpartition(".")[2] for name in ENDPOINTS)
AMBIGUOUS_ENDPOINTS = frozenset({"messages.create", "messages.stream", "responses.create", "chat_completion"})
"""Endpoints other SDKs have too (Twilio's `messages.create(to=...)`): they count only with a model's keyword."""
IN_CONTENT = frozenset({"messages.create", "messages.stream", "converse", "converse_stream"})
"""Endpoints whose messages have calls and results among the blocks of their content, and not beside it."""
REASONS = frozenset({"stop_reason", "finish_reason", "stopReason"})
"""Where a reply says why it has ended."""
CALLS_IN_CONTENT = frozenset({"tool_use", "TOOL_USE"})
"""What says there that it has calls, among the blocks of its content; such an API always limits the tokens."""
WITH_CALLS = CALLS_IN_CONTENT | {"tool_calls", "function_call", "TOOL_CALLS"}
BLOCKS = frozenset({"content", "parts"})
"""Where messages of blocks have these. Source: the APIs of Anthropic, Bedrock, Gemini."""

CLASS_ROLES = {
    "AIMessage": "assistant", "ModelResponse": "assistant", "HumanMessage": "user", "SystemMessage": "system",
    "ToolMessage": "tool", "FunctionMessage": "tool", "UserMessage": "user", "AssistantMessage": "assistant",
    "FunctionExecutionResultMessage": "tool",
}  # fmt: skip
"""The roles of the classes of messages. Source: the API references of LangChain, Pydantic AI and AutoGen."""

SIZES = frozenset({"token", "tokens", "context", "length", "limit", "size", "long", "large"})
"""Words by which somebody looks in an error's text for a context that is full. They stand in many other errors."""
_BRANCHES = re.compile(r"[|()?:]|\\b")


def size_in(pattern: str) -> str | None:
    """Which of `SIZES` a text is, or one branch of a pattern: `token|context`."""
    branches = (branch.strip().lower() for branch in _BRANCHES.split(pattern))
    return next((branch for branch in branches if branch in SIZES), None)


REQUEST_KEYWORDS = frozenset(
    {
        "model", "tools", "tool_choice", "functions", "temperature", "max_tokens", "max_completion_tokens",
        "response_format", "system", "stream", "modelId", "toolConfig", "parallel_tool_calls", "tool_config",
    }
)  # fmt: skip
"""Keywords that, beside the history, show that a call is a request to a model."""


_OF_RESPONSES = frozenset({"tools", "tool_choice", "previous_response_id", "truncation", "max_output_tokens"})
"""What stands beside `model` and `input` in a request of the Responses API, and not in one for vectors or speech."""


_OF_GEMINI = frozenset(
    {
        "system_instruction", "systemInstruction", "tools", "tool_config", "toolConfig", "generation_config",
        "generationConfig", "safety_settings", "safetySettings", "cached_content", "cachedContent",
    }
)  # fmt: skip
"""What stands beside `contents` in the body of a request to Gemini (Gemini API reference, `generateContent`)."""


SENT = frozenset({"messages", "input", "contents"})
"""The names under which a request by keywords gets its history."""


def sent_under(names: Collection[str]) -> str | None:
    """The one of these names that a request to a model gives its history under; None where they are of no request."""
    if "messages" in names and not REQUEST_KEYWORDS.isdisjoint(names):
        return "messages"
    if "contents" in names and not _OF_GEMINI.isdisjoint(names):
        return "contents"
    is_response = "input" in names and "model" in names and not _OF_RESPONSES.isdisjoint(names)
    return "input" if is_response else None


_OF_GENERATE = frozenset(
    {"stream", "options", "format", "system", "template", "raw", "keep_alive", "temperature", "max_tokens"}
)
"""What stands beside `prompt` in the body of a request for a completion (Ollama and OpenAI API references)."""


def is_request(names: Collection[str]) -> bool:
    """Whether what is given under these names is a request to a model."""
    return sent_under(names) is not None


def is_body(names: Collection[str]) -> bool:
    """Whether a body of these names is one of a request: also one to go on with a text, in which all lies it knows."""
    completes = "prompt" in names and "model" in names and not _OF_GENERATE.isdisjoint(names)
    return completes or is_request(names)


ASKING = frozenset(
    {
        "ask", "ask_tool", "achat", "acomplete", "acompletion", "agenerate", "ainvoke", "call", "call_llm", "chat",
        "chat_completion", "chat_with_tools", "complete", "completion", "completions", "create", "generate",
        "get_completion", "get_response", "infer", "invoke", "llm", "predict", "query", "request", "respond",
        "send", "stream", "astream", "stream_chat", "chat_stream", "acompletion_with_retry", "run_llm",
        "generate_response", "create_message", "create_completion", "call_model", "call_api", "complete_chat",
    }
)  # fmt: skip
"""Method names that ask a model *when* they get a history, or their result is read as a model's reply."""

LANGCHAIN_CALLS = frozenset({"invoke", "ainvoke", "stream", "astream"})
MODEL_FACTORIES = frozenset({"init_chat_model", "bind_tools", "with_structured_output"})
SESSION_CALLS = frozenset({"send_message", "send_message_async", "send_message_stream"})
SESSION_FACTORIES = ("start_chat", "chats.create")
"""What goes on with a chat of Gemini's SDKs, and the ends of the dotted names of what begins one."""
SESSION_TYPES = frozenset({"AsyncChat", "ChatSession"})
"""Their classes (google-genai and google-generativeai API references); `Chat` is one of many bots' SDKs, too."""

MESSAGE_CLASSES = frozenset(
    {
        "AIMessage", "HumanMessage", "SystemMessage", "ToolMessage", "FunctionMessage", "ChatMessage",
        "ModelRequest", "ModelResponse",
    }
)  # fmt: skip

ROLES = frozenset({"system", "developer", "user", "assistant", "tool", "function", "model", "human", "ai"})
TELLING_ROLES = frozenset({"assistant", "tool", "system"})
"""Roles that only model histories have; `user` alone may be somebody's permissions."""

SAID = frozenset({"assistant", "model"})
"""The roles under which providers take what a model has said."""
SPEAKERS = SAID | {"ai", "bot"}
"""What messages that a model has said are marked by, in the stores of programs, too."""

IDS = frozenset({"id", "call_id", "tool_call_id", "tool_use_id", "toolUseId"})
"""Fields in which a call or a result says which call is meant."""
ANSWERED = frozenset({"tool_call_id", "tool_use_id", "toolUseId", "call_id", "function_call_id"})
"""Under which keys a result says which call it is for."""
ANSWERED_BLOCKS = frozenset({"tool_use_id", "toolUseId"})
RESPONSES = frozenset({"function_response", "functionResponse"})
"""What a part of a message is called that answers a call by its name. Source: Gemini API, FunctionResponse."""
RESULT_PARTS = RESPONSES | {"toolResult"}
"""Parts of a message that hold the result of a call. Source: Gemini API, Bedrock (Converse)."""
PROVIDER_TOOLS = frozenset({"web_search", "web_fetch", "code_execution", "bash_code_execution", "file_search"})
"""Tools that the provider runs itself: no client answers their calls. Source: Anthropic and OpenAI API references."""
RESPONSE_MAKERS = frozenset({"from_function_response", "FunctionResponse"})

MESSAGE_PARTS = frozenset(
    {"content", "tool_calls", "tool_call_id", "tool_use_id", "function_call", "parts", "reasoning_content"}
)

MESSAGE_TYPES = frozenset(
    {
        "ChatCompletionMessageParam", "ChatCompletionMessage", "MessageParam",
        "BetaMessageParam", "ModelMessage", "BaseMessage", "AnyMessage", "ChatMessage", "ResponseInputItemParam",
        "AllMessageValues", "LLMMessage",
    }
)  # fmt: skip
"""Annotations that name one message; a list or sequence of them is a history."""

CALL_TYPES = frozenset(
    {
        "ChatCompletionMessageToolCall", "ChatCompletionMessageToolCallParam", "ResponseFunctionToolCall",
        "ToolUseBlock", "BetaToolUseBlock", "ToolCall", "FunctionCall", "ChatCompletionMessageFunctionToolCall",
    }
)  # fmt: skip
"""Classes whose objects are tool calls."""

CALLS_ATTRIBUTES = frozenset({"tool_calls", "tool_call_chunks"})
"""Under which a message, or a piece of one, has its calls. Source: OpenAI, chat completions; LangChain, messages."""
CALL_TAGS = frozenset({"tool_use", "function_call", "toolUse", "tool_call", "function.call"})
"""Values of `.type` that mark a block of a reply as a tool call."""
CALL_WRAPPERS = frozenset({"toolUse", "functionCall", "function_call"})
"""Keys under which a part of a message of Bedrock or Gemini holds a call."""
CALL_WORDS = CALLS_ATTRIBUTES | CALL_TAGS | CALL_WRAPPERS
TEXT_TAGS = frozenset({"text", "input_text", "output_text"})
RESULT_TAGS = frozenset({"tool_result", "function_call_output", "tool-result", "tool_response", "function_response"})
_CALLING = re.compile("tool|function|call")


def may_mark_a_call(tag: str) -> bool:
    """Whether a provider's value of `.type` may be that of a call, or of an event or a list of calls."""
    return _CALLING.search(tag) is not None and "result" not in tag and tag not in RESULT_TAGS


HISTORY_NAMES = frozenset(
    {
        "messages", "history", "conversation", "chat_history", "message_history", "conversation_history", "msgs",
        "dialog", "dialogue", "transcript", "memory", "thread", "context", "turns", "log", "chat_log",
    }
)  # fmt: skip
"""Names of histories: never enough alone."""

CALLED_HISTORIES = frozenset(
    {"messages", "msgs", "chat_messages", "message_history", "chat_history", "conversation_history", "history"}
)
"""Names of parameters: with a list of dicts as annotation, and a `content` in these, enough."""


@lru_cache(maxsize=4096)
def says_arguments(name: str) -> bool:
    """Whether an attribute says that it holds a call's arguments as text."""
    said = r"(tool|function)_call_arg\w*(str|json|text|buffer|raw)|^raw_(tool|function)_call_arg"
    return "call_arg" in name and re.search(said, name) is not None


TEXT_FUNCTIONS = frozenset(
    {
        "decode", "findall", "finditer", "fullmatch", "group", "groups", "join", "lstrip", "match", "partition",
        "removeprefix", "removesuffix", "replace", "rpartition", "rsplit", "rstrip", "search", "split", "splitlines",
        "str", "strip", "sub",
    }
)  # fmt: skip
"""Functions and methods whose result is a part or another form of the text they get."""

ARGUMENT_CALLBACKS = {"on_invoke_tool": 1}
"""Keywords that take a function which gets a tool's arguments as the model wrote them: at this position (0-based)."""

SESSION_CACHES = frozenset({"cache_resource", "experimental_singleton"})
"""Decorators of Streamlit that give all sessions the same object."""

ALL_MESSAGES = frozenset({"all_messages", "to_input_list", "get_history"})
"""By which the result of a run, or a chat, gives all messages: Pydantic AI, the Agents SDK, Gemini."""

THREADS: dict[str, int | str] = {
    "Thread": "target", "Timer": 1, "submit": 0, "start_background_task": 0, "start_new_thread": 0, "apply_async": 0,
    **IN_THREAD,
}  # fmt: skip
"""Calls that run a function in a thread, and where they take it."""
EXECUTOR_MAPS = frozenset({"map", "imap", "imap_unordered", "starmap"})
TASKS = frozenset(
    {
        "create_task", "ensure_future", "start_soon", "spawn", "run_coroutine_threadsafe", "add_task", "call_later",
        "call_soon_threadsafe", "create_background_task",
    }
)  # fmt: skip
CALLBACKS = frozenset({"add_done_callback", "do", "add_job"})

DECODERS = frozenset(
    {
        "json.loads", "orjson.loads", "ujson.loads", "simplejson.loads", "json5.loads", "rapidjson.loads",
        "ast.literal_eval", "eval", "jiter.from_json", "pydantic_core.from_json", "msgspec.json.decode",
    }
)  # fmt: skip
READERS = frozenset({"json.load", "simplejson.load", "ujson.load"})
"""What decodes the JSON of a file, or of an open response."""
MATCHERS = frozenset({"findall", "finditer", "fullmatch", "match", "search"})
"""Functions of `re` that look for a pattern in a text."""
SERVER_CALL = "call_tool"
"""What runs a tool on a server of the Model Context Protocol. Source: Python SDK, FastMCP."""
DECODING_METHODS = frozenset({"model_validate_json", "validate_json", "parse_raw"})
"""Methods of Pydantic's classes and adapters that decode JSON, and check what is in it."""
VALIDATORS = DECODING_METHODS | {"model_validate", "model_construct", "parse_obj", "from_orm"}
"""Methods of Pydantic's classes that give an object of the class. Source: Pydantic, `BaseModel`, versions 1 and 2."""
ENCODERS = frozenset({"json.dumps", "orjson.dumps", "ujson.dumps", "simplejson.dumps", "json5.dumps"})

SCHEMA_NAMES = frozenset(
    {
        "inputSchema", "input_schema", "params_json_schema", "parameters_json_schema", "args_schema", "tool_spec",
        "openai_schema", "function_schema", "tool_schema", "outputSchema",
    }
)  # fmt: skip
"""Names under which a tool keeps the schema of its arguments (MCP, Anthropic, OpenAI Agents, Gemini, LangChain)."""

CONVERSATIONS: dict[str, frozenset[str]] = {
    "threads.runs.create": frozenset({"thread_id"}),
    "threads.runs.create_and_poll": frozenset({"thread_id"}),
    "threads.runs.stream": frozenset({"thread_id"}),
    "Runner.run": frozenset({"session"}),
    "Runner.run_streamed": frozenset({"session"}),
    "Runner.run_sync": frozenset({"session"}),
    "responses.create": frozenset({"conversation", "previous_response_id"}),
    "responses.stream": frozenset({"conversation", "previous_response_id"}),
    "responses.parse": frozenset({"conversation", "previous_response_id"}),
    "Runner.run_async": frozenset({"session_id"}),
    "InMemoryRunner.run_async": frozenset({"session_id"}),
}
"""Ends of dotted names of calls that go on with a conversation which the provider keeps, and the keywords that name it.

Source: OpenAI API reference, Assistants (a thread takes no message while a run is active) and Responses (conversation
state); OpenAI Agents SDK, Sessions; Google Agent Development Kit, Runtime (a runner appends its events to the session).
"""

CONFIGURED = frozenset({"invoke", "ainvoke", "stream", "astream", "astream_events"})
CONFIGURED_KEYS = frozenset({"thread_id", "session_id", "conversation_id"})
"""Methods that go on with the conversation which a key of `configurable` in their `config` names.

Source: LangGraph documentation, Persistence (threads); LangChain, `RunnableWithMessageHistory`.
"""
THREAD_LOADS, THREAD_STORES = frozenset({"get_state", "aget_state"}), frozenset({"update_state", "aupdate_state"})
"""Methods that give, and write, the state of such a conversation, with its messages. Source: LangGraph, Persistence."""
TABLES = (
    "sqlalchemy", "flask_sqlalchemy", "sqlmodel", "django.db", "tortoise", "peewee", "mongoengine", "beanie",
    "odmantic", "ormar", "pony",
)  # fmt: skip
"""Packages of which the classes of rows come."""

OF_UNITS = frozenset({"commit", "flush", "rollback", "refresh", "expunge"})
"""What a unit of work does, and no list. Source: SQLAlchemy, the Session."""

MAKERS = frozenset({"threads.create", "conversations.create"})
"""Ends of dotted names of calls that have the provider begin a conversation. Source: as of `CONVERSATIONS`."""

KEEPERS = {
    "start_chat": ("google", "vertexai"),
    "ConversationBufferMemory": ("langchain",),
    "ConversationBufferWindowMemory": ("langchain",),
    "ConversationSummaryMemory": ("langchain",),
    "ConversationSummaryBufferMemory": ("langchain",),
    "ConversationChain": ("langchain",),
    "ChatMessageHistory": ("langchain",),
    "InMemoryChatMessageHistory": ("langchain",),
    "ChatMemoryBuffer": ("llama_index",),
    "SQLiteSession": ("agents",),
    "AdvancedSQLiteSession": ("agents",),
    "SQLAlchemySession": ("agents",),
    "EncryptedSession": ("agents",),
    "OpenAIConversationsSession": ("agents",),
    "ClaudeSDKClient": ("claude_agent_sdk", "claude_code_sdk"),
    "AIChat": ("simpleaichat",),
}
"""Calls of libraries that make an object which keeps one conversation, and where they are imported from."""

GRAPHS = {"StateGraph": ("langgraph.",), "MessageGraph": ("langgraph.",)}
TOOL_STEPS = frozenset({"ToolNode"})
AGENTS = {
    "Agent": ("pydantic_ai.", "agents."),
    "AgentExecutor": ("langchain.", "langchain_classic."),
    "CompiledStateGraph": ("langgraph.",),
    "create_agent": ("langchain.",),
    "create_react_agent": ("langgraph.",),
    **GRAPHS,
}
AGENT_RUNNERS = {"Runner": ("agents.",)}
"""What libraries make an agent by that runs its tools itself, and run it by, and where it is imported from.

Of a graph, the steps do so. Source: Pydantic AI, Agents; LangChain, Agents; LangGraph, Graph API; OpenAI Agents SDK.
"""
AGENT_RUNS = frozenset(
    {"run", "run_sync", "run_stream", "run_streamed", "iter", "invoke", "ainvoke", "stream", "astream"}
)
"""Their methods that run one."""
ROUND_LIMITS = {
    "maximum_remote_calls": ("google",),
    "max_iterations": ("langchain", "langchain_classic", "llama_index"),
    "max_steps": ("smolagents",),
    "max_turns": ("agents", "autogen"),
    "recursion_limit": ("langchain", "langgraph"),
    "request_limit": ("pydantic_ai",),
}
"""By what name libraries are told how often their agents may ask the model. Source: their references."""
TOOL_RUNNERS = frozenset({"tool_runner"})
"""What sends requests, runs the tools of the replies, and keeps the messages. Source: Anthropic SDK, Tool helpers."""

TOOL_NAMES = frozenset({"tool_name", "function_name", "func_name", "fn_name", "tool", "function"})
"""Parameters that name the tool to run."""

SAYS_HOW_MUCH = re.compile(
    r"trunc|omit|elided|remain|character|chars|bytes|lines|left out|skipped|shorten|abridg|clipped|"
    r"not shown|full (text|output|result|content)|see |saved|\bmore\b|\bfirst\b|\btotal\b|limit|redacted",
    re.IGNORECASE,
)
"""Words beside a text that say that, or how much of it, is missing."""
SAYS_IT_IS_CUT = re.compile(
    r"trunc|omit|elided|left out|shorten|abridg|clipped|not shown|full (text|output|result|content)|redacted",
    re.IGNORECASE,
)
"""Words that say so wherever they stand."""
NAMES_A_PART = re.compile(
    r"excerpt|preview|snippet|partial|beginning of|\bhead of\b|(^|_)head$|(start|begin)s with:?[ \t]*$",
    re.IGNORECASE | re.MULTILINE,
)
"""Words before a text, or the key under which it stands, that say that it is a part of one."""
TOOL_DECORATORS = frozenset({"tool", "tool_plain", "function_tool", "kernel_function", "beta_tool", "beta_async_tool"})
"""Names of decorators by which libraries make a tool of a function (LangChain, MCP, Pydantic AI, OpenAI Agents SDK,
smolagents, CrewAI, Strands, Semantic Kernel, Anthropic)."""
INSTRUCTIONS = ("system", "system_instruction", "instructions", "system_prompt")
"""Keywords by which a request gets its system prompt."""
OF_MODELS = REQUEST_KEYWORDS.difference(INSTRUCTIONS)
"""Keywords that tell of a model, and not what it is told."""
REPLY_LIMITS = ("max_tokens", "max_completion_tokens", "max_output_tokens", "max_new_tokens")
"""Keywords by which a request says how long the reply may be, in tokens."""
