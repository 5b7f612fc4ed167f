"""An editor that goes through the blocks of a reply, keeping what it finds of each kind."""

from anthropic import Anthropic

client = Anthropic()


def edit(task, tools, schemas, most=10):
    messages = [{"role": "user", "content": task}]
    for _ in range(most):
        response = client.messages.create(model="m", max_tokens=1000, messages=messages, tools=schemas)
        text = None
        results = []
        for block in response.content:
            if block.type == "tool_use":
                outcome = tools[block.name](**block.input)
                results.append({"type": "tool_result", "tool_use_id": block.id, "content": outcome})
            elif block.type == "text":
                text = block
        messages.append({"role": "assistant", "content": response.content})
        if not results:
            return text and text.text
        messages.append({"role": "user", "content": results})
    raise RuntimeError("out of rounds")
