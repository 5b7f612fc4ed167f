"""Two visitors open the page and write."""

from fake_model import Model, Thing, install_anthropic, load, module, says

BUG = True
MENDED = False


def seen(program):
    """Whether what the first visitor said is sent to the model for the second one."""
    model = Model([says("I see.")])
    install_anthropic(model)
    request, session = Thing(json={}), {}
    flask = Thing(route=lambda path, methods: lambda view: view)
    module("flask", Flask=lambda name: flask, jsonify=dict, request=request, session=session)
    chat = load(program).chat
    for visitor, text in (("a", "My PIN is 1234."), ("b", "What do you know of me?")):
        request.json, session["id"] = {"message": text}, visitor
        chat()
    return "1234" in str(model.requests[-1])
