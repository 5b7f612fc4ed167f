"""An editor that goes through the blocks of a reply, keeping what it finds of each kind."""

from anthropic import Anthropic

client = Anthropic()


def edit(task, tools, schemas, most=10):
    messages = [{"role": "user", "content": task}]
    for _ in range(most):
        response = client.messages.create(model="m", max_tokens=1000, messages=messages, tools=schemas)
        text = None
        wanted = None
        for block in response.content:
            if block.type == "tool_use":
                wanted = block  # expect: AGL402
            elif block.type == "text":
                text = block
        messages.append({"role": "assistant", "content": response.content})
        if not wanted:
            return text and text.text
        outcome = tools[wanted.name](**wanted.input)
        result = {"type": "tool_result", "tool_use_id": wanted.id, "content": outcome}
        messages.append({"role": "user", "content": [result]})
    raise RuntimeError("out of rounds")
