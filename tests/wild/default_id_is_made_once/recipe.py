"""Two users' conversations are loaded; the first one writes on."""

from fake_model import Model, install_openai, load, says

BUG = "bob"
MENDED = "ada"


def seen(program):
    """Whose conversation is sent for Ada."""
    model = Model([says("Hello.")])
    install_openai(model)
    chats = load(program).Chats()
    ada = chats.load_session('[{"role": "system", "content": "The user is ada"}]')
    chats.load_session('[{"role": "system", "content": "The user is bob"}]')
    chats.say(ada, "Who am I?")
    return model.requests[-1][0]["content"].split()[-1]
