"""A server for screens: empty messages are left out, the turn goes on with the copy, and the copy is kept."""

from fastapi import FastAPI
from openai import AsyncOpenAI

app = FastAPI()
client = AsyncOpenAI()
screens = {}


@app.post("/chat")
async def chat(request):
    kept = screens.get(request["screen"], [])
    messages = [message for message in kept if message["content"]]
    messages = [*messages, {"role": "user", "content": request["text"]}]
    completion = await client.chat.completions.create(model="m", messages=messages)
    answer = completion.choices[0].message.content
    screens[request["screen"]] = [*messages, {"role": "assistant", "content": answer}]  # expect: AGL101
    return answer
