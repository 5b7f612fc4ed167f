"""A session that goes on from the last response: the server keeps the history."""

from openai import OpenAI

client = OpenAI()


class Session:
    def __init__(self, run, schemas):
        self.run = run
        self.schemas = schemas
        self.previous_response_id = None

    def say(self, text, rounds=3):
        new = [{"role": "user", "content": text}]
        last = self.previous_response_id
        for _ in range(rounds):  # expect: AGL601
            response = client.responses.create(model="m", input=new, previous_response_id=last, tools=self.schemas)
            last = response.id
            calls = [item for item in response.output if item.type == "function_call"]
            if not calls:
                break
            new = [
                {"type": "function_call_output", "call_id": call.call_id, "output": self.run(call.name, call.arguments)}
                for call in calls
            ]
        self.previous_response_id = last
        return response.output_text  # expect: AGL303
