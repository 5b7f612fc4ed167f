"""A history in the chat form, turned into Anthropic's for each request. A bad call is answered where it is run."""

import json

from anthropic import Anthropic

client = Anthropic()


def to_anthropic(messages):
    made = []
    for message in messages:
        if message["role"] == "tool":
            block = {"type": "tool_result", "tool_use_id": message["tool_call_id"], "content": message["content"]}
            if made[-1]["role"] == "user":
                made[-1]["content"].append(block)
            else:
                made.append({"role": "user", "content": [block]})
        elif message.get("tool_calls"):
            blocks = []
            for call in message["tool_calls"]:
                arguments = call["function"]["arguments"]
                try:
                    given = json.loads(arguments) if arguments else {}
                except json.JSONDecodeError:
                    given = {"not_json": arguments}
                blocks.append({"type": "tool_use", "id": call["id"], "name": call["function"]["name"], "input": given})
            made.append({"role": "assistant", "content": blocks})
        else:
            made.append({"role": message["role"], "content": message["content"]})
    return made


def ask(messages, tools):
    return client.messages.create(model="m", max_tokens=1000, messages=to_anthropic(messages), tools=tools)
