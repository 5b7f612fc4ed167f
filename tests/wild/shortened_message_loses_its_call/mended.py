"""Messages that are too long are shortened before they are sent."""

from openai import OpenAI

client = OpenAI()


def shortened(text, most):
    return text if len(text) <= most else f"{text[:most]} [{len(text) - most} characters left out]"


def answer(history, tools, schemas, text, most=400):
    history.append({"role": "user", "content": text})
    for _ in range(10):
        sent = [{**message, "content": shortened(message.get("content") or "", most)} for message in history]
        completion = client.chat.completions.create(model="m", messages=sent, tools=schemas)
        reply = completion.choices[0].message
        history.append(reply.model_dump(exclude_none=True))
        if not reply.tool_calls:
            return reply.content
        for call in reply.tool_calls:
            result = tools[call.function.name](call.function.arguments)
            history.append({"role": "tool", "tool_call_id": call.id, "content": result})
    raise RuntimeError("out of rounds")
