"""The model makes three calls in one reply. It may make two."""

from fake_model import Model, asks, call, install_openai, load, says
from provoking import outcome

BUG = "Refused"
MENDED = "Two of three are done."


def seen(program):
    """What the user gets."""
    three = asks(*(call("look", place=place) for place in "abc"))
    install_openai(Model([three, says("Two of three are done.")]))
    limited = load(program).Limited({"look": lambda given: "seen"}, [], 2)
    return outcome(lambda: limited.respond([{"role": "user", "content": "Look at a, b and c."}]))
