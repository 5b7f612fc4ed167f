"""A reply with two calls, both answered, is in the history; the user writes on."""

from fake_model import Model, Thing, load, module, says
from provoking import outcome

BUG = "Refused"
MENDED = "Oslo is colder."


def seen(program):
    """What the user gets."""
    model = Model([says("Oslo is colder.")])

    def converse(**settings):
        return model.ask(settings["messages"]).text

    module("boto3", client=lambda name: Thing(converse=converse))
    calls = [{"id": f"call_{city}", "name": "weather", "input": {"city": city}} for city in ("oslo", "rome")]
    messages = [
        {"role": "user", "content": "Which is colder?"},
        {"role": "assistant", "content": "I look.", "tool_calls": calls},
        {"role": "tool", "tool_call_id": "call_oslo", "content": "4"},
        {"role": "tool", "tool_call_id": "call_rome", "content": "14"},
    ]
    return outcome(lambda: load(program).Converted("m").ask(messages))
