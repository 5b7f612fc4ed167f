"""A server for screens: empty messages are left out, and the turns of a screen go one after the other."""

import asyncio
from collections import defaultdict

from fastapi import FastAPI
from openai import AsyncOpenAI

app = FastAPI()
client = AsyncOpenAI()
screens = {}
locks = defaultdict(asyncio.Lock)


@app.post("/chat")
async def chat(request):
    async with locks[request["screen"]]:
        kept = screens.get(request["screen"], [])
        messages = [message for message in kept if message["content"]]
        messages = [*messages, {"role": "user", "content": request["text"]}]
        completion = await client.chat.completions.create(model="m", messages=messages)
        answer = completion.choices[0].message.content
        screens[request["screen"]] = [*messages, {"role": "assistant", "content": answer}]
        return answer
