"""The calls of a reply are run one by one, each once more when it fails."""

import json

from openai import OpenAI

client = OpenAI()


class Agent:
    def __init__(self, tools, schemas, attempts=3):
        self.tools = tools
        self.schemas = schemas
        self.attempts = attempts
        self.messages = []

    def result_of(self, call):
        try:
            given = json.loads(call.function.arguments)
        except json.JSONDecodeError as error:
            return f"not run: {error}"
        failed = None
        for _ in range(self.attempts):
            try:
                return str(self.tools[call.function.name](**given))
            except Exception as error:
                failed = error
        return f"failed: {failed}"

    def execute(self, calls):
        return [{"role": "tool", "tool_call_id": call.id, "content": self.result_of(call)} for call in calls]

    def run(self, task):
        self.messages.append({"role": "user", "content": task})
        for _ in range(10):
            completion = client.chat.completions.create(model="m", messages=self.messages, tools=self.schemas)
            reply = completion.choices[0].message
            self.messages.append(reply.model_dump(exclude_none=True))
            if not reply.tool_calls:
                return reply.content
            self.messages.extend(self.execute(reply.tool_calls))
        raise RuntimeError("out of rounds")
