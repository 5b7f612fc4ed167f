"""The model asks for a tool that does not exist, and for the right one when told."""

from fake_model import Model, asks, call, install_openai, load, says
from provoking import outcome

BUG = "Refused"
MENDED = "Done."


def seen(program):
    """What the user gets."""
    install_openai(Model([asks(call("serch", query="x")), asks(call("search", query="x")), says("Done.")]))
    run = load(program).run
    return outcome(lambda: run("Search x.", {"search": lambda query: "found"}, []))
