"""The model says in words what it will do before it does it."""

from fake_model import Model, asks, call, install_anthropic, load, says
from provoking import outcome

BUG = ("RuntimeError", 1)
MENDED = ("done", 3)


def plans_first(messages):
    spoken = [message for message in messages if message["role"] == "assistant"]
    return asks(call("complete", reason="done")) if spoken else says("I look at the file first.")


def seen(program):
    """How the work ends, and how long the longest request was."""
    model = Model(plans_first)
    install_anthropic(model)
    work = load(program).work
    got = outcome(lambda: work("Tidy up.", {"complete": lambda reason: reason}, []))
    return got, max(len(sent) for sent in model.requests)
