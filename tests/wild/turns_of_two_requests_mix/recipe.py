"""While a tool runs for the first request, a second one comes: the user has clicked twice."""

import threading

from fake_model import Model, Thing, asks, call, install_anthropic, load, module, says, wait_until
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
    in_tool, second_is_in = threading.Event(), threading.Event()

    def look():
        in_tool.set()
        second_is_in.wait(1)
        return "found"

    page.tools["look"] = look

    def visit(text):
        request.json = {"message": text}
        outcome(lambda: page.chat())

    first = threading.Thread(target=visit, args=("first",))
    first.start()
    in_tool.wait(5)
    second = threading.Thread(target=visit, args=("second",))
    second.start()
    wait_until(lambda: model.refusals, 0.2)
    second_is_in.set()
    first.join()
    second.join()
    return bool(model.refusals)
