"""Which calls reach a language model, and which argument of them is the history."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import TYPE_CHECKING

import libcst as cst

from lint_rules.anatomy import vocabulary as words
from lint_rules.anatomy.values.kinds import Kind, LLMCall
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.walk import walk

if TYPE_CHECKING:
    from lint_rules.anatomy.values.forms import Forms

_COUNTS = re.compile(r"count|token|estimate|check|valid|format|save|store|log", re.IGNORECASE)
"""Names of functions that get messages and a model and do not ask it."""
BODIES = ("json", "data", "content", "body")
"""The keywords by which a body is posted."""
_ADDRESS = re.compile(
    r"/(chat/completions|completions|messages|responses|api/chat|api/generate|chat)\b|[gG]enerateContent"
)
"""Where requests are posted. Source: the API references of OpenAI, Anthropic, Gemini, Ollama and Cohere."""
_MOST_NAMES = 4
"""How many names, and parameters, a body is followed through."""
_HOLDING = frozenset({"update", "dict", "format", "partial", "setdefault", "model_copy", "copy"})
"""What gets keywords to hold them."""
_NO_REQUESTS = frozenset({"dict", "print", "len", "super"})
_STARTS = ("with_raw_response.", "with_streaming_response.")


def recognise(call: cst.Call, facts: Forms) -> LLMCall | None:
    """The call as an LLM call, judged by endpoint, keywords, the receiver, or what becomes of its result."""
    if type(call.func) is cst.Name and call.func.value in _NO_REQUESTS:
        return None
    by_user = _by_user(call, facts) if facts.vocabulary.llm_calls else None
    given = ex.keywords(call)
    found = by_user or _by_endpoint(call, facts) or _by_body(call, given, facts) or _by_shape(call, given, facts)
    return found or _by_object(call, facts)


def goes_to_ollama(facts: Forms, request: cst.Call) -> bool:
    """`ollama.chat(...)`, `client.chat(...)` of an `ollama.Client`, `post(".../api/chat")`: nothing is refused.

    And what is empty is not sent. Source: Ollama's API reference.
    """
    made = (value.func for value in facts.values_of(ex.receiver(request)) if isinstance(value, cst.Call))
    if any("ollama" in facts.module.full_name(func) for func in (request.func, *made)):
        return True
    given = [each for arg in request.args[:1] for each in (arg.value, *facts.values_of(arg.value))]
    said = (part for value in given for part in walk(value))
    return any(isinstance(p, cst.SimpleString | cst.FormattedStringText) and "/api/chat" in p.value for p in said)


def _full_name(call: cst.Call, facts: Forms) -> str:
    name = facts.module.imports.resolve(ex.dotted(call.func) or ex.called_name(call))
    for start in _STARTS:
        name = name.replace(start, "")
    return name


def _has_request_keyword(call: cst.Call) -> bool:
    return any(
        (arg.star == "**") or (arg.keyword is not None and arg.keyword.value in words.REQUEST_KEYWORDS)
        for arg in call.args
    )


def _by_user(call: cst.Call, facts: Forms) -> LLMCall | None:
    name = _full_name(call, facts)
    for wrapper in facts.vocabulary.llm_calls:
        if name == wrapper or name.endswith("." + wrapper):
            return LLMCall(call, name, f"`{wrapper}` is listed under llm-calls", *_sent(call, ("messages",), facts))
    return None


def _by_endpoint(call: cst.Call, facts: Forms) -> LLMCall | None:
    if ex.called_name(call) not in facts.endpoint_names:
        return None
    parts = _full_name(call, facts).split(".")
    for length in (3, 2, 1):
        end = ".".join(parts[-length:])
        keywords = words.ENDPOINTS.get(end)
        if keywords is None:
            continue
        if end in words.AMBIGUOUS_ENDPOINTS and not _has_request_keyword(call):
            return None
        if facts.slots.callee(call) is not None:
            return None
        return LLMCall(call, end, f"calls `{end}`", *_sent(call, keywords, facts))
    return None


def _by_body(call: cst.Call, given: dict[str, cst.BaseExpression], facts: Forms) -> LLMCall | None:
    """A request over plain HTTP: `post(url, json={"model": ..., "messages": ...})`, also with the body in a name.

    And one by a callback, which gets all of that as keywords: `complete(**request)`; or by what sends a request that
    was made with a body: `urlopen(Request(url, body))`.
    """
    if not facts.has_bodies or "files" in given or ex.called_name(call)[:1].isupper():
        return None  # what goes with files is heard, or looked at: the prompt is a hint for that
    posted = [given[keyword] for keyword in BODIES if keyword in given]
    spread = _spread(call, facts) if not posted else []
    for value in posted or spread or (*_handed(call, facts), *_sent_to_address(call, facts)):
        for body in _bodies(value, facts):
            how = "posts" if posted else "gets" if spread else "sends"
            beside = "for a `model`" if "model" in body else "beside a model's parameters"
            key = words.sent_under(body)
            history = body[key] if key is not None else None
            how = f"{how} `{key or 'prompt'}` {beside}"
            return LLMCall(call, ex.called_name(call), how, key, history, body=body)
    return None


def _bodies(value: cst.BaseExpression, facts: Forms) -> Iterator[dict[str, cst.BaseExpression]]:
    """The bodies of requests that a value may be: as JSON, under a name, given by callers, or by a function here."""
    return (items for items in _dicts(value, facts) if words.is_body(items))


def _dicts(value: cst.BaseExpression, facts: Forms, depth: int = 0) -> Iterator[dict[str, cst.BaseExpression]]:
    """The dicts that a value may be, as keys and values, as they are made anywhere in the file."""
    value = _written(value, facts)
    slot = facts.slots.of(value)
    items = ex.dict_items(value) or (ex.made_of(value) if isinstance(value, cst.Call) else {})
    if items:
        yield items
    if depth >= _MOST_NAMES:
        return
    for name, whole in ex.dict_parts(value) if ex.is_dict(value) else ():  # `body | {"stream": True}`
        inside = _dicts(whole, facts, depth + 1) if name is None and not ex.is_dict(whole) else ()
        yield from ({**each, **items} for each in inside)
    maker = facts.slots.callee(value)
    returned = maker.returned if maker else []
    named = [*facts.assigned(slot), *facts.given(slot)] if slot is not None else []
    set_there = facts.members(slot) if slot is not None else {}
    for other in [*named, *returned]:
        yield from ({**items, **set_there} for items in _dicts(other, facts, depth + 1))


def spread_under(spread: cst.BaseExpression, key: str, facts: Forms) -> Iterator[cst.BaseExpression]:
    """What a request that gets `**spread` gets under a key, wherever in the file that is put into the dict."""
    slot = facts.slots.of(spread)
    yield from (items[key] for items in _dicts(spread, facts) if key in items)
    yield from facts.given(("member", slot, key)) if slot is not None else ()


def _written(value: cst.BaseExpression, facts: Forms) -> cst.BaseExpression:
    """`body` of `json.dumps(body).encode()`."""
    value = ex.inner(value)
    while type(value) is cst.Call:
        base = ex.receiver(value)
        if base is not None and ex.called_name(value) == "encode":
            value = ex.inner(base)
        elif value.args and (facts.encoder(value) is not None or ex.dotted(value.func) == "bytes"):
            value = ex.inner(value.args[0].value)
        else:
            break
    return value


def _handed(call: cst.Call, facts: Forms) -> Iterator[cst.BaseExpression]:
    """The bodies of the requests that a function of nobody here gets by place, and of which it gives the response."""
    if ex.called_name(call) in _HOLDING or facts.module.is_statement(call) or facts.slots.callee(call) is not None:
        return  # `console.print(Panel(text))`
    for value in ex.positional(call):
        for made in [value, *facts.values_of(value)]:
            if isinstance(made, cst.Call) and facts.encoder(made) is None:
                given = ex.keywords(made)
                yield from (given[keyword] for keyword in BODIES if keyword in given)
                if ex.called_name(made)[:1].isupper():
                    yield from ex.positional(made)


def _sent_to_address(call: cst.Call, facts: Forms) -> list[cst.BaseExpression]:
    """What is given by place beside the address of an API, to who gives something: `post(f"{base}/messages", body)`."""
    if facts.slots.callee(call) is not None or facts.module.is_statement(call):
        return []
    given = ex.positional(call)
    shown = {value: [value, *facts.values_of(value)] for value in given}
    addresses = [value for value in given if any(_ADDRESS.search(_letters(each)) for each in shown[value])]
    return [value for value in given if value not in addresses] if addresses else []


def _letters(value: cst.BaseExpression) -> str:
    """The text that stands in a value itself: that of a literal, with or without substitutions."""
    parts = value.parts if isinstance(value, cst.FormattedString) else [value]
    return "".join(p.value for p in parts if isinstance(p, cst.SimpleString | cst.FormattedStringText))


def _spread(call: cst.Call, facts: Forms) -> list[cst.BaseExpression]:
    """The dicts that a function gets as keywords of which this file knows nothing: a parameter, an attribute."""
    found = [arg.value for arg in call.args if arg.star == "**"]
    name = ex.called_name(call)
    if not found or not name or name in _HOLDING or name[0].isupper() or _COUNTS.search(name):
        return []
    return found if facts.slots.callee(call) is None and facts.slots.constructed(call) is None else []


def _by_shape(call: cst.Call, given: dict[str, cst.BaseExpression], facts: Forms) -> LLMCall | None:
    """Wrappers of other files: a request's keywords, its body for a model's reply, or an asking name beside either."""
    name = ex.called_name(call)
    if not name or name[0].isupper():
        return None
    asks = _asks(name)
    takes_messages, sends_items = "messages" in given, words.sent_under(given) == "input"
    gives_reply = facts.read_as_reply(call) and bool(call.args)
    known = name in words.LANGCHAIN_CALLS or name in words.SESSION_CALLS
    if not (asks or takes_messages or sends_items or known or (gives_reply and facts.has_bodies)):
        return None
    if facts.slots.callee(call) is not None or facts.slots.constructed(call) is not None:
        return None
    if sends_items:
        return LLMCall(call, name, "takes `input=` beside a model's keywords", *_sent(call, ("input",), facts))
    if takes_messages and _has_request_keyword(call):
        return LLMCall(call, name, "takes `messages=` beside a model's keywords", *_sent(call, ("messages",), facts))
    if takes_messages and _is_given_model(call) and not _COUNTS.search(name):
        return LLMCall(call, name, "takes `messages=` and the model to ask", *_sent(call, ("messages",), facts))
    base = ex.receiver(call)
    if name in words.LANGCHAIN_CALLS and base is not None and Kind.MODEL in facts.kinds(base):
        sent = _sent(call, ("input",), facts)
        whole = next((v for v in ex.positional(call)[:1] if type(v) is not cst.Dict), None)
        return LLMCall(call, name, "asks a LangChain chat model", sent[0], sent[1] or whole)
    if name in words.SESSION_CALLS and base is not None and _is_session(call, base, facts):
        return LLMCall(call, name, "goes on with a chat session, which keeps the history", None, None)
    sent = _sent(call, ("messages", "history", "conversation"), facts) if asks else (None, None)
    if sent[1] is not None and Kind.HISTORY in facts.kinds(sent[1]):
        return LLMCall(call, name, "is asked with a message history", *sent)
    used = (asks or gives_reply) and not facts.module.is_statement(call)
    handed = call.args if facts.has_bodies and used else ()
    for body in (body for arg in handed for body in _bodies(arg.value, facts)):
        key = words.sent_under(body)
        history = body[key] if key is not None else None
        how = f"is asked with what has `{key or 'prompt'}` and a model's parameters"
        return LLMCall(call, name, how, key, history, body=body)
    if asks and gives_reply:
        whole = _given_alone(call) if sent[1] is None else None
        return LLMCall(call, name, "its result is read as a model's reply", sent[0], sent[1] or whole)
    return None


def _by_object(call: cst.Call, facts: Forms) -> LLMCall | None:
    """`judge.run(text)`: an object that was made with a system prompt and a model's parameters gives something."""
    base, name = ex.receiver(call), ex.called_name(call)
    if base is None or not ex.positional(call) or facts.module.is_statement(call) or _COUNTS.search(name):
        return None
    for made in (part for value in facts.values_of(base) for part in ex.alternatives(value)):
        if isinstance(made, cst.Call) and ex.called_name(made)[:1].isupper() and facts.slots.constructed(made) is None:
            told = ex.keywords(made).keys()
            if not words.OF_MODELS.isdisjoint(told) and not told.isdisjoint(words.INSTRUCTIONS):
                how = f"asks a `{ex.called_name(made)}` that was made with a system prompt and a model's parameters"
                return LLMCall(call, name, how, None, None)
    return None


def _is_session(call: cst.Call, base: cst.BaseExpression, facts: Forms) -> bool:
    """Whether a chat of Gemini is told something: one that is made here, or of whose reply the candidates are read."""
    reply = facts.of(("call", call)).get(Kind.REPLY)
    read = ex.member(reply.root.node) if reply is not None else None
    return Kind.MODEL in facts.kinds(base) or (read is not None and read[1] == "candidates")


@lru_cache(maxsize=4096)
def _asks(name: str) -> bool:
    """Whether what is called so asks a model, as far as its name tells."""
    plain = name.lstrip("_")
    return plain in words.ASKING or "completion" in name or plain.startswith(("call_llm", "ask_", "chat_"))


def _is_given_model(call: cst.Call) -> bool:
    """`get_llm_response(llm=self.llm, ...)`: a model is handed on, as an object and not as a switch or a name."""
    value = ex.argument(call, "llm")
    return isinstance(value, (cst.Name, cst.Attribute)) and ex.dotted(value) not in ex.CONSTANTS


def _sent(call: cst.Call, keywords: tuple[str, ...], facts: Forms) -> tuple[str | None, cst.BaseExpression | None]:
    """How the history is passed: by one of `keywords`, inside `**request`, or as the likeliest positional."""
    for keyword in keywords:
        value = ex.argument(call, keyword)
        if value is not None:
            return keyword, value
    for arg in call.args:
        if arg.keyword is None and not arg.star and Kind.HISTORY in facts.kinds(arg.value):
            return None, arg.value
    for arg in call.args:
        if arg.star == "**":
            held = _held(arg.value, keywords, facts)
            return held.pop() if len(held) == 1 else (keywords[0], None)
    given = ex.positional(call)
    if "input" in keywords and given and type(given[0]) is cst.Dict:  # the parts of a prompt
        parts = (value for value in ex.dict_items(given[0]).values() if Kind.HISTORY in facts.kinds(value))
        return None, next(parts, None)
    if len(given) < 2 or isinstance(given[0], (cst.BaseString, cst.BaseNumber)):
        return None, None
    return None, given[0]


def _given_alone(call: cst.Call) -> cst.BaseExpression | None:
    """`talk.lines()` of `model.stream(await talk.lines())`: all that a request gets, if somebody gives it here."""
    given = ex.positional(call)
    asked = ex.inner(given[0]) if len(given) == len(call.args) == 1 else None
    return asked if isinstance(asked, cst.Call) and ex.receiver(asked) is not None and not asked.args else None


def _held(
    spread: cst.BaseExpression, keywords: tuple[str, ...], facts: Forms
) -> list[tuple[str | None, cst.BaseExpression | None]]:
    """What a dict of this file that is spread in a request holds as a history, under which keyword."""
    slot = facts.slots.of(spread)
    made = [ex.dict_items(value) for value in [spread, *facts.assigned(slot)]]
    made += [facts.members(slot)] if slot is not None else []
    return [(keyword, items[keyword]) for items in made for keyword in keywords if keyword in items]
