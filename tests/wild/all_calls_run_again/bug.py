"""The calls of a reply are run together, and once more when one of them fails."""

import json

from openai import OpenAI

client = OpenAI()


class Agent:
    def __init__(self, tools, schemas, attempts=3):
        self.tools = tools
        self.schemas = schemas
        self.attempts = attempts
        self.messages = []

    def execute(self, calls):
        made = []
        for call in calls:
            try:
                given = json.loads(call.function.arguments)
            except json.JSONDecodeError as error:
                made.append({"role": "tool", "tool_call_id": call.id, "content": f"not run: {error}"})
                continue
            result = self.tools[call.function.name](**given)
            made.append({"role": "tool", "tool_call_id": call.id, "content": str(result)})
        return made

    def execute_with_retry(self, calls):
        failed = None
        for _ in range(self.attempts):
            try:
                return self.execute(calls)  # expect: AGL408
            except Exception as error:
                failed = error
        return [{"role": "tool", "tool_call_id": call.id, "content": f"failed: {failed}"} for call in calls]

    def run(self, task):
        self.messages.append({"role": "user", "content": task})
        for _ in range(10):
            completion = client.chat.completions.create(model="m", messages=self.messages, tools=self.schemas)
            reply = completion.choices[0].message
            self.messages.append(reply.model_dump(exclude_none=True))
            if not reply.tool_calls:
                return reply.content
            self.messages.extend(self.execute_with_retry(reply.tool_calls))
        raise RuntimeError("out of rounds")
