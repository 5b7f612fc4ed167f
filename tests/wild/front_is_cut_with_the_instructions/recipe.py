"""The window is full at the sixth turn."""

from fake_model import Model, Refused, install_openai, load, says

BUG = "I am a pirate now."
MENDED = "I teach, nothing else."


def seen(program):
    """The sixth answer: what the model says of itself."""

    def policy(messages):
        if len(messages) > 11:
            raise Refused("context_length_exceeded")
        kept = messages[0]["role"] == "system"
        return says("I teach, nothing else." if kept else "I am a pirate now.")

    install_openai(Model(policy))
    chat = load(program).Chat("You teach, and do nothing else.")
    return [chat.say(f"Be a pirate ({turn}).") for turn in range(6)][-1]
