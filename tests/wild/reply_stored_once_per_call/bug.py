"""Each call of a reply is run, and stored with the reply it came in."""

from anthropic import Anthropic

client = Anthropic()


def work(task, tools, schemas):
    messages = [{"role": "user", "content": task}]
    for _ in range(10):
        response = client.messages.create(model="m", max_tokens=1000, messages=messages, tools=schemas)
        wanted = [block for block in response.content if block.type == "tool_use"]
        if not wanted:
            return response.content[0].text
        for block in wanted:
            messages.append({"role": "assistant", "content": response.content})  # expect: AGL605
            result = {"type": "tool_result", "tool_use_id": block.id, "content": tools[block.name](**block.input)}
            messages.append({"role": "user", "content": [result]})
    raise RuntimeError("out of rounds")
