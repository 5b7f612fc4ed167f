"""Before it is sent, the text of each message is put in order, in a copy."""

import copy

from openai import OpenAI

client = OpenAI()


def in_order(messages):
    copied = copy.deepcopy(messages)
    for message in copied:
        if isinstance(message["content"], str):
            message["content"] = message["content"].rstrip()
        else:
            for number, part in enumerate(message["content"]):
                if isinstance(part, str):
                    message["content"][number] = part.rstrip()
                else:
                    part["text"] = part["text"].rstrip()
    return copied


class Chat:
    def __init__(self):
        self.messages = []

    def say(self, content):
        self.messages.append({"role": "user", "content": content})
        completion = client.chat.completions.create(model="m", messages=in_order(self.messages))
        self.messages.append({"role": "assistant", "content": completion.choices[0].message.content})
        return self.messages[-1]["content"]
