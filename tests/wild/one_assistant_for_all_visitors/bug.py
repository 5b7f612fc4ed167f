"""A web page in front of an assistant that keeps its conversation."""

import threading

from anthropic import Anthropic
from flask import Flask, jsonify, request

app = Flask(__name__)
client = Anthropic()


class Assistant:
    def __init__(self):
        self.conversation = []
        self.lock = threading.Lock()

    def chat(self, text):
        with self.lock:
            self.conversation.append({"role": "user", "content": text})  # expect: AGL103
            response = client.messages.create(model="m", max_tokens=1000, messages=self.conversation)
            reply = response.content[0].text
            self.conversation.append({"role": "assistant", "content": reply})
            return reply


assistant = Assistant()


@app.route("/chat", methods=["POST"])
def chat():
    return jsonify({"response": assistant.chat(request.json["message"])})
