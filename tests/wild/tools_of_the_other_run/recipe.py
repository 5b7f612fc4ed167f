"""Two runs overlap: the second one begins when the first one has its tools, and ends after it."""

import asyncio

from fake_model import Model, install_anthropic, load, says

BUG = ["calculator", "tool of one"]
MENDED = ["calculator"]


def seen(program):
    """The tools that the agent has when both runs are over."""

    async def both():
        one_is_in, two_is_in, one_is_out = asyncio.Event(), asyncio.Event(), asyncio.Event()

        async def policy(messages):
            if messages[0]["content"] == "one":
                one_is_in.set()
                await two_is_in.wait()
            else:
                two_is_in.set()
                await one_is_out.wait()
            return says("Done.")

        async def connect(text, stack):
            return [f"tool of {text}"]

        install_anthropic(Model(policy))
        agent = load(program).Agent(["calculator"], connect)
        one = asyncio.create_task(agent.run("one"))
        await one_is_in.wait()
        two = asyncio.create_task(agent.run("two"))
        await one
        one_is_out.set()
        await two
        return agent.tools

    return asyncio.run(both())
