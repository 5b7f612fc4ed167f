"""An editor that goes on until the model calls its last tool."""

from anthropic import Anthropic

client = Anthropic()


def work(task, tools, schemas, most=6):
    messages = [{"role": "user", "content": task}]
    for _ in range(most):
        response = client.messages.create(model="m", max_tokens=1000, messages=messages, tools=schemas)
        wanted = [block for block in response.content if block.type == "tool_use"]
        if wanted:  # expect: AGL606
            messages.append({"role": "assistant", "content": response.content})
            results = []
            for block in wanted:
                result = tools[block.name](**block.input)
                results.append({"type": "tool_result", "tool_use_id": block.id, "content": result})
                if block.name == "complete":
                    return result
            messages.append({"role": "user", "content": results})
    raise RuntimeError("the task is not completed")
