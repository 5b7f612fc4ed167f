"""Two turns; each reply comes in four pieces."""

from fake_model import Thing, load, module

BUG = 5
MENDED = 2


def seen(program):
    """How many messages the second request holds before its question."""
    requests = []

    def create(messages, **settings):
        requests.append(list(messages))
        return [Thing(choices=[Thing(delta=Thing(content=piece))]) for piece in ("It", " is", " very", " cold.")]

    module("openai", OpenAI=lambda: Thing(chat=Thing(completions=Thing(create=create))))
    history = []
    program = load(program)
    for text in ("How is Oslo?", "And Rome?"):
        program.answer(history, lambda piece: None, text)
    return len(requests[1]) - 1
