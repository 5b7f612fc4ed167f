"""Two chunks at once: the second one begins when the first one has swapped the messages, and ends after it."""

import threading

from fake_model import Model, install_openai, load, says, wait_until

BUG = ["chunk one"]
MENDED = ["I am Ada.", "Hello Ada."]


def seen(program):
    """The texts of the user's conversation, once the chunks are summed up."""
    first_is_in, second_is_in = threading.Event(), threading.Event()

    def policy(messages):
        if messages[-1]["content"] == "I am Ada.":
            return says("Hello Ada.")
        if messages[-1]["content"] == "chunk one":
            first_is_in.set()
            second_is_in.wait(5)
        else:
            second_is_in.set()
            wait_until(lambda: assistant.messages[0]["content"] == "I am Ada.")
        return says("a sum")

    def chunks():
        yield "chunk one"
        first_is_in.wait(5)
        yield "chunk two"

    install_openai(Model(policy))
    assistant = load(program).Assistant()
    assistant.chat("I am Ada.")
    assistant.sums(chunks())
    return [message["content"] for message in assistant.messages]
