"""A coder that runs the calls of a reply and lets the model say what came of it."""

from openai import OpenAI

client = OpenAI()


def turn(history, run, tools, text):
    history.append({"role": "user", "content": text})
    completion = client.chat.completions.create(model="m", messages=history, tools=tools)
    reply = completion.choices[0].message
    history.append(reply.model_dump(exclude_none=True))
    if not reply.tool_calls:
        return reply.content
    for call in reply.tool_calls:
        result = run(call.function.name, call.function.arguments)
        history.append({"role": "tool", "tool_call_id": call.id, "content": result})
    following = client.chat.completions.create(model="m", messages=history, tools=tools)  # expect: AGL410
    content = following.choices[0].message.content
    history.append({"role": "assistant", "content": content})
    return content
