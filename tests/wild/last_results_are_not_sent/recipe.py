"""The model asks for a tool in each round, until it has none. Then the user writes again."""

from fake_model import Model, Refused, Thing, asks, call, load, module, response, says
from provoking import outcome

BUG = "Refused"
MENDED = "Hello again."


def seen(program):
    """What the user gets in the second turn."""
    replies = {}

    def policy(messages):
        if messages[-1].get("content") == "Are you there?":
            return says("Hello again.")
        return asks(call("look"))

    model = Model(policy, strict=False)

    def create(input, previous_response_id=None, tools=None, **settings):
        answered = {item["call_id"] for item in input if item.get("type") == "function_call_output"}
        if replies.get(previous_response_id, set()) - answered:
            raise Refused("No tool output found for function call")
        made = response(model.ask(input))
        replies[made.id] = {item.call_id for item in made.output if item.type == "function_call"}
        return made

    module("openai", OpenAI=lambda: Thing(responses=Thing(create=create)))
    session = load(program).Session(lambda name, given: "seen", [])
    outcome(lambda: session.say("Look around."))
    return outcome(lambda: session.say("Are you there?"))
