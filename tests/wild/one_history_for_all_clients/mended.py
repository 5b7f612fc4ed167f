"""A server with the chat endpoint: each request brings a client's conversation."""

from fastapi import FastAPI
from openai import OpenAI

app = FastAPI()
client = OpenAI()


@app.post("/chat/completions")
def chat(request):
    messages = list(request["messages"])
    completion = client.chat.completions.create(model="m", messages=messages)
    reply = completion.choices[0].message.content

    return {"role": "assistant", "content": reply}
