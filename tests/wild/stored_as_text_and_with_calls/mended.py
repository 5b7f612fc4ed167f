"""An orchestrator that shows what the model thinks, and keeps it."""

from openai import OpenAI

client = OpenAI()


class Crew:
    def __init__(self, run, schemas, show):
        self.run = run
        self.schemas = schemas
        self.show = show
        self.messages = []

    def work(self, task, rounds=10):
        self.messages.append({"role": "user", "content": task})
        for _ in range(rounds):
            completion = client.chat.completions.create(model="m", messages=self.messages, tools=self.schemas)
            reply = completion.choices[0].message
            if reply.content:
                self.show(reply.content)
            if not reply.tool_calls:
                self.messages.append({"role": "assistant", "content": reply.content})
                return reply.content
            calls = [call.model_dump() for call in reply.tool_calls]
            message = {"role": "assistant", "content": reply.content or "", "tool_calls": calls}
            self.messages.append(message)
            for call in reply.tool_calls:
                result = self.run(call.function.name, call.function.arguments)
                self.messages.append({"role": "tool", "tool_call_id": call.id, "content": result})
        raise RuntimeError("out of rounds")
