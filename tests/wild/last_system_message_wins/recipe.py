"""A tool has been asked, and what it says is put into the history as a system message."""

from fake_model import Model, install_anthropic, load, says

BUG = False
MENDED = True


def seen(program):
    """Whether the request holds the instructions."""
    model = Model([says("Four degrees.")])
    install_anthropic(model)
    load(program).Conversation("Answer in French.").say("How warm is it?", "4")
    return "French" in model.settings[-1]["system"]
