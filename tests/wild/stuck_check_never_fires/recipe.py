"""The model does the same in each round, with the same words, until somebody tells it so."""

from fake_model import Model, asks, call, install_openai, load, says
from provoking import outcome

BUG = "RuntimeError"
MENDED = 4


def again_until_told(messages):
    told = any("repeat yourself" in (message.get("content") or "") for message in messages)
    return says("Another way, then.") if told else asks(call("look"), text="I look in the drawer.")


def seen(program):
    """In which round the agent ends."""
    install_openai(Model(again_until_told))
    return outcome(lambda: load(program).Agent({"look": lambda given: "nothing"}, []).run("Find the key."))
