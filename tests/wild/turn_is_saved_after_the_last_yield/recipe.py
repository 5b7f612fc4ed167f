"""A file is deleted by a tool. The reader of the turn leaves it once it has seen the result."""

import json
import tempfile
from pathlib import Path

from fake_model import Model, asks, call, install_openai, load, says

BUG = False
MENDED = True


def seen(program):
    """Whether what was done is in the saved conversation."""
    install_openai(Model([asks(call("delete", path="a.txt"), text="I delete it."), says("Done.")]))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "conversation.json")
        turn = load(program).Conversation(path, lambda name, given: "deleted").chat("Delete a.txt.")
        for piece in turn:
            if "result" in piece:
                break
        turn.close()
        return path.exists() and "deleted" in str(json.loads(path.read_text()))
