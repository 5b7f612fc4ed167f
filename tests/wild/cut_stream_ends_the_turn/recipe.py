"""`max_tokens` cuts the stream off in the middle of a tool's input. The next reply is a text."""

from fake_model import Model, Thing, asks, load, module, raw_call, says
from provoking import outcome

BUG = "JSONDecodeError"
MENDED = "Clicked."


def seen(program):
    """What the last reply of the conversation says, or what the turn ends with."""
    model = Model([asks(raw_call("click", '{"x": 10, "y"')), says("Clicked.")])

    def create(messages, **settings):
        reply = model.ask(messages, **settings)
        for call in reply.calls:
            start = {"type": "tool_use", "id": call.id, "name": call.name, "input": {}}
            yield Thing(type="content_block_start", content_block=start)
            delta = Thing(type="input_json_delta", partial_json=call.arguments)
            yield Thing(type="content_block_delta", delta=delta)
            yield Thing(type="content_block_stop")
        if reply.text:
            yield Thing(type="content_block_start", content_block={"type": "text", "text": reply.text})
            yield Thing(type="content_block_stop")

    module("anthropic", Anthropic=lambda: Thing(messages=Thing(create=create)))
    messages = [{"role": "user", "content": "Click it."}]
    return outcome(lambda: load(program).converse(messages, [], lambda name, given: "done")[-1]["content"][0]["text"])
