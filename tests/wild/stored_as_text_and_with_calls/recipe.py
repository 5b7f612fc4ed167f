"""The model says what it is going to do, and does it."""

from fake_model import Model, asks, call, install_openai, load, says

BUG = ["I scan the host.", "I scan the host."]
MENDED = ["I scan the host."]


def seen(program):
    """What the model reads of itself in the next round."""
    model = Model([asks(call("scan"), text="I scan the host."), says("Port 22 is open.")])
    install_openai(model)
    load(program).Crew(lambda name, given: "22", [], lambda text: None).work("Which ports are open?")
    return [message["content"] for message in model.requests[-1] if message["role"] == "assistant"]
