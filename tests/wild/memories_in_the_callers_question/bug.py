"""A model that remembers: what it knows of the user is put before the question, in the list that is sent."""

import litellm

INSTRUCTIONS = {"role": "system", "content": "Use the memories that stand before the question."}


class Remembering:
    def __init__(self, search):
        self.search = search

    def prepared(self, messages):
        if not messages or messages[0]["role"] != "system":
            return [INSTRUCTIONS, *messages]
        return messages

    def create(self, messages, tools=None):
        sent = self.prepared(messages)
        if sent[-1]["role"] == "user":
            question = sent[-1]["content"]
            sent[-1]["content"] = f"Memories: {self.search(question)}. Question: {question}"  # expect: AGL201
        return litellm.completion(model="m", messages=sent, tools=tools).choices[0].message
