"""The model asks for two tools in one streamed reply. Each piece says by its index which call it belongs to."""

from fake_model import Thing, load, module

BUG = ([], "The call was broken.")
MENDED = (["Oslo", "Rome"], "Oslo: cold. Rome: cold.")


def piece(index, **of_call):
    function = Thing(name=of_call.get("name"), arguments=of_call.get("arguments", ""))
    made = Thing(index=index, id=of_call.get("id"), function=function)
    return Thing(choices=[Thing(delta=Thing(tool_calls=[made], content=None))])


def seen(program):
    """For which cities the tool is run, and what the user gets."""

    def create(**settings):
        for index, city in enumerate(("Oslo", "Rome")):
            yield piece(index, id=f"call_{index}", name="weather")
            yield piece(index, arguments='{"city": ')
            yield piece(index, arguments=f'"{city}"}}')

    module("openai", OpenAI=lambda: Thing(chat=Thing(completions=Thing(create=create))))
    cities = []

    def run(name, given):
        cities.append(given["city"])
        return f"{given['city']}: cold."

    got = load(program).reply_to([{"role": "user", "content": "Oslo and Rome?"}], run)
    return cities, got
