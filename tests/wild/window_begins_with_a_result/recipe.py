"""A conversation that grows past the window while the model asks for two tools at a time."""

from fake_model import Model, asks, call, install_openai, load, says
from provoking import outcome

BUG = ["It is noted.", "Refused"]
MENDED = ["It is noted.", "It is noted."]


def two_calls_then_text(messages):
    if messages[-1]["role"] == "user":
        return asks(call("note", text="a"), call("note", text="b"))
    return says("It is noted.")


def seen(program):
    """What the user gets, turn by turn."""
    install_openai(Model(two_calls_then_text))
    agent = load(program).Agent({"note": lambda given: "noted"}, [])
    return [outcome(lambda text=text: agent.answer(text)) for text in ("one", "two")]
