"""The API is at its rate limit, for two attempts."""

from fake_model import Model, install_openai, load, module, says

BUG = ["Hello"] * 3
MENDED = ["Hello"]


class RateLimitError(Exception):
    """429."""


def retry(**settings):
    """`tenacity.retry` without its waiting: three attempts."""

    def decorated(function):
        def attempts(*args):
            for attempt in range(3):
                try:
                    return function(*args)
                except RateLimitError:
                    if attempt == 2:
                        raise
            raise AssertionError

        return attempts

    return decorated


def seen(program):
    """What the user is sent to have said."""
    model = Model([RateLimitError(), RateLimitError(), says("Hi.")])
    install_openai(model).RateLimitError = RateLimitError
    nothing = {"retry_if_exception_type": lambda kind: kind, "stop_after_attempt": lambda number: number}
    module("tenacity", retry=retry, **nothing)
    load(program).Rooms().say("a", "Hello")
    return [message["content"] for message in model.requests[-1]]
