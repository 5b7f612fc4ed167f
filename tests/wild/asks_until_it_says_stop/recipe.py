"""The reply is longer than it may be: it ends at `length`, each time."""

from fake_model import Model, Thing, chat_completion, load, module, says
from provoking import outcome

BUG = ("Bill", 100)
MENDED = ("A long poem, cut off", 1)


class Bill(Exception):
    """Somebody has looked at the bill."""


def seen(program):
    """How the chain ends, and after how many requests."""
    model = Model([says("A long poem, cut off")])

    def create(messages, **settings):
        if len(model.requests) == 100:
            raise Bill
        completion = chat_completion(model.ask(messages, **settings))
        completion.choices[0].finish_reason = "length"
        return completion

    module("openai", OpenAI=lambda: Thing(chat=Thing(completions=Thing(create=create))))
    chain = load(program).chain
    return outcome(lambda: chain([{"role": "user", "content": "A poem, please."}], {}, [])), len(model.requests)
