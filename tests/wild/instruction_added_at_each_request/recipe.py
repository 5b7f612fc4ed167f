"""A conversation of three turns."""

from fake_model import Model, install_openai, load, says

BUG = [0, 1, 2]
MENDED = [1, 1, 1]


def seen(program):
    """How often each request tells the model to write JSON."""
    model = Model([says("{}")])
    install_openai(model)
    chat = load(program).Chat("You help.")
    for text in ("one", "two", "three"):
        chat.say(text)
    return [sent[0]["content"].count("Write JSON") for sent in model.requests]
