"""A runner that keeps the turn in a copy and gives the new messages back at its end."""

import copy
import json

from openai import OpenAI

client = OpenAI()


class Desk:
    def __init__(self, tools, schemas):
        self.tools = tools
        self.schemas = schemas

    def results(self, calls):
        made = []
        for call in calls:
            name = call.function.name
            if name not in self.tools:
                made.append({"role": "tool", "tool_call_id": call.id, "content": f"there is no tool {name}"})
                continue
            try:
                arguments = json.loads(call.function.arguments)
            except json.JSONDecodeError as error:
                made.append({"role": "tool", "tool_call_id": call.id, "content": f"arguments are no JSON: {error}"})
                continue
            made.append({"role": "tool", "tool_call_id": call.id, "content": self.tools[name](**arguments)})
        return made

    def run(self, messages, rounds=10):
        history = copy.deepcopy(messages)
        for _ in range(rounds):
            completion = client.chat.completions.create(model="m", messages=history, tools=self.schemas)
            reply = completion.choices[0].message
            history.append(reply.model_dump(exclude_none=True))
            if not reply.tool_calls:
                return history[len(messages) :]
            history.extend(self.results(reply.tool_calls))
        raise RuntimeError("out of rounds")
