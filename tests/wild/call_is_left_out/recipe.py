"""The model's only call of the round is cut off in its JSON."""

from fake_model import Model, asks, call, install_openai, load, raw_call, says

BUG = ""
MENDED = "It is 4 degrees."


def seen(program):
    """What the user gets: nothing, as if the agent were done."""
    broken = asks(raw_call("weather", '{"city": "Os'))
    install_openai(Model([broken, asks(call("weather", city="Oslo")), says("It is 4 degrees.")]))
    return load(program).run([{"role": "user", "content": "How warm is Oslo?"}], {"weather": lambda city: "4"}, [])
