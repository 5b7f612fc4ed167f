"""Replies by a schema: it is added to the instructions, in a copy of the messages."""

from dataclasses import dataclass

from openai import OpenAI

client = OpenAI()


@dataclass
class Message:
    role: str
    content: str


class Model:
    def request(self, messages):
        wire = [{"role": message.role, "content": message.content} for message in messages]
        completion = client.chat.completions.create(model="m", messages=wire)
        return completion.choices[0].message.content

    def ask(self, messages, schema=None):
        if schema is None:
            return self.request(messages)
        sent = messages.copy()
        if sent and sent[0].role == "system":
            sent[0].content = f"{sent[0].content} Answer by this schema: {schema}"  # expect: AGL201
        else:
            sent.insert(0, Message("system", f"Answer by this schema: {schema}"))
        return self.request(sent)
