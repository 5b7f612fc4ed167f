"""Histories that a store outside the program keeps: what makes their load and save safe is what keeps AGL101 silent."""

from __future__ import annotations

from pathlib import Path

import pytest

from lint_rules.check import check_source
from lint_rules.options import Options

FIXTURES = Path(__file__).parent.parent / "fixtures" / "unlocked_history_append"


def _lines(source: str) -> list[str]:
    """The lines that AGL101 reports."""
    rows = source.splitlines()
    found = check_source(source.encode(), "agent.py", Options(frozenset({"AGL101"}))).findings
    return [rows[finding.span.line - 1].strip() for finding in found]


@pytest.mark.parametrize(
    ("program", "fact", "without"),
    [
        pytest.param("good_file_per_session", "with self.locks[visitor]:", "if visitor:", id="lock by key"),
        pytest.param("good_file_per_session", "self._save(other, history)", "self._save(visitor, history)", id="key"),
        pytest.param("good_json_column", "AND version = ?", "", id="version"),
        pytest.param("good_json_column", "BEGIN IMMEDIATE", "BEGIN", id="transaction that locks"),
        pytest.param("good_row_of_orm", ".with_for_update()", "", id="row lock"),
        pytest.param("good_telegram_file", '.token("token")', '.token("token").concurrent_updates(True)', id="serial"),
        pytest.param("good_watched_key", "await pipe.watch(key)", "print(key)", id="watch"),
        pytest.param("good_watched_key", "async with store.lock(f", "async with asyncio.timeout(f", id="lock of redis"),
        pytest.param("good_loaded_and_saved_at_once", "async def ask", "def ask", id="one step of the event loop"),
    ],
)
def test_silence_needs_the_fact(program: str, fact: str, without: str) -> None:
    source = (FIXTURES / f"{program}.py").read_text(encoding="utf-8")
    assert not _lines(source)
    assert source.count(fact) == 1
    assert _lines(source.replace(fact, without))


_BOT = """
import asyncio, json
from fastapi import FastAPI
from openai import AsyncOpenAI
app, client = FastAPI(), AsyncOpenAI()
async def load(key):
    with open(key) as file:
        return json.load(file)
async def save(key, messages):
    with open(key, "w") as file:
        json.dump(messages, file)
async def turn(key, text):
    {load}
    messages.append({{"role": "user", "content": text}})
    {ask}
    {save}
@app.post("/{{key}}")
async def handle(key: str, text: str):
    await turn(key, text)
async def send(messages):
    return await client.chat.completions.create(model="gpt-4o-mini", messages=messages)
"""


@pytest.mark.parametrize(
    ("load", "ask", "save", "lost"),
    [
        ("messages = await load(key)", "await send(messages)", "await save(key, messages)", True),
        ("messages = (await load(key))[-20:]", "await send(messages)", "await save(key, list(messages))", True),
        ("messages = await load(key)", "await send(messages)", "asyncio.create_task(save(key, messages))", True),
        # Nothing in them lets another request in between.
        ("messages = await load(key)", "print(messages)", "await save(key, messages)", False),
        # Another place, or what is not made of what was loaded.
        ("messages = await load(key)", "await send(messages)", 'await save(key + ".old", messages)', False),
        ("messages = await load(key)", "messages = [await send(messages)]", "await save(key, messages)", False),
        ("messages = await load(key)", "await send(messages)", 'open(key, "a").write(json.dumps(messages))', False),
    ],
)
def test_what_is_lost(load: str, ask: str, save: str, lost: bool) -> None:
    assert bool(_lines(_BOT.format(load=load, ask=ask, save=save))) is lost
