"""An agent asks for three steps with the messages it keeps."""

from fake_model import Model, install_openai, load, says

BUG = [1, 2, 3]
MENDED = [1, 1, 1]


def seen(program):
    """How often the schema stands in each request."""
    model = Model([says("{}")])
    install_openai(model)
    program = load(program)
    messages = [program.Message("system", "You browse."), program.Message("user", "Go on.")]
    for _ in range(3):
        program.Model().ask(messages, {"type": "object"})
    return [sent[0]["content"].count("schema") for sent in model.requests]
