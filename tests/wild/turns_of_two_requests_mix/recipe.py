"""While a tool runs for the first request, a second one comes: the user has clicked twice."""

import threading

from fake_model import Model, Thing, asks, call, install_anthropic, load, module, says
from provoking import outcome

BUG = True
MENDED = False


def seen(program):
    """Whether the API refuses a request."""

    def looks_once(messages):
        return asks(call("look")) if messages[-1]["content"] == "first" else says("Here it is.")

    model = Model(looks_once)
    install_anthropic(model)
    request = threading.local()
    flask = Thing(route=lambda path, methods: lambda view: view)
    module("flask", Flask=lambda name: flask, jsonify=dict, request=request, session={"id": "ada"})
    page = load(program)

    def visit(text):
        request.json = {"message": text}
        outcome(lambda: page.chat())

    second = threading.Thread(target=visit, args=("second",))

    def look():
        second.start()
        second.join(1)  # where turns go one after the other, it ends after this one
        return "found"

    page.tools["look"] = look
    visit("first")
    second.join()
    return bool(model.refusals)
