"""A loop that survives what goes wrong in a round."""

import json
import logging

from litellm import completion

log = logging.getLogger(__name__)


def work(task, tools, schemas, rounds=20):
    messages = [{"role": "user", "content": task}]
    for _ in range(rounds):
        reply = completion(model="m", messages=messages, tools=schemas).choices[0].message
        messages.append(reply.model_dump(exclude_none=True))
        if not reply.tool_calls:
            return reply.content
        for call in reply.tool_calls:
            try:
                result = str(tools[call.function.name](**json.loads(call.function.arguments)))
            except Exception as error:
                log.exception("this call failed")
                result = f"failed: {error}"
            messages.append({"role": "tool", "tool_call_id": call.id, "content": result})
    raise RuntimeError("out of rounds")
