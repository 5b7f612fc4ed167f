"""A streamed reply: the pieces of each of its calls are put together, and the calls are run."""

import json

from openai import OpenAI

client = OpenAI()


def reply_to(history, run):
    stream = client.chat.completions.create(model="m", messages=history, tools=[], stream=True)
    calls = {}
    text = ""
    for chunk in stream:
        delta = chunk.choices[0].delta
        for piece in delta.tool_calls or []:
            call = calls.setdefault(piece.index, {"name": "", "arguments": ""})
            if piece.function.name:
                call["name"] = piece.function.name
            call["arguments"] += piece.function.arguments or ""
        if delta.content:
            text += delta.content
    results = []
    for call in calls.values():
        try:
            given = json.loads(call["arguments"])
        except json.JSONDecodeError as error:
            results.append(f"{call['name']} was not run: {error}")
            continue
        results.append(run(call["name"], given))
    return " ".join(results) or text
