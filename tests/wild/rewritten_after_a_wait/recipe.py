"""While the model thinks about the first request of a screen, a second one comes and is answered."""

import asyncio
import contextlib

from fake_model import Model, Thing, install_openai, load, module, says

BUG = False
MENDED = True


def seen(program):
    """Whether both questions are in what the third request sends."""

    async def requests():
        second_is_out = asyncio.Event()

        async def policy(messages):
            if messages[-1]["content"] == "Open the mail.":
                with contextlib.suppress(asyncio.TimeoutError):
                    await asyncio.wait_for(second_is_out.wait(), 0.1)
            return says("Done.")

        model = Model(policy)
        install_openai(model)
        module("fastapi", FastAPI=lambda: Thing(post=lambda path: lambda endpoint: endpoint))
        chat = load(program).chat
        first = asyncio.create_task(chat({"screen": "a", "text": "Open the mail."}))
        await asyncio.sleep(0.01)
        second = asyncio.create_task(chat({"screen": "a", "text": "Mute the sound."}))
        second.add_done_callback(lambda task: second_is_out.set())
        await asyncio.gather(first, second)
        await chat({"screen": "a", "text": "And now?"})
        return {message["content"] for message in model.requests[-1]}

    return {"Open the mail.", "Mute the sound."} <= asyncio.run(requests())
