"""One call is cut off in its JSON; after it the model would do everything right."""

import logging

from fake_model import Model, asks, call, install_litellm, load, raw_call, says
from provoking import outcome

BUG = ("RuntimeError", 19)
MENDED = ("Done.", 0)


def seen(program):
    """How the work ends, and how many of its requests the API refuses."""
    model = Model([asks(raw_call("look", '{"place": "a')), asks(call("look", place="a")), says("Done.")])
    install_litellm(model)
    work = load(program).work
    logging.disable(logging.CRITICAL)
    try:
        return outcome(lambda: work("Look at a.", {"look": lambda place: "seen"}, [])), len(model.refusals)
    finally:
        logging.disable(logging.NOTSET)
