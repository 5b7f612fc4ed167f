"""The model asks for two edits in one reply: both are stored, the last is made."""

from fake_model import Model, asks, call, install_anthropic, load, says
from provoking import outcome

BUG = ("Refused", ["b.txt"])
MENDED = ("Both written.", ["a.txt", "b.txt"])


def seen(program):
    """What the user gets, and which files are written."""
    written = []

    def write(path):
        written.append(path)
        return "written"

    install_anthropic(Model([asks(call("write", path="a.txt"), call("write", path="b.txt")), says("Both written.")]))
    edit = load(program).edit
    return outcome(lambda: edit("Write a.txt and b.txt.", {"write": write}, [])), written
