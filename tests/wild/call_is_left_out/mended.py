"""An adapter that gives the agent its calls, parsed; a call that does not parse keeps its error, and is answered."""

import json

from openai import OpenAI

client = OpenAI()


def ask(messages, tools):
    completion = client.chat.completions.create(model="m", messages=messages, tools=tools)
    message = completion.choices[0].message
    messages.append(message.model_dump(exclude_none=True))
    return message.content or "", message.tool_calls or []


def result_of(call, tools):
    try:
        arguments = json.loads(call.function.arguments)
    except json.JSONDecodeError as error:
        return f"not run, the arguments are no JSON: {error}"
    return str(tools[call.function.name](**arguments))


def run(messages, tools, schemas):
    for _ in range(10):
        text, calls = ask(messages, schemas)
        if not calls:
            return text
        for call in calls:
            messages.append({"role": "tool", "tool_call_id": call.id, "content": result_of(call, tools)})
    raise RuntimeError("out of rounds")
