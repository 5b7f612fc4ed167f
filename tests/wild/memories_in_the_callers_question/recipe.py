"""A chat keeps its messages, asks through the remembering model, and shows the user what was said."""

from fake_model import Model, install_litellm, load, says

BUG = "Memories: likes tea. Question: What shall I drink?"
MENDED = "What shall I drink?"


def seen(program):
    """What the chat says that the user has asked."""
    install_litellm(Model([says("Tea.")]))
    chat = [{"role": "user", "content": "What shall I drink?"}]
    load(program).Remembering(lambda question: "likes tea").create(chat)
    return chat[0]["content"]
