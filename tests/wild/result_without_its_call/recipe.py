"""The model asks for one tool and answers with what it gave."""

from fake_model import Model, asks, call, install_openai, load, says
from provoking import outcome

BUG = "Refused"
MENDED = "It is 4 degrees."


def seen(program):
    """What the user gets."""
    install_openai(Model([asks(call("weather", city="Oslo")), says("It is 4 degrees.")]))
    answer = load(program).answer
    return outcome(lambda: answer([], {"weather": lambda given: "4"}, [], "How warm is Oslo?"))
