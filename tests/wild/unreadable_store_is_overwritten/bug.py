"""Conversations are kept in one file, a list that grows by one at the end of each run."""

import json

from openai import OpenAI

client = OpenAI()


def run(task, path):
    messages = [{"role": "user", "content": task}]
    completion = client.chat.completions.create(model="m", messages=messages)
    messages.append({"role": "assistant", "content": completion.choices[0].message.content})
    store(messages, path)
    return messages[-1]["content"]


def store(messages, path):
    try:
        with open(path) as file:
            threads = json.load(file)
    except Exception:  # expect: AGL607
        threads = []
    threads.append(messages)
    with open(path, "w") as file:
        json.dump(threads, file)
