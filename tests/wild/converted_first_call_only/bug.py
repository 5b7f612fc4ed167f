"""A client that keeps its history in the chat form and sends it to Bedrock, the results of a round in one message."""

import boto3

bedrock = boto3.client("bedrock-runtime")


class Converted:
    def __init__(self, model):
        self.model = model

    def to_bedrock(self, messages):
        made = []
        for message in messages:
            if message["role"] == "assistant":
                content = [{"text": message["content"]}]
                calls = message.get("tool_calls", [])
                if calls:
                    first = calls[0]  # expect: AGL402
                    use = {"toolUseId": first["id"], "name": first["name"], "input": first["input"]}
                    content.append({"toolUse": use})
                made.append({"role": "assistant", "content": content})
            elif message["role"] == "tool":
                result = {"toolUseId": message["tool_call_id"], "content": [{"text": message["content"]}]}
                if made[-1]["role"] == "assistant":
                    made.append({"role": "user", "content": []})
                made[-1]["content"].append({"toolResult": result})
            else:
                made.append({"role": "user", "content": [{"text": message["content"]}]})
        return made

    def ask(self, messages):
        return bedrock.converse(modelId=self.model, messages=self.to_bedrock(messages))
