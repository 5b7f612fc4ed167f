from looplint.api import check
from looplint_acme import RULES

LOOP = """
import acme

def run(client, messages, tools):
    for _ in range(20):
        reply = client.chat.completions.create(model="m", messages=messages, tools=tools).choices[0].message
        messages.append(reply)
        if not reply.tool_calls:
            return reply.content
        for call in reply.tool_calls:
            result = tools[call.function.name](call)
            messages.append({"role": "tool", "tool_call_id": call.id, "content": result})
    raise RuntimeError("no answer after 20 rounds")
"""


def test_a_result_that_is_not_redacted_is_found():
    (found,) = check(LOOP, select=RULES)
    assert (found.code, found.span.line) == ("ACM101", 12)


def test_one_that_is_redacted_is_not():
    assert check(LOOP.replace("= tools[", "= acme.redact(tools[").replace("](call)", "](call))"), select=RULES) == []
