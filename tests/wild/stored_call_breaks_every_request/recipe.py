"""A call that was no JSON is in the history, answered with its error; the user then writes twice more."""

from fake_model import Model, install_anthropic, load, says
from provoking import outcome

BUG = ["JSONDecodeError", "JSONDecodeError"]
MENDED = ["Here I am.", "Here I am."]


def seen(program):
    """What the user gets, turn by turn."""
    install_anthropic(Model([says("Here I am.")]))
    ask = load(program).ask
    broken = {"id": "call_1", "type": "function", "function": {"name": "search", "arguments": '{"query": "oslo'}}
    messages = [
        {"role": "user", "content": "Find it."},
        {"role": "assistant", "content": None, "tool_calls": [broken]},
        {"role": "tool", "tool_call_id": "call_1", "content": "the arguments are no JSON"},
        {"role": "assistant", "content": "That failed."},
    ]
    got = []
    for text in ("Are you there?", "Hello?"):
        messages.append({"role": "user", "content": text})
        got.append(outcome(lambda: ask(messages, []).content[0].text))
        messages.append({"role": "assistant", "content": "(an answer)"})
    return got
