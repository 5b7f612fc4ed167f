"""The model makes two calls. The first one's tool brings a hint."""

from fake_model import Model, asks, call, install_openai, load, says
from provoking import outcome

BUG = "Refused"
MENDED = "Done."


def seen(program):
    """What the user gets."""
    install_openai(Model([asks(call("edit"), call("test")), says("Done.")]))
    program = load(program)

    def edit(given):
        raise program.Hint("The file is generated, edit its source.")

    tools = {"edit": edit, "test": lambda given: "ok"}
    return outcome(lambda: program.run([{"role": "user", "content": "Edit it."}], tools, []))
