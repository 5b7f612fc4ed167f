"""A chat that is made shorter when the API finds it too long."""

from openai import BadRequestError, OpenAI

client = OpenAI()


def request(history):
    return client.chat.completions.create(model="m", messages=history).choices[0].message.content


class Chat:
    def __init__(self, instructions, most=10):
        self.instructions = instructions
        self.most = most
        self.said = []

    def send(self, history):
        try:
            return request(history)
        except BadRequestError:
            if self.most > 2:
                self.most -= 1
            history = history[-self.most :]  # expect: AGL610
            return request(history)

    def say(self, text):
        history = [{"role": "system", "content": self.instructions}]
        history.extend(self.said)
        history.append({"role": "user", "content": text})
        answer = self.send(history)
        self.said += [{"role": "user", "content": text}, {"role": "assistant", "content": answer}]
        return answer
