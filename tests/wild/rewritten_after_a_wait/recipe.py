"""While the model thinks about the first request of a screen, a second one comes and is answered."""

import asyncio

from fake_model import Model, Thing, install_openai, load, module, says

BUG = False
MENDED = True


def seen(program):
    """Whether both questions are in what the third request sends."""

    async def requests():
        first_is_in = asyncio.Event()

        async def policy(messages):
            if messages[-1]["content"] == "Open the mail.":
                first_is_in.set()
                for _ in range(100):  # turns of the event loop; the second request may have to wait for this one
                    await asyncio.sleep(0)
            return says("Done.")

        model = Model(policy)
        install_openai(model)
        module("fastapi", FastAPI=lambda: Thing(post=lambda path: lambda endpoint: endpoint))
        chat = load(program).chat
        first = asyncio.create_task(chat({"screen": "a", "text": "Open the mail."}))
        await first_is_in.wait()
        second = asyncio.create_task(chat({"screen": "a", "text": "Mute the sound."}))
        await asyncio.gather(first, second)
        await chat({"screen": "a", "text": "And now?"})
        return {message["content"] for message in model.requests[-1]}

    return {"Open the mail.", "Mute the sound."} <= asyncio.run(requests())
