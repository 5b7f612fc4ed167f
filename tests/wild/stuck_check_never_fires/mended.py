"""An agent that wants to notice when it says the same again."""

from openai import OpenAI

client = OpenAI()


class Agent:
    def __init__(self, tools, schemas, most=2):
        self.tools = tools
        self.schemas = schemas
        self.most = most
        self.messages = []

    def is_stuck(self):
        if len(self.messages) < 2:
            return False
        last = next(message for message in reversed(self.messages) if message["role"] == "assistant")
        if not last["content"]:
            return False
        same = sum(
            1
            for message in self.messages
            if message["role"] == "assistant" and message is not last and message["content"] == last["content"]
        )
        return same >= self.most

    def step(self):
        completion = client.chat.completions.create(model="m", messages=self.messages, tools=self.schemas)
        reply = completion.choices[0].message
        self.messages.append(reply.model_dump(exclude_none=True))
        for call in reply.tool_calls or []:
            try:
                result = self.tools[call.function.name](call.function.arguments)
            except Exception as error:
                result = f"error: {error}"
            self.messages.append({"role": "tool", "tool_call_id": call.id, "content": result})
        return not reply.tool_calls

    def run(self, task, rounds=12):
        self.messages.append({"role": "user", "content": task})
        for number in range(1, rounds + 1):
            if self.step():
                return number
            if self.is_stuck():
                self.messages.append({"role": "user", "content": "You repeat yourself. Try another way."})
        raise RuntimeError("out of rounds")
