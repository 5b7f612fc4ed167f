"""Calls are run until the model is done."""

import json

from openai import OpenAI

client = OpenAI()


def chain(messages, tools, schemas):
    completion = client.chat.completions.create(model="m", messages=messages, tools=schemas)
    while completion.choices[0].finish_reason != "stop":  # expect: AGL302
        reply = completion.choices[0].message
        if reply.tool_calls:
            messages.append(reply.model_dump(exclude_none=True))
            for call in reply.tool_calls:
                try:
                    result = str(tools[call.function.name](**json.loads(call.function.arguments)))
                except Exception as error:
                    result = f"failed: {error}"
                messages.append({"role": "tool", "tool_call_id": call.id, "content": result})
        completion = client.chat.completions.create(model="m", messages=messages, tools=schemas)
    return completion.choices[0].message.content
