"""# cross-session-history (AGL103)

## What it does
Reports one message history for all users: a global that request or bot handlers write, an object made once for all
handlers that keeps the conversation, a mutable class attribute, a mutable default argument, an object that a cache
hands to every session.

## Why is this bad
What one user says is sent to the model with the next user's question. The model answers with the other's data, and
one user's `/reset` wipes everybody's chat. A class attribute or a default argument does the same to two agents in one
program: a new agent starts with the messages of the others.

## Symptoms
- answers go to the wrong user
- one user sees what another one wrote
- a new chat knows what was said in another one
- one user's `/reset` clears everybody's chat

## Example
```python
from fastapi import FastAPI

app = FastAPI()
messages = [{"role": "system", "content": "You book tables."}]


@app.post("/chat")
async def chat(question: Question):
    messages.append({"role": "user", "content": question.text})
    reply = await client.chat.completions.create(model="gpt-4o", messages=messages)
    answer = reply.choices[0].message.content
    messages.append({"role": "assistant", "content": answer})
    return {"answer": answer}
```

## Use instead
```python
from fastapi import FastAPI

app = FastAPI()
SYSTEM = {"role": "system", "content": "You book tables."}


@app.post("/chat")
async def chat(question: Question):
    async with locks[question.session]:
        messages = await store.load(question.session) or [SYSTEM]
        messages.append({"role": "user", "content": question.text})
        reply = await client.chat.completions.create(model="gpt-4o", messages=messages)
        answer = reply.choices[0].message.content
        messages.append({"role": "assistant", "content": answer})
        await store.save(question.session, messages)
    return {"answer": answer}
```

## How it decides
A global (or a variable of the function that makes the app, or an attribute of an object whose methods take all events)
counts when a handler reaches a write that makes it longer, and no key picks one history of many; also by another name
(`talk = GREETING`, `talks.setdefault(key, GREETING)`), and by a function of another file of the project. An object,
which may be given to all by a function, or lie in a global where no handler puts it, counts when its class adds to a
history of its own, whichever file sends that, or when a library says so: Gemini chats, memories of LangChain and
LlamaIndex, sessions of the OpenAI Agents SDK; and so does a conversation that the provider keeps under one key for all.
Class attributes and default arguments count when the list grows, under any name it gets in the file. The finding stands
where the history grows, if that is in the same file; of a class attribute, a default and a cache where these are made.

Silent: the session of a database, which is told to add and never read; fields of dataclasses and pydantic models, which
are copied; defaults that are only read, copied or spread, or replaced while they are empty; dicts keyed by session;
objects that a framework makes for each request; a history that the handler begins anew; handlers that turn away all but
one user or room; messages that carry their owner's id; programs without handlers, such as a command-line chat.

## Known problems
A web page that only its owner opens has one user, but nothing in the code says so. Objects that another file keeps on
`app.state`, and handlers that a framework finds by itself, are not seen.

## Fix safety
Unsafe, for it changes what callers share: a default argument becomes `None`, with the value made in the body; a class
attribute is made in `__init__`. A history for all users has no fix: which key tells them apart, the program must say.

## References
- Python FAQ, "Why are default values shared between objects?"
- Python tutorial, 9.3.5: class and instance variables
- Streamlit documentation, "Caching overview": `st.cache_resource` returns the same object to all users and sessions
- OWASP Top 10 for LLM applications, LLM02: sensitive information disclosure
"""

from __future__ import annotations

from collections.abc import Iterator

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.turns.common_histories import CommonHistory, common_histories
from lint_rules.finding import Related
from lint_rules.rules.cross_session_history.fixes import repair
from lint_rules.rules.draft import Draft, Note, beside

_HELP = {
    "global": "keep one history per session, under a key that comes with the request",
    "object": "make one object per session, under a key that comes with the request",
    "class": "make the list in `__init__`, one for each object",
    "default": "use None as default and make the value in the body",
    "key": "use None as default and make the key in the body",
    "cached": "keep it in the session state; cache what holds no conversation",
}


def check(anatomy: Anatomy) -> Iterator[Draft]:
    for found in (each for each in common_histories(anatomy) if not each.told):
        module = found.where.module if found.where is not anatomy else None
        grows_here = found.how in {"global", "object"} and module is None
        place = found.grown if grows_here else found.node
        other = Note(found.node, "it is made here, once") if grows_here else Note(found.grown, "it grows here", module)
        notes: list[Note | Related] = [other] if found.node is not found.grown else []
        if found.serving is not None:
            notes.insert(0, Note(found.serving.node, f"`{found.serving.function.name}` serves all users"))
        if found.caller is not None:
            passing = found.caller.passing
            notes.insert(0, Related(passing.span, f"`{passing.by}` runs this for all users", passing.path))
        if found.evidence is not None and found.evidence.root.node is not found.grown:
            reason = f"it is a message history: {found.evidence.clause}"
            notes.append(Note(found.evidence.root.node, reason, module))
        yield Draft(place, _message(found), _HELP[found.how], beside(place, notes), fix=repair(anatomy, found))


def _message(found: CommonHistory) -> str:
    name = found.name
    if found.how == "class":
        return f"`{name}` is one list for all objects of the class: a new one starts with the messages of the others"
    if found.how == "default":
        return f"the default of `{name}` is made once: calls without it go on with the messages of earlier calls"
    if found.how == "key":
        return f"the default of `{name}` is made once: every history stored without one takes the place of the last"
    if found.how == "cached":
        return f"`{name}` gives all sessions the same history: one user's messages are sent with another's questions"
    what = "is one history" if found.how == "global" else "keeps one conversation"
    return f"`{name}` {what} for all users{_served(found)}: one user's messages are sent with another's"


def _served(found: CommonHistory) -> str:
    if found.caller is not None:
        return f" of `{found.caller.passing.by}`"
    named = found.serving is not None and found.serving.function.name != "<lambda>"
    return f" of `{found.serving.function.name}`" if named and found.serving is not None else ""
