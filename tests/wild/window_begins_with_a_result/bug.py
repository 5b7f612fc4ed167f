"""A memory that keeps the newest messages."""

from openai import OpenAI

client = OpenAI()


class Memory:
    def __init__(self, most):
        self.messages = []
        self.most = most

    def add(self, message):
        self.messages.append(message)
        if len(self.messages) > self.most:
            self.messages = self.messages[-self.most :]  # expect: AGL602


class Agent:
    def __init__(self, tools, schemas, most=6):
        self.tools = tools
        self.schemas = schemas
        self.memory = Memory(most)

    def answer(self, text, rounds=10):
        self.memory.add({"role": "user", "content": text})
        for _ in range(rounds):
            completion = client.chat.completions.create(model="m", messages=self.memory.messages, tools=self.schemas)
            reply = completion.choices[0].message
            self.memory.add(reply.model_dump(exclude_none=True))
            if not reply.tool_calls:
                return reply.content
            for call in reply.tool_calls:
                try:
                    result = self.tools[call.function.name](call.function.arguments)
                except Exception as error:
                    result = f"error: {error}"
                self.memory.add({"role": "tool", "tool_call_id": call.id, "content": result})
        raise RuntimeError("out of rounds")
