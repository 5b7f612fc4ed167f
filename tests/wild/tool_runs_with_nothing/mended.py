"""Arguments are parsed where the tool is looked up, and what does not parse becomes an empty dict."""

import json
import logging

from openai import OpenAI

client = OpenAI()
log = logging.getLogger(__name__)


class Clerk:
    def __init__(self, tools, schemas):
        self.tools = tools
        self.schemas = schemas
        self.messages = []

    def execute(self, call):
        arguments = call.function.arguments
        if isinstance(arguments, str):
            try:
                arguments = json.loads(arguments)
            except json.JSONDecodeError as error:
                log.warning("arguments of %s are no JSON", call.function.name)
                return f"not run, the arguments are no JSON: {error}"
        try:
            return str(self.tools[call.function.name](**arguments))
        except Exception as error:
            return f"error: {error}"

    def answer(self, text, rounds=8):
        self.messages.append({"role": "user", "content": text})
        for _ in range(rounds):
            completion = client.chat.completions.create(model="m", messages=self.messages, tools=self.schemas)
            reply = completion.choices[0].message
            self.messages.append(reply.model_dump(exclude_none=True))
            if not reply.tool_calls:
                return reply.content
            for call in reply.tool_calls:
                self.messages.append({"role": "tool", "tool_call_id": call.id, "content": self.execute(call)})
        raise RuntimeError("out of rounds")
