"""A coder that runs the calls of a reply, and those of the replies after it."""

from openai import OpenAI

client = OpenAI()


def turn(history, run, tools, text, rounds=20):
    history.append({"role": "user", "content": text})
    for _ in range(rounds):
        completion = client.chat.completions.create(model="m", messages=history, tools=tools)
        reply = completion.choices[0].message
        history.append(reply.model_dump(exclude_none=True))
        if not reply.tool_calls:
            return reply.content
        for call in reply.tool_calls:
            result = run(call.function.name, call.function.arguments)
            history.append({"role": "tool", "tool_call_id": call.id, "content": result})
    raise RuntimeError("out of rounds")
