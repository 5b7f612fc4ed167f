"""A streamed reply is shown as it comes, and goes into the history."""

from openai import OpenAI

client = OpenAI()


def answer(history, show, text):
    history.append({"role": "user", "content": text})
    said = ""
    for chunk in client.chat.completions.create(model="m", messages=history, stream=True):
        piece = chunk.choices[0].delta.content
        if piece:
            said += piece
            show(piece)
    history.append({"role": "assistant", "content": said})
    return said
