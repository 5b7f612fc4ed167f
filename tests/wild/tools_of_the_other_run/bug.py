"""An agent whose tools come from servers: they are added for the run, and taken away after it."""

from contextlib import AsyncExitStack

from anthropic import AsyncAnthropic

client = AsyncAnthropic()


class Agent:
    def __init__(self, tools, connect):
        self.tools = list(tools)
        self.connect = connect

    async def loop(self, text):
        messages = [{"role": "user", "content": text}]
        for _ in range(10):
            names = [{"name": tool} for tool in self.tools]
            response = await client.messages.create(model="m", max_tokens=1000, messages=messages, tools=names)
            messages.append({"role": "assistant", "content": response.content})
            if response.stop_reason != "tool_use":
                return response.content[0].text
            results = [
                {"type": "tool_result", "tool_use_id": block.id, "content": "done"}
                for block in response.content
                if block.type == "tool_use"
            ]
            messages.append({"role": "user", "content": results})
        raise RuntimeError("out of rounds")

    async def run(self, text):
        async with AsyncExitStack() as stack:
            before = list(self.tools)
            try:
                self.tools.extend(await self.connect(text, stack))  # expect: AGL104
                return await self.loop(text)
            finally:
                self.tools = before
