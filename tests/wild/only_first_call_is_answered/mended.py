"""A chat with tools: the whole reply is stored, and its tool call is run."""

from anthropic import Anthropic

client = Anthropic()


def answer(history, tools, schemas, text):
    history.append({"role": "user", "content": text})
    response = client.messages.create(model="m", max_tokens=1000, messages=history, tools=schemas)
    rounds = 0
    while response.stop_reason == "tool_use" and rounds < 10:
        rounds += 1
        results = [
            {"type": "tool_result", "tool_use_id": wanted.id, "content": str(tools[wanted.name](**wanted.input))}
            for wanted in response.content
            if wanted.type == "tool_use"
        ]
        history.append({"role": "assistant", "content": response.content})
        history.append({"role": "user", "content": results})
        response = client.messages.create(model="m", max_tokens=1000, messages=history, tools=schemas)
    if response.stop_reason == "tool_use":
        raise RuntimeError("out of rounds")
    history.append({"role": "assistant", "content": response.content})
    return response.content[0].text
