"""A conversation whose turn is a generator: pieces of the reply go out as they come, at the end it is saved."""

import json

from openai import OpenAI

client = OpenAI()


class Conversation:
    def __init__(self, path, run):
        self.path = path
        self.run = run
        self.messages = []

    def respond(self):
        for _ in range(5):
            completion = client.chat.completions.create(model="m", messages=self.messages, tools=[])
            reply = completion.choices[0].message
            self.messages.append(reply.model_dump(exclude_none=True))
            yield {"text": reply.content}
            if not reply.tool_calls:
                return
            for call in reply.tool_calls:
                result = self.run(call.function.name, call.function.arguments)
                self.messages.append({"role": "tool", "tool_call_id": call.id, "content": result})
                yield {"result": result}
        raise RuntimeError("out of rounds")

    def chat(self, text):
        self.messages.append({"role": "user", "content": text})
        try:
            yield from self.respond()
        finally:
            self.path.write_text(json.dumps(self.messages))
