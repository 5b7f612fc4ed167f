"""An adapter that gives the agent its calls, parsed; a call that does not parse is logged and left out."""

import json
import logging

from openai import OpenAI

client = OpenAI()
log = logging.getLogger(__name__)


def ask(messages, tools):
    completion = client.chat.completions.create(model="m", messages=messages, tools=tools)
    message = completion.choices[0].message
    calls = []
    for call in message.tool_calls or []:
        try:
            arguments = json.loads(call.function.arguments)  # expect: AGL501
            calls.append({"id": call.id, "name": call.function.name, "arguments": arguments})
        except json.JSONDecodeError:
            log.warning("the call %s is no JSON and is skipped", call.id)
    return message.content or "", calls


def run(messages, tools, schemas):
    for _ in range(10):
        text, calls = ask(messages, schemas)
        if not calls:
            return text
        made = []
        for call in calls:
            function = {"name": call["name"], "arguments": json.dumps(call["arguments"])}
            made.append({"id": call["id"], "type": "function", "function": function})
        messages.append({"role": "assistant", "content": text, "tool_calls": made})
        for call in calls:
            result = str(tools[call["name"]](**call["arguments"]))
            messages.append({"role": "tool", "tool_call_id": call["id"], "content": result})
    raise RuntimeError("out of rounds")
