"""One tool with a parameter that may be null, offered in two requests."""

from fake_model import Model, install_openai, load, says

BUG = [True, False]
MENDED = [True, True]


def seen(program):
    """Whether each request says that it may be null."""
    model = Model([says("Yes.")])
    install_openai(model)
    program = load(program)
    parameters = {"type": "object", "properties": {"city": {"type": ["string", "null"]}}}
    tool = program.Tool("weather", lambda city=None: "cold", parameters)
    for _ in range(2):
        program.ask([{"role": "user", "content": "Hello"}], [tool])
    offered = [settings["tools"][0]["function"]["parameters"] for settings in model.settings]
    return [parameters["properties"]["city"]["nullable"] for parameters in offered]
