"""The user sends a file that ends with an empty line, and has the program save it from the conversation."""

from fake_model import Model, install_openai, load, says

BUG = "print(1)"
MENDED = "print(1)\n"


def seen(program):
    """The file, as the conversation has it afterwards."""
    install_openai(Model([says("I see.")]))
    chat = load(program).Chat()
    chat.say([{"type": "text", "text": "print(1)\n"}])
    return chat.messages[0]["content"][0]["text"]
