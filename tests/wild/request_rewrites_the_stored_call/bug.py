"""A store of messages; for each request their arguments are parsed, as the server wants them so."""

import json

import ollama


def prepared(messages):
    made = []
    for message in messages:
        cleaned = {key: value for key, value in message.items() if key in {"role", "content", "tool_calls"}}
        for call in cleaned.get("tool_calls", []):
            function = call["function"]
            if isinstance(function["arguments"], str):
                try:
                    function["arguments"] = json.loads(function["arguments"])  # expect: AGL201
                except json.JSONDecodeError:
                    function["arguments"] = {}
        made.append(cleaned)
    return made


class Conversation:
    def __init__(self, messages):
        self.messages = messages

    def ask(self, text):
        self.messages.append({"role": "user", "content": text})
        response = ollama.chat(model="m", messages=prepared(self.messages))
        self.messages.append({"role": "assistant", "content": response["message"]["content"]})
        return self.messages[-1]["content"]
