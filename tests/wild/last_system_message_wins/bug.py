"""Messages in the chat form are turned into Anthropic's, where the system prompt stands beside them."""

from anthropic import Anthropic

client = Anthropic()


def ask(messages):
    system = None
    sent = []
    for message in messages:
        if message["role"] == "system":
            system = message["content"]  # expect: AGL611
        elif message["role"] == "user":
            sent.append({"role": "user", "content": message["content"]})
        elif message["role"] == "assistant":
            sent.append({"role": "assistant", "content": message["content"]})
    return client.messages.create(model="m", max_tokens=1500, system=system, messages=sent).content[0].text


class Conversation:
    def __init__(self, instructions):
        self.messages = [{"role": "system", "content": instructions}]

    def say(self, text, looked_up):
        self.messages.append({"role": "user", "content": text})
        self.messages.append({"role": "system", "content": f"The tool says: {looked_up}"})
        self.messages.append({"role": "assistant", "content": ask(self.messages)})
        return self.messages[-1]["content"]
