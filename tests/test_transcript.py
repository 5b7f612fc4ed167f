"""What functions store: role, calls and answered ids of each message, in the forms of all providers."""

from __future__ import annotations

import pytest

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.rounds.executions import call_loops, executions
from lint_rules.anatomy.vocabulary import Vocabulary
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.module import SourceModule

ASK = "    reply = client.chat.completions.create(model=m, messages=h).choices[0].message\n"


def anatomy_of(source: str) -> Anatomy:
    return Anatomy(SourceModule(source, "agent.py"), Vocabulary())


def stored(source: str, name: str = "run") -> list[tuple[str | None, bool, list[str]]]:
    """Role, whether it carries calls, and the ids it answers, for each message that `name` stores."""
    anatomy = anatomy_of(source)
    function = next(f for f in anatomy.module.functions if f.name == name)
    return [
        (s.role, s.calls is not None, [ex.source(a) for a in s.message.answers] if s.message else [])
        for s in anatomy.transcript.stored(function)
    ]


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("h.append({'role': 'user', 'content': x})", ("user", False, [])),
        ("h.append({'role': 'developer', 'content': x})", ("system", False, [])),
        ("h.append(reply)", ("assistant", True, [])),
        ("h.append(reply.model_dump())", ("assistant", True, [])),
        ("h.append({'role': 'assistant', 'content': reply.content})", ("assistant", False, [])),
        ("h.append({'role': 'assistant', 'content': '', 'tool_calls': reply.tool_calls})", ("assistant", True, [])),
        ("h.append({'role': 'assistant', 'content': '', 'tool_calls': None})", ("assistant", False, [])),
        ("h.append({'role': 'tool', 'tool_call_id': c.id, 'content': x})", ("tool", False, ["c.id"])),
        ("h += [{'role': 'tool', 'tool_call_id': c.id, 'content': x}]", ("tool", False, ["c.id"])),
        ("h = h + [{'role': 'tool', 'tool_call_id': c.id, 'content': x}]", ("tool", False, ["c.id"])),
        ("h.extend({'role': 'tool', 'tool_call_id': c.id} for c in reply.tool_calls)", ("tool", False, ["c.id"])),
        ("h.append(ToolMessage('x', tool_call_id=c.id))", ("tool", False, ["c.id"])),
        ("h.append(AIMessage(content='x', tool_calls=calls))", ("assistant", True, [])),
        ("h.append({'type': 'function_call_output', 'call_id': c.id, 'output': x})", ("tool", False, ["c.id"])),
        (
            "h.append({'role': 'user', 'content': [{'type': 'tool_result', 'tool_use_id': c.id, 'content': x}]})",
            ("tool", False, ["c.id"]),
        ),
        (
            "h.append({'role': 'user', 'content': [{'toolResult': {'toolUseId': c.id, 'content': x}}]})",
            ("tool", False, ["c.id"]),
        ),
    ],
)
def test_a_message_is_read_off_its_form(line: str, found: tuple[str, bool, list[str]]) -> None:
    assert stored(f"def run(client, m, h, c, x, calls):\n{ASK}    {line}\n") == [found]


def test_a_name_is_the_message_that_it_holds_where_it_is_stored() -> None:
    source = """
def run(client, m, h, x, c):
    message = {"role": "user", "content": x}
    h.append(message)
    message = client.chat.completions.create(model=m, messages=h).choices[0].message
    h.append(message)
    for each in message.tool_calls:
        message = {"role": "tool", "tool_call_id": each.id, "content": c.run(each)}
        h.append(message)
    if x:
        message = {"role": "assistant", "content": "So be it."}
    else:
        message = {"role": "system", "content": "Nothing was said."}
    h.append(message)
"""
    assert stored(source) == [
        ("user", False, []),
        ("assistant", True, []),
        ("tool", False, ["each.id"]),
        ("assistant", False, []),
        ("system", False, []),
    ]


def test_a_message_put_together_over_statements() -> None:
    source = f"""def run(client, m, h):
{ASK}    message = {{"role": "assistant", "content": reply.content}}
    if reply.tool_calls:
        message["tool_calls"] = [c.model_dump() for c in reply.tool_calls]
    h.append(message)
"""
    assert stored(source) == [("assistant", True, [])]


def test_results_collected_before_they_are_stored() -> None:
    source = """def run(client, h):
    response = client.messages.create(model="claude", messages=h)
    h.append({"role": "assistant", "content": response.content})
    results = []
    for block in response.content:
        if block.type == "tool_use":
            results.append({"type": "tool_result", "tool_use_id": block.id, "content": execute(block)})
    h.append({"role": "user", "content": results})
"""
    result = ("tool", False, ["block.id"])
    assert stored(source) == [("assistant", True, []), result, result]


def test_a_helper_is_read_with_the_arguments_of_its_call() -> None:
    source = f"""class Agent:
    def add(self, role, content, call_id=None):
        message = {{"role": role, "content": content}}
        if call_id:
            message["tool_call_id"] = call_id
        self.h.append(message)

    def run(self, client, m):
{ASK.replace("=h", "=self.h").replace("    ", "        ")}        self.add("tool", "done", reply.tool_calls[0].id)
        self.add("user", "hello")
"""
    assert stored(source)[0] == ("tool", False, ["reply.tool_calls[0].id"])
    assert stored(source)[1][0] == "user"


def test_a_store_of_another_file_that_gets_the_id_of_a_call() -> None:
    source = f"""def run(client, m, h, memory):
{ASK}    for c in reply.tool_calls:
        memory.add_result(c.id, execute(c))
        logger.info(c.id)
"""
    assert stored(source) == [("tool", False, ["c.id"])]


@pytest.mark.parametrize("over", ["calls", "enumerate(calls)", "reversed(list(calls))", "zip(calls, results)"])
def test_loops_over_calls(over: str) -> None:
    target = "i, c" if over.startswith("enum") else "c, r" if over.startswith("zip") else "c"
    body = f"{ASK}    calls = reply.tool_calls\n    for {target} in {over}:\n        execute(c)\n        print(c)\n"
    anatomy = anatomy_of(f"def run(client, m, h, results):\n{body}")
    function = anatomy.module.functions[1]
    [loop] = call_loops(anatomy.facts, function)
    assert (ex.source(loop.calls), ex.source(loop.call)) == ("calls", "c")
    assert [ex.source(e) for e in executions(anatomy.facts, anatomy.transcript, function)] == ["execute(c)"]
