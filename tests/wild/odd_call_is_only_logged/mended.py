"""Tools by name: what cannot be run is logged, and the next call is looked at."""

import json
import logging

from openai import OpenAI

client = OpenAI()
log = logging.getLogger(__name__)


def run(task, tools, schemas):
    messages = [{"role": "user", "content": task}]
    for _ in range(10):
        completion = client.chat.completions.create(model="m", messages=messages, tools=schemas)
        reply = completion.choices[0].message
        messages.append(reply.model_dump(exclude_none=True))
        if not reply.tool_calls:
            return reply.content
        for call in reply.tool_calls:
            tool = tools.get(call.function.name)
            if tool is None:
                log.warning("there is no tool %s", call.function.name)
                unknown = f"there is no tool {call.function.name}"
                messages.append({"role": "tool", "tool_call_id": call.id, "content": unknown})
                continue
            try:
                result = str(tool(**json.loads(call.function.arguments)))
            except Exception as error:
                result = f"failed: {error}"
            messages.append({"role": "tool", "tool_call_id": call.id, "content": result})
    raise RuntimeError("out of rounds")
