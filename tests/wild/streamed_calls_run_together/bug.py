"""A streamed reply: the pieces of its call are put together, and the call is run."""

import json

from openai import OpenAI

client = OpenAI()


def reply_to(history, run):
    stream = client.chat.completions.create(model="m", messages=history, tools=[], stream=True)
    call_id = None
    call = {"name": "", "arguments": ""}
    text = ""
    for chunk in stream:
        delta = chunk.choices[0].delta
        piece = delta.tool_calls and delta.tool_calls[0]
        if piece and piece.id:
            call_id = piece.id
        if piece and piece.function:
            if piece.function.name:
                call["name"] = piece.function.name
            else:
                call["arguments"] += piece.function.arguments  # expect: AGL402
        if delta.content:
            text += delta.content
    if not call_id:
        return text
    try:
        given = json.loads(call["arguments"])
    except json.JSONDecodeError:
        return "The call was broken."
    return run(call["name"], given)
