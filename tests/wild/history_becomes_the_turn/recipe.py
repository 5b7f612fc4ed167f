"""The user says who they are, and asks for it two turns later."""

from fake_model import Model, Thing, load, module, says

BUG = "I do not know."
MENDED = "You are Ada."


def knows_what_it_was_told(messages):
    if messages[-1]["content"] != "Who am I?":
        return says("Hello.")
    return says("You are Ada." if any("Ada" in message["content"] for message in messages) else "I do not know.")


def seen(program):
    """The last answer."""
    model = Model(knows_what_it_was_told)

    def run(agent, messages):
        """The new messages of the turn, like `Swarm.run`."""
        return Thing(messages=[{"role": "assistant", "content": model.ask(messages).text}], agent=agent)

    module("swarm", Agent=Thing, Swarm=lambda: Thing(run=run))
    typed = iter(["I am Ada.", "Nice weather.", "Who am I?"])
    shown = []
    load(program).chat(lambda: next(typed, None), shown.append)
    return shown[-1]
