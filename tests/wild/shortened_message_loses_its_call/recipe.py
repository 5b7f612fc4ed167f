"""A long page is read by a tool. The model then answers."""

from fake_model import Model, asks, call, install_openai, load, says
from provoking import outcome

BUG = "Refused"
MENDED = "It is about cats."


def seen(program):
    """What the user gets."""
    install_openai(Model([asks(call("read")), says("It is about cats.")]))
    answer = load(program).answer
    return outcome(lambda: answer([], {"read": lambda given: "cat " * 1000}, [], "What is the page about?"))
