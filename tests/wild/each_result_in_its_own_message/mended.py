"""The results of a round are turned into Bedrock's form one by one."""

import boto3

bedrock = boto3.client("bedrock-runtime")


def to_bedrock(messages):
    made = []
    for message in messages:
        if message["role"] == "tool":
            result = {"toolUseId": message["tool_call_id"], "content": [{"text": message["content"]}]}
            if made[-1]["role"] == "user":
                made[-1]["content"].append({"toolResult": result})
            else:
                made.append({"role": "user", "content": [{"toolResult": result}]})
        elif message["role"] == "assistant":
            calls = message.get("tool_calls") or []
            uses = [{"toolUse": {"toolUseId": c["id"], "name": c["name"], "input": c["input"]}} for c in calls]
            made.append({"role": "assistant", "content": [{"text": message["content"]}, *uses]})
        else:
            made.append({"role": "user", "content": [{"text": message["content"]}]})
    return made


def ask(messages):
    return bedrock.converse(modelId="m", messages=to_bedrock(messages))
