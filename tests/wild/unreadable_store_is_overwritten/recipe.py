"""The file holds three conversations and cannot be read just now: another process is writing it."""

import tempfile
from pathlib import Path

from fake_model import Model, install_openai, load, says
from provoking import outcome

THREE = '[[{"role": "user", "content": "first"}], [{"role": "user", "content": "second"}], [{"role": "us'
BUG = ("Done.", False)
MENDED = ("JSONDecodeError", True)


def seen(program):
    """How the run ends, and whether what was in the file is still there."""
    install_openai(Model([says("Done.")]))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "threads.json")
        path.write_text(THREE)
        got = outcome(lambda: load(program).run("four", path))
        return got, "first" in path.read_text()
