"""The model asks for two tools in one reply."""

from fake_model import Model, asks, call, install_anthropic, load, says
from provoking import outcome

BUG = "Refused"
MENDED = "Oslo is colder."


def seen(program):
    """What the user gets."""
    both = asks(call("weather", city="Oslo"), call("weather", city="Rome"))
    install_anthropic(Model([both, says("Oslo is colder.")]))
    work = load(program).work
    return outcome(lambda: work("Which is colder, Oslo or Rome?", {"weather": lambda city: "4"}, []))
