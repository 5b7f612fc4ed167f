"""Messages are objects; each request formats them into dicts and tells the model to write JSON."""

from dataclasses import dataclass

from openai import OpenAI

client = OpenAI()


@dataclass
class Message:
    role: str
    content: str


def formatted(message, as_json):
    made = {"role": message.role, "content": message.content}
    if as_json and message.role == "system":
        made["content"] += " Write JSON."
    return made


def ask(messages, as_json=True):
    sent = [formatted(message, as_json) for message in messages]
    completion = client.chat.completions.create(model="m", messages=sent)
    return completion.choices[0].message.content


class Chat:
    def __init__(self, instructions):
        self.messages = [Message("system", instructions)]

    def say(self, text):
        self.messages.append(Message("user", text))
        self.messages.append(Message("assistant", ask(self.messages)))
        return self.messages[-1].content
