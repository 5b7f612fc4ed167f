"""Two users write to one server, each for the first time."""

from fake_model import Model, Thing, install_openai, load, module, says

BUG = True
MENDED = False


def seen(program):
    """Whether what the first one said is sent to the model for the second one."""
    model = Model([says("I see.")])
    install_openai(model)
    module("fastapi", FastAPI=lambda: Thing(post=lambda path: lambda endpoint: endpoint))
    chat = load(program).chat
    chat({"messages": [{"role": "user", "content": "My PIN is 1234."}]})
    chat({"messages": [{"role": "user", "content": "What do you know of me?"}]})
    return "1234" in str(model.requests[-1])
