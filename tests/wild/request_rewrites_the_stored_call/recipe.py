"""A call whose JSON was cut off is in the store, with the error that it was answered with."""

from fake_model import Model, load, module, says

BUG = {}
MENDED = '{"city": "Os'


def seen(program):
    """What the store says of the call's arguments after one request."""
    model = Model([says("I try again.")], strict=False)
    module("ollama", chat=lambda **settings: {"message": {"content": model.ask(settings["messages"]).text}})
    call = {"id": "call_1", "function": {"name": "weather", "arguments": '{"city": "Os'}}
    store = [
        {"role": "user", "content": "Oslo?"},
        {"role": "assistant", "content": "", "tool_calls": [call]},
        {"role": "tool", "content": "the arguments are no JSON"},
    ]
    load(program).Conversation(store).ask("And?")
    return store[1]["tool_calls"][0]["function"]["arguments"]
