"""Chunks of a long text are summed up by the assistant itself, several at a time, each with an empty history."""

from concurrent.futures import ThreadPoolExecutor

from openai import OpenAI

client = OpenAI()


class Assistant:
    def __init__(self):
        self.messages = []

    def chat(self, text):
        self.messages.append({"role": "user", "content": text})
        completion = client.chat.completions.create(model="m", messages=self.messages)
        self.messages.append({"role": "assistant", "content": completion.choices[0].message.content})
        return self.messages[-1]["content"]

    def aside(self, text):
        kept = self.messages
        try:
            self.messages = []
            return self.chat(text)
        finally:
            self.messages = kept  # expect: AGL101

    def sums(self, chunks):
        with ThreadPoolExecutor() as pool:
            return list(pool.map(lambda chunk: self.aside(chunk), chunks))
