"""A reply with two calls, both answered, is in the history. Bedrock wants both results in the message after it."""

from itertools import pairwise

from fake_model import Thing, load, module
from provoking import outcome

BUG = "ValidationException"
MENDED = "Oslo is colder."


class ValidationException(Exception):
    """The number of toolResult blocks at messages.2.content exceeds (or is below) that of the toolUse blocks before."""


def converse(messages, **settings):
    for message, following in pairwise(messages):
        uses = {block["toolUse"]["toolUseId"] for block in message["content"] if "toolUse" in block}
        results = {block["toolResult"]["toolUseId"] for block in following["content"] if "toolResult" in block}
        if uses != results:
            raise ValidationException(uses ^ results)
    return "Oslo is colder."


def seen(program):
    """What the user gets."""
    module("boto3", client=lambda name: Thing(converse=converse))
    calls = [{"id": f"call_{city}", "name": "weather", "input": {"city": city}} for city in ("oslo", "rome")]
    messages = [
        {"role": "user", "content": "Which is colder?"},
        {"role": "assistant", "content": "I look.", "tool_calls": calls},
        {"role": "tool", "tool_call_id": "call_oslo", "content": "4"},
        {"role": "tool", "tool_call_id": "call_rome", "content": "14"},
    ]
    return outcome(lambda: load(program).ask(messages))
