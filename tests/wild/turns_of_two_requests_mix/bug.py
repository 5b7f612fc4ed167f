"""A web page in front of an assistant with tools. The server runs each request in a thread of its own."""

from anthropic import Anthropic
from flask import Flask, jsonify, request

app = Flask(__name__)
client = Anthropic()
tools = {}


def run(block):
    try:
        return tools[block.name](**block.input)
    except Exception as error:
        return f"error: {error}"


class Assistant:
    def __init__(self):
        self.conversation = []

    def chat(self, text):
        self.conversation.append({"role": "user", "content": text})  # expect: AGL103
        for _ in range(10):
            response = client.messages.create(model="m", max_tokens=1000, messages=self.conversation, tools=[])
            self.conversation.append({"role": "assistant", "content": response.content})
            wanted = [block for block in response.content if block.type == "tool_use"]
            if not wanted:
                return response.content[0].text
            results = [{"type": "tool_result", "tool_use_id": block.id, "content": run(block)} for block in wanted]
            self.conversation.append({"role": "user", "content": results})
        raise RuntimeError("out of rounds")


assistant = Assistant()


@app.route("/chat", methods=["POST"])
def chat():
    return jsonify({"response": assistant.chat(request.json["message"])})  # expect: AGL102
