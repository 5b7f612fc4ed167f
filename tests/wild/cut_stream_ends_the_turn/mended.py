"""Blocks of a reply are put together from the events of a stream; a tool's input is parsed when its block ends."""

import json

from anthropic import Anthropic

client = Anthropic()


def converse(messages, tools, run, rounds=20):
    for _ in range(rounds):
        blocks = []
        pieces = ""
        for event in client.messages.create(model="m", max_tokens=4096, messages=messages, tools=tools, stream=True):
            if event.type == "content_block_start":
                block = event.content_block
                pieces = ""
            elif event.type == "content_block_delta" and event.delta.type == "input_json_delta":
                pieces += event.delta.partial_json
            elif event.type == "content_block_stop":
                if block["type"] == "tool_use":
                    try:
                        block["input"] = json.loads(pieces)
                    except json.JSONDecodeError:
                        block["input"] = {"not_json": pieces}
                blocks.append(block)
        messages.append({"role": "assistant", "content": blocks})
        results = []
        for block in blocks:
            if block["type"] == "tool_use":
                broken = "not_json" in block["input"]
                result = "not run, the input is no JSON" if broken else run(block["name"], block["input"])
                results.append({"type": "tool_result", "tool_use_id": block["id"], "content": result})
        if not results:
            return messages
        messages.append({"role": "user", "content": results})
    raise RuntimeError("out of rounds")
