"""A tool's schema is turned into what the provider takes, where a type is one word and `nullable` stands beside it."""

from openai import OpenAI

client = OpenAI()


class Tool:
    def __init__(self, name, run, parameters):
        self.name = name
        self.run = run
        self.parameters = parameters


def converted(parameters):
    properties = {}
    for name, schema in parameters["properties"].items():
        kind, nullable = schema["type"], False
        if isinstance(kind, list) and "null" in kind:
            kind, nullable = kind[0], True
        properties[name] = {"type": kind, "nullable": nullable}
    return {"type": "object", "properties": properties}


def ask(messages, tools):
    schemas = []
    for tool in tools:
        parameters = converted(tool.parameters)
        schemas.append({"type": "function", "function": {"name": tool.name, "parameters": parameters}})
    completion = client.chat.completions.create(model="m", messages=messages, tools=schemas)
    return completion.choices[0].message.content
