"""A model that may make a number of calls: at the last one the loop over a reply's calls is left."""

from openai import OpenAI

client = OpenAI()


class Limited:
    def __init__(self, tools, schemas, most):
        self.tools = tools
        self.schemas = schemas
        self.most = most
        self.made = 0

    def run_calls(self, calls, messages):
        for call in calls:
            result = self.tools[call.function.name](call.function.arguments)
            messages.append({"role": "tool", "tool_call_id": call.id, "content": result})
            self.made += 1
            if self.made >= self.most:
                self.schemas = None
                break  # expect: AGL601

    def respond(self, messages, rounds=10):
        for _ in range(rounds):
            completion = client.chat.completions.create(model="m", messages=messages, tools=self.schemas)
            reply = completion.choices[0].message
            messages.append(reply.model_dump(exclude_none=True))
            if not reply.tool_calls:
                return reply.content
            self.run_calls(reply.tool_calls, messages)
        raise RuntimeError("out of rounds")
