"""A chat with one history for each session: what the model says goes to the user."""

from openai import OpenAI

client = OpenAI()


class Session:
    def __init__(self, send):
        self.send = send
        self.history = [{"role": "system", "content": "You help."}]

    def ask(self):
        completion = client.chat.completions.create(model="m", messages=self.history, tools=[])
        return completion.choices[0].message

    def on_message(self, text, run):
        self.history.append({"role": "user", "content": text})
        reply = self.ask()
        if not reply.tool_calls:
            self.history.append({"role": "assistant", "content": reply.content})
            self.send(reply.content)
            return
        self.history.append(reply.model_dump(exclude_none=True))
        for call in reply.tool_calls:
            result = run(call.function.name, call.function.arguments)
            self.history.append({"role": "tool", "tool_call_id": call.id, "content": result})
        completion = client.chat.completions.create(model="m", messages=self.history)
        text = completion.choices[0].message.content
        self.history.append({"role": "assistant", "content": text})
        self.send(text)
