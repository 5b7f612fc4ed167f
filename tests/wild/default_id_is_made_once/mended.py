"""Conversations by id; one that is loaded from a file gets an id of its own."""

import json
from uuid import uuid4

from openai import OpenAI

client = OpenAI()


class Chats:
    def __init__(self):
        self.sessions = {}

    def load_session(self, text, id=None):
        id = id or uuid4()
        self.sessions[id] = json.loads(text)
        return id

    def say(self, id, text):
        messages = self.sessions[id]
        messages.append({"role": "user", "content": text})
        completion = client.chat.completions.create(model="m", messages=messages)
        messages.append({"role": "assistant", "content": completion.choices[0].message.content})
        return messages[-1]["content"]
