"""A chat for each room. The request is tried again at a rate limit."""

from collections import defaultdict

from openai import OpenAI, RateLimitError
from tenacity import retry, retry_if_exception_type, stop_after_attempt

client = OpenAI()


class Rooms:
    def __init__(self):
        self.histories = defaultdict(list)

    @retry(reraise=True, retry=retry_if_exception_type(RateLimitError), stop=stop_after_attempt(3))
    def request(self, room, text):
        self.histories[room].append({"role": "user", "content": text})  # expect: AGL605
        return client.chat.completions.create(model="m", messages=self.histories[room])

    def say(self, room, text):
        completion = self.request(room, text)
        self.histories[room].append({"role": "assistant", "content": completion.choices[0].message.content})
        return self.histories[room][-1]["content"]
