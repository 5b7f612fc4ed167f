"""The model reads a file, and then asks to write it."""

from fake_model import Model, asks, call, install_openai, load, says

BUG = (["read"], None)
MENDED = (["read", "write"], "It is mended.")


def seen(program):
    """Which tools are run, and what the user gets."""
    install_openai(Model([asks(call("read", path="a")), asks(call("write", path="a")), says("It is mended.")]))
    names = []

    def run(name, arguments):
        names.append(name)
        return "done"

    return names, load(program).turn([], run, [], "Mend a.")
