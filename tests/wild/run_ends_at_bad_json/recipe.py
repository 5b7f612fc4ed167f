"""The model writes one tool call whose JSON is cut off, and would write it right when told."""

from fake_model import Model, asks, call, install_openai, load, raw_call, says
from provoking import outcome

BUG = "JSONDecodeError"
MENDED = "Order 7 is cancelled."


def seen(program):
    """What the user gets."""
    broken = asks(raw_call("cancel", '{"order": 7'))
    install_openai(Model([broken, asks(call("cancel", order=7)), says("Order 7 is cancelled.")]))
    desk = load(program).Desk({"cancel": lambda order: f"cancelled {order}"}, [])
    return outcome(lambda: desk.run([{"role": "user", "content": "Cancel order 7."}])[-1]["content"])
