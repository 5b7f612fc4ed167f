"""A server with the chat endpoint: each request brings a client's conversation."""

from fastapi import FastAPI
from openai import OpenAI

app = FastAPI()
client = OpenAI()
messages = []


@app.post("/chat/completions")
def chat(request):
    messages.append({"role": "user", "content": request["messages"][-1]["content"]})  # expect: AGL103
    completion = client.chat.completions.create(model="m", messages=messages)
    reply = completion.choices[0].message.content
    messages.append({"role": "assistant", "content": reply})
    return {"role": "assistant", "content": reply}
