"""Calls are run until the model makes none, or has made enough."""

import json

from openai import OpenAI

client = OpenAI()


def chain(messages, tools, schemas, rounds=20):
    for _ in range(rounds):
        completion = client.chat.completions.create(model="m", messages=messages, tools=schemas)
        reply = completion.choices[0].message
        messages.append(reply.model_dump(exclude_none=True))
        if not reply.tool_calls:
            return reply.content
        for call in reply.tool_calls:
            try:
                result = str(tools[call.function.name](**json.loads(call.function.arguments)))
            except Exception as error:
                result = f"failed: {error}"
            messages.append({"role": "tool", "tool_call_id": call.id, "content": result})
    raise RuntimeError("out of rounds")
