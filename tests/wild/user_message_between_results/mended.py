"""A tool may bring a message for the model beside its result: a hint, or an image."""

from openai import OpenAI

client = OpenAI()


class Hint(Exception):
    """What the model should know before it goes on."""


def run(messages, tools, schemas):
    for _ in range(10):
        completion = client.chat.completions.create(model="m", messages=messages, tools=schemas)
        reply = completion.choices[0].message
        messages.append(reply.model_dump(exclude_none=True))
        if not reply.tool_calls:
            return reply.content
        extra = []
        for call in reply.tool_calls:
            try:
                result = tools[call.function.name](call.function.arguments)
            except Hint as hint:
                result = "see below"
                extra.append({"role": "user", "content": str(hint)})
            messages.append({"role": "tool", "tool_call_id": call.id, "content": result})
        messages.extend(extra)
    raise RuntimeError("out of rounds")
