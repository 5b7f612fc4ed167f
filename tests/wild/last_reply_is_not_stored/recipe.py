"""After a tool the model proposes something. The user says yes to it."""

from fake_model import Model, asks, call, install_openai, load, says

BUG = ["It is cold. Shall I order tea?", "Yes to what?"]
MENDED = ["It is cold. Shall I order tea?", "The tea is on its way."]


def proposes(messages):
    if messages[-1]["content"] == "How warm is it?":
        return asks(call("weather"))
    if messages[-1]["role"] == "tool":
        return says("It is cold. Shall I order tea?")
    proposed = any("tea" in (message.get("content") or "") for message in messages)
    return says("The tea is on its way." if proposed else "Yes to what?")


def seen(program):
    """What the user gets."""
    install_openai(Model(proposes))
    sent = []
    session = load(program).Session(sent.append)
    session.on_message("How warm is it?", lambda name, given: "4")
    session.on_message("Yes.", lambda name, given: "4")
    return sent
