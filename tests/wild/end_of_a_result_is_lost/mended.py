"""Results longer than a limit are cut before they are stored."""

from openai import OpenAI

client = OpenAI()


class Agent:
    def __init__(self, tools, schemas, limit=200):
        self.tools = tools
        self.schemas = schemas
        self.limit = limit
        self.messages = []

    def act(self, calls):
        for call in calls:
            try:
                result = self.tools[call.function.name](call.function.arguments)
            except Exception as error:
                result = f"failed: {error}"
            if self.limit and len(result) > self.limit:
                half = self.limit // 2
                result = f"{result[:half]}\n[{len(result) - 2 * half} characters left out]\n{result[-half:]}"
            self.messages.append({"role": "tool", "tool_call_id": call.id, "content": result})

    def run(self, task, rounds=10):
        self.messages.append({"role": "user", "content": task})
        for _ in range(rounds):
            completion = client.chat.completions.create(model="m", messages=self.messages, tools=self.schemas)
            reply = completion.choices[0].message
            self.messages.append(reply.model_dump(exclude_none=True))
            if not reply.tool_calls:
                return reply.content
            self.act(reply.tool_calls)
        raise RuntimeError("out of rounds")
