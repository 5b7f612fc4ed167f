"""How one round looks with each provider: the request, its reply, the calls in it, and what goes back.

Facts from the providers' documentation; the programs that are made of them are nobody's.
"""

from __future__ import annotations

from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Provider:
    """Texts of Python, with `{h}` for the history, `{tools}` for the tools of a request, `{call}` and `{out}`."""

    name: str
    head: str
    ask: str
    tools: str  # what stands for `{tools}` where tools are offered
    said: str  # the model's message, of `reply`
    calls: str  # its calls, of `said`
    words: str  # its text, of `said`
    plain: str  # the message as JSON can store it, of `said`
    called: str  # the name of `{call}`
    given: str  # the arguments of `{call}`, as a dict
    answer: str
    user: str
    reason: str = ""  # why the model stopped, of `reply`
    asks: str = ""  # the reason of a reply that asks for tools
    wrap: str = ""  # one message of all results, of `got`
    bare: str = ""  # the message without its calls
    question: str = 'isinstance(shown[0], dict) and shown[0].get("role") == "user"'
    """Whether a turn begins with `shown[0]`: it is what a user has said, and no results."""
    several: bool = False  # what stands for the message is a list of items
    rebuilt: bool = False  # the program makes the message of its own reply anew
    beside: str = ""  # a file of the program that makes it its own, `wire.py`


CHAT_ANSWER = '{{"role": "tool", "tool_call_id": {call}.id, "content": {out}}}'
CHAT_USER = '{{"role": "user", "content": {text}}}'

OPENAI = Provider(
    "openai",
    "from openai import {A}OpenAI\n\nline = {A}OpenAI()\n",
    '{w}line.chat.completions.create(model="gpt-5-mini", max_tokens=900, messages={h}{tools})',
    ", tools=KIT",
    "reply.choices[0].message",
    "said.tool_calls or []",
    "said.content",
    "said.model_dump(exclude_none=True)",
    "{call}.function.name",
    "json.loads({call}.function.arguments)",
    CHAT_ANSWER,
    CHAT_USER,
    bare='{"role": "assistant", "content": said.content}',
    reason="reply.choices[0].finish_reason",
    asks="tool_calls",
)
LITELLM = replace(
    OPENAI,
    name="litellm",
    head="import litellm\n",
    ask='{w}litellm.{a}completion(model="gpt-5-mini", max_tokens=900, messages={h}{tools})',
)
RAW = Provider(
    "raw",
    "import httpx\n\nURL = 'https://api.openai.com/v1/chat/completions'\nWIRE = httpx.{C}Client()\n",
    "({w}WIRE.post(URL, json={{'model': 'gpt-5-mini', 'max_tokens': 900, 'messages': {h}{tools}}})).json()",
    ", 'tools': KIT",
    'reply["choices"][0]["message"]',
    'said.get("tool_calls") or []',
    'said["content"]',
    "said",
    '{call}["function"]["name"]',
    'json.loads({call}["function"]["arguments"])',
    '{{"role": "tool", "tool_call_id": {call}["id"], "content": {out}}}',
    CHAT_USER,
    bare='{"role": "assistant", "content": said["content"]}',
    reason='reply["choices"][0]["finish_reason"]',
    asks="tool_calls",
)
ANTHROPIC = Provider(
    "anthropic",
    "from anthropic import {A}Anthropic\n\nline = {A}Anthropic()\n",
    '{w}line.messages.create(model="claude-haiku-4-5", max_tokens=900, messages={h}{tools})',
    ", tools=KIT",
    '{"role": "assistant", "content": reply.content}',
    '[part for part in said["content"] if part.type == "tool_use"]',
    '"".join(part.text for part in said["content"] if part.type == "text")',
    '{"role": "assistant", "content": [part.model_dump() for part in said["content"]]}',
    "{call}.name",
    "{call}.input",
    '{{"type": "tool_result", "tool_use_id": {call}.id, "content": {out}}}',
    CHAT_USER,
    wrap='{"role": "user", "content": got}',
    bare='{"role": "assistant", "content": "".join(part.text for part in said["content"] if part.type == "text")}',
    question='shown[0]["role"] == "user" and isinstance(shown[0]["content"], str)',
    reason="reply.stop_reason",
    asks="tool_use",
)
GEMINI = Provider(
    "gemini",
    "from google import genai\nfrom google.genai import types\n\nline = genai.Client()\n",
    '{w}line.{aio}models.generate_content(model="gemini-2.5-flash", contents={h}{tools})',
    ", config=types.GenerateContentConfig(tools=KIT)",
    "reply.candidates[0].content",
    "[part.function_call for part in said.parts if part.function_call]",
    '"".join(part.text for part in said.parts if part.text)',
    "said.model_dump()",
    "{call}.name",
    "dict({call}.args)",
    '{{"function_response": {{"name": {call}.name, "response": {{"result": {out}}}}}}}',
    '{{"role": "user", "parts": [{{"text": {text}}}]}}',
    wrap='{"role": "user", "parts": got}',
    question='isinstance(shown[0], dict) and shown[0]["role"] == "user" and "text" in shown[0]["parts"][0]',
    bare='{"role": "model", "parts": [{"text": part.text} for part in said.parts if part.text]}',
)
BEDROCK = Provider(
    "bedrock",
    'import boto3\n\nline = boto3.client("bedrock-runtime")\n',
    'line.converse(modelId="amazon.nova-lite-v1:0", messages={h}{tools})',
    ", toolConfig={'tools': KIT}",
    'reply["output"]["message"]',
    '[part["toolUse"] for part in said["content"] if "toolUse" in part]',
    '"".join(part.get("text", "") for part in said["content"])',
    "said",
    '{call}["name"]',
    '{call}["input"]',
    '{{"toolResult": {{"toolUseId": {call}["toolUseId"], "content": [{{"text": {out}}}]}}}}',
    '{{"role": "user", "content": [{{"text": {text}}}]}}',
    wrap='{"role": "user", "content": got}',
    bare='{"role": "assistant", "content": [part for part in said["content"] if "text" in part]}',
    question='shown[0]["role"] == "user" and "text" in shown[0]["content"][0]',
    reason='reply["stopReason"]',
    asks="tool_use",
)
OLLAMA = Provider(
    "ollama",
    "import ollama\n\nline = ollama.{A}Client()\n",
    '{w}line.chat(model="qwen3", messages={h}{tools})',
    ", tools=KIT",
    "reply.message",
    "said.tool_calls or []",
    "said.content",
    "said.model_dump()",
    "{call}.function.name",
    "{call}.function.arguments",
    '{{"role": "tool", "tool_name": {call}.function.name, "content": {out}}}',
    CHAT_USER,
    bare='{"role": "assistant", "content": said.content}',
)
RESPONSES = Provider(
    "responses",
    "from openai import {A}OpenAI\n\nline = {A}OpenAI()\n",
    '{w}line.responses.create(model="gpt-5-mini", input={h}{tools})',
    ", tools=KIT",
    "reply",
    '[part for part in said.output if part.type == "function_call"]',
    "said.output_text",
    "[part.model_dump() for part in said.output]",
    "{call}.name",
    "json.loads({call}.arguments)",
    '{{"type": "function_call_output", "call_id": {call}.call_id, "output": {out}}}',
    CHAT_USER,
    bare='{"role": "assistant", "content": said.output_text}',
    several=True,
)
OWN = Provider(
    "own",
    "from wire{i} import Wire\n\nline = Wire()\n",
    "{w}line.ask({h}{tools})",
    ", KIT",
    "reply",
    "said.wanted",
    "said.text",
    """{"role": "assistant", "content": said.text, "tool_calls": [
        {"id": each.key, "type": "function", "function": {"name": each.tool, "arguments": json.dumps(each.given)}}
        for each in said.wanted
    ]}""",
    "{call}.tool",
    "{call}.given",
    '{{"role": "tool", "tool_call_id": {call}.key, "content": {out}}}',
    CHAT_USER,
    bare='{"role": "assistant", "content": said.text}',
    rebuilt=True,
    beside="""import json
from dataclasses import dataclass, field

from openai import {A}OpenAI


@dataclass
class Want:
    key: str
    tool: str
    given: dict


@dataclass
class Said:
    text: str
    wanted: list[Want] = field(default_factory=list)


class Wire:
    def __init__(self):
        self.far = {A}OpenAI()

    {d} ask(self, rows, kit=None):
        made = {w}self.far.chat.completions.create(model="gpt-5-mini", max_tokens=900, messages=rows, tools=kit or [])
        one = made.choices[0].message
        wanted = []
        for each in one.tool_calls or []:
            wanted.append(Want(each.id, each.function.name, json.loads(each.function.arguments)))
        return Said(one.content or "", wanted)
""",
)
PROVIDERS = (OPENAI, RESPONSES, ANTHROPIC, GEMINI, BEDROCK, OLLAMA, LITELLM, RAW, OWN)
