"""The gate: whether a rule could find anything in a file, judged without libcst, which costs ten times `ast.parse`.

Two looks, at the bytes and at the `ast`. Each may let a file pass in which nothing is found, never the other way
round: what is asked for here is what a rule cannot do without, in any form and at any place. A rule that this room
does not know needs signs of an agent, no more.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from typing import Any

from lint_rules.anatomy import vocabulary as words
from lint_rules.anatomy.vocabulary import Vocabulary

__all__ = ["Signs", "mentions_agent"]

_AGENT_WORDS = (
    b"messages", b"role", b"chat", b"completion", b"choice", b"tool_call", b"tool_use", b"toolUse", b"ToolUse",
    b"ToolCall", b"FunctionCall", b"function_call", b"partial_json", b"responses", b"generate_content", b"converse",
    b"conversation", b"stop_reason", b"finish_reason", b"Message", b"ModelRe", b"langchain", b"langgraph", b"ollama",
    b"init_chat_model", b"bind_tools", b"with_structured_output", b"ResponseInputItem", b"ResponseFunctionToolCall",
    b"inputSchema", b"input_schema", b"json_schema", b"tool_spec", b"args_schema", b"function_schema", b"tool_schema",
    b"openai_schema", b"outputSchema",
)  # fmt: skip
"""One of them stands in every file in which `Signs` sees a message, a tool call, or a request to a model..."""
_JSON_WORDS = (b"loads", b"literal_eval", b"from_json", b"decode", b"dumps")
_TOOL_WORDS = (b"tool", b"Tool", b"TOOL", b"func", b"Func", b"FUNC", b"fn_name", b"arguments")
"""... or one of each of these, where JSON is parsed for a tool ..."""
_EMPTIED = tuple(f".{name}{equal}".encode() for name in words.HISTORY_NAMES for equal in (" =", "="))
"""... or one of these, where a history is emptied before a question."""


def mentions_agent(source: bytes, vocabulary: Vocabulary) -> bool:
    """The look at the bytes: whether there is any word of agents, or of the user's."""
    return (
        any(word in source for word in _AGENT_WORDS)
        or (any(word in source for word in _JSON_WORDS) and any(word in source for word in _TOOL_WORDS))
        or any(word in source for word in _EMPTIED)
        or mentions_user_words(source, vocabulary)
    )


def mentions_user_words(source: bytes, vocabulary: Vocabulary) -> bool:
    """Whether there is a word that the user has listed: such a file is always worth it."""
    listed = (*vocabulary.llm_calls, *vocabulary.history_names, *vocabulary.tool_call_attributes)
    return any(name.rpartition(".")[2].encode() in source for name in listed)


_LONGEST_KEY = 60
"""Characters; a longer string is prose, no key."""
_MUTATORS = frozenset(
    {
        "append", "appendleft", "add", "insert", "extend", "extendleft", "pop", "popleft", "popitem", "clear",
        "update", "remove", "setdefault", "sort", "reverse", "discard", "__setitem__",
    }
)  # fmt: skip
_COPIERS = frozenset(
    {
        "copy", "model_copy", "dict", "list", "tuple", "sorted", "deque", "replace", "_replace", "deepcopy", "dumps",
        "join", "str",
    }
)  # fmt: skip
_CUTTERS = frozenset({"pop", "popleft"})
_COPYING = frozenset({ast.Slice, ast.ListComp, ast.DictComp, ast.GeneratorExp, ast.Starred, ast.Add})
_FIRST = frozenset({"next", "zip"})
_DECODERS = tuple(frozenset(name.split(".")) for name in words.DECODERS)
_ENCODERS = tuple(frozenset(name.split(".")) for name in words.ENCODERS)
_LANGCHAIN_MODELS = ("Chat", "create_react")
_ENDPOINTS = tuple(frozenset(name.split(".")) for name in words.ENDPOINTS)
_CALL_WORDS = words.CALLS_ATTRIBUTES | words.CALL_TAGS | words.CALL_TYPES | {"function_calls", "partial_json"}
_MESSAGE_WORDS = words.MESSAGE_CLASSES | words.MESSAGE_TYPES | {"function_call_output", "tool_call_id"} | _CALL_WORDS
_PARTS = words.MESSAGE_PARTS | {"text"}
_REPLY_WORDS = frozenset({"choices", "stop_reason", "finish_reason"}) | _CALL_WORDS
_ARGUMENT_WORDS = frozenset({"arguments", "func_name", "fn_name", *words.ARGUMENT_CALLBACKS})
_NO_TOOLS = frozenset({"functools", "itertools"})


@dataclass(slots=True)
class Signs:
    """What stands anywhere in a file, read off its `ast` in one walk.

    `names` are those of variables, attributes, parameters, classes and imports, `texts` short strings, `keywords`
    those of calls ("" for `**`), `called` the last names of what is called. `stores` says that something is bound
    that is no plain name, `asks` that a call or dict has the keywords of a request, `empties` that an attribute named
    like a history is set to `[]`. `levels` is how deep libcst's tree will be.
    """

    names: set[str] = field(default_factory=set)
    texts: set[str] = field(default_factory=set)
    keywords: set[str] = field(default_factory=set)
    called: set[str] = field(default_factory=set)
    kinds: set[type[ast.AST]] = field(default_factory=set)
    stores: bool = False
    asks: bool = False
    empties: bool = False
    levels: int = 0

    @classmethod
    def of(cls, tree: ast.Module) -> Signs:
        """Walks level by level, and counts them."""
        signs = cls()
        flat = 0  # the most that lies flat here, and deep in libcst's tree
        level: list[ast.AST] = [tree]
        while level:
            below: list[ast.AST] = []
            for node in level:
                kind = type(node)
                if kind is ast.Name:
                    signs.names.add(node.id)  # type: ignore[attr-defined]
                    continue
                if kind is ast.Constant:
                    signs._text(node)
                    continue
                signs.kinds.add(kind)
                note = _NOTES.get(kind)
                if note is not None:
                    flat = max(flat, note(signs, node) or 0)
                for name in kind._fields:  # not __dict__: other flake8 plugins leave links to parents there
                    value = getattr(node, name, None)
                    if isinstance(value, ast.AST):
                        below.append(value)
                    elif type(value) is list:
                        below.extend([part for part in value if isinstance(part, ast.AST)])
            signs.levels += 1
            level = below
        signs.levels += flat
        return signs

    def _text(self, node: Any) -> None:
        text = node.value
        if type(text) is str and len(text) <= _LONGEST_KEY:
            self.texts.add(text.rpartition(".")[2])  # of an annotation in quotes, the last name tells

    def may_speak(self, codes: Collection[str]) -> bool:
        """Whether one of these rules could find something."""
        return any(_NEEDS.get(code, Signs.shows_agent)(self) for code in codes)

    # -- evidence: what values can be known by, in any form ----------------------------------------------------

    def mentions(self, known: Collection[str]) -> bool:
        return not (self.names.isdisjoint(known) and self.texts.isdisjoint(known) and self.keywords.isdisjoint(known))

    def shows_calls(self) -> bool:
        """Tool calls."""
        return self.mentions(_CALL_WORDS) or (self.mentions({"function"}) and self.mentions({"arguments"}))

    def shows_messages(self) -> bool:
        """A message has a role and content, or it is known by what only messages and replies have."""
        return (
            self.mentions(_MESSAGE_WORDS)
            or self._shows_roles()
            or (any("Message" in name for name in self.called) and not self.texts.isdisjoint(words.ROLES))
            or (self.mentions({"message", "delta"}) and any("choice" in name for name in self.names | self.texts))
            or self.shows_calls()
        )

    def _shows_roles(self) -> bool:
        """A role beside a part of a message: keys of a dict, keywords of a constructor or fields of a class."""
        alike = (self.texts, self.keywords, self.names)
        return any("role" in these and not these.isdisjoint(_PARTS) for these in alike) or (
            self.mentions({"role"}) and not self.texts.isdisjoint(words.TELLING_ROLES)
        )

    def shows_request(self) -> bool:
        """A call that asks a model, by its name or by its keywords."""
        made = not self.called.isdisjoint(words.MODEL_FACTORIES) or any(
            name.startswith(_LANGCHAIN_MODELS) for name in self.called
        )
        return (
            self.asks
            or (made and not self.called.isdisjoint(words.LANGCHAIN_CALLS))
            or any(parts <= self.names for parts in _ENDPOINTS)
        )

    def shows_question(self) -> bool:
        """A history that is emptied before something is asked, as its name has it."""
        return self.empties and not self.called.isdisjoint(words.ASKING)

    def shows_agent(self) -> bool:
        return self.shows_messages() or self.shows_request() or self.shows_question()

    def loses_messages(self) -> bool:
        """Messages, or a result that holds those of one turn (Pydantic AI shows no more of an agent than that)."""
        return self.shows_agent() or "new_messages" in self.names

    def serves(self) -> bool:
        """A framework that calls functions for many users; what they do may stand in another file."""
        return not self.names.isdisjoint(words.FRAMEWORKS)

    # -- what the rules need -----------------------------------------------------------------------------------

    def changes_history(self) -> bool:
        """A history or message, and a write to something that is not a plain name."""
        return (
            not self.called.isdisjoint(_MUTATORS) or self.stores or ast.AugAssign in self.kinds
        ) and self.shows_agent()

    def may_share_history(self) -> bool:
        return self.serves() or self.shows_agent()

    def cuts_history(self) -> bool:
        """A list cut by position, and a history: also one that only the class of its elements shows."""
        cuts = ast.Slice in self.kinds or ast.Delete in self.kinds or not self.called.isdisjoint(_CUTTERS)
        return cuts and (self.shows_agent() or any("message" in name.lower() for name in self.names))

    def copies_history(self) -> bool:
        copies = not self.called.isdisjoint(_COPIERS) or not self.kinds.isdisjoint(_COPYING)
        return copies and self.changes_history()

    def edits_schemas(self) -> bool:
        """The schema of a tool, and a write to something that is not a plain name."""
        return (not self.called.isdisjoint(_MUTATORS) or self.stores) and (
            self.mentions(words.SCHEMA_NAMES) or self.mentions({"parameters"})
        )

    def compares_calls(self) -> bool:
        return not self.kinds.isdisjoint({ast.Compare}) and self.shows_calls()

    def looks_up_calls(self) -> bool:
        """Calls that are compared, or looked up by a key."""
        return (ast.Compare in self.kinds or "get" in self.called) and self.shows_calls()

    def picks_messages(self) -> bool:
        return ast.Subscript in self.kinds and self.shows_messages()

    def parses_calls(self) -> bool:
        """JSON decoded or encoded beside tools or replies."""
        codes = any(parts <= self.names for parts in _DECODERS) or (
            ast.Try in self.kinds and any(parts <= self.names for parts in _ENCODERS)
        )
        return codes and (
            self.shows_calls()
            or self.mentions(_REPLY_WORDS)
            or self.shows_request()
            or self.mentions(_ARGUMENT_WORDS)
            or any("tool" in name.lower() or "function" in name.lower() for name in self.names - _NO_TOOLS)
        )


# -- what single nodes add; the number is how deep libcst makes of them what is flat here --------------------------


def _attribute(signs: Signs, node: ast.Attribute) -> None:
    signs.names.add(node.attr)
    signs.stores = signs.stores or type(node.ctx) is not ast.Load


def _subscript(signs: Signs, node: ast.Subscript) -> None:
    signs.stores = signs.stores or type(node.ctx) is not ast.Load


def _call(signs: Signs, node: ast.Call) -> None:
    func = node.func
    if type(func) is ast.Attribute:
        signs.called.add(func.attr)
    elif type(func) is ast.Name:
        signs.called.add(func.id)
    _request(signs, {keyword.arg for keyword in node.keywords})


def _assign(signs: Signs, node: ast.Assign) -> None:
    if type(node.value) is ast.List and not node.value.elts:
        names = {target.attr for target in node.targets if isinstance(target, ast.Attribute)}
        signs.empties = signs.empties or not names.isdisjoint(words.HISTORY_NAMES)


def _dict(signs: Signs, node: ast.Dict) -> None:
    if None in node.keys:
        signs.kinds.add(ast.Starred)  # `{**m}` is no node of its own
    _request(signs, {key.value for key in node.keys if isinstance(key, ast.Constant)})


def _request(signs: Signs, keys: set[Any]) -> None:
    if "messages" in keys and (None in keys or not keys.isdisjoint(words.REQUEST_KEYWORDS)):
        signs.asks = True


def _keyword(signs: Signs, node: ast.keyword) -> None:
    signs.keywords.add(node.arg or "")


def _named(signs: Signs, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> None:
    signs.names.add(node.name)


def _parameter(signs: Signs, node: ast.arg) -> None:
    signs.names.add(node.arg)


def _imported(signs: Signs, node: ast.alias) -> int:
    signs.names.update(node.name.split("."))
    return node.name.count(".")


def _imported_from(signs: Signs, node: ast.ImportFrom) -> int:
    parts = (node.module or "").split(".")
    signs.names.update(parts)
    return len(parts)


def _values(signs: Signs, node: ast.BoolOp) -> int:
    return len(node.values)


def _generators(signs: Signs, node: ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp) -> int:
    return len(node.generators)


_NOTES: dict[type[ast.AST], Callable[[Signs, Any], int | None]] = {
    ast.Attribute: _attribute,
    ast.Subscript: _subscript,
    ast.Call: _call,
    ast.Dict: _dict,
    ast.Assign: _assign,
    ast.keyword: _keyword,
    ast.FunctionDef: _named,
    ast.AsyncFunctionDef: _named,
    ast.ClassDef: _named,
    ast.arg: _parameter,
    ast.alias: _imported,
    ast.ImportFrom: _imported_from,
    ast.BoolOp: _values,
    ast.ListComp: _generators,
    ast.SetComp: _generators,
    ast.DictComp: _generators,
    ast.GeneratorExp: _generators,
}

_NEEDS: dict[str, Callable[[Signs], bool]] = {
    "AGL101": Signs.changes_history,
    "AGL102": Signs.may_share_history,
    "AGL103": Signs.may_share_history,
    "AGL201": Signs.copies_history,
    "AGL203": Signs.edits_schemas,
    "AGL301": Signs.copies_history,
    "AGL304": Signs.looks_up_calls,
    "AGL305": Signs.compares_calls,
    "AGL401": Signs.compares_calls,
    "AGL403": Signs.looks_up_calls,
    "AGL404": Signs.looks_up_calls,
    "AGL405": Signs.picks_messages,
    "AGL406": Signs.looks_up_calls,
    "AGL501": Signs.parses_calls,
    "AGL602": Signs.cuts_history,
    "AGL606": Signs.loses_messages,
    "AGL702": Signs.cuts_history,
    "AGL703": Signs.cuts_history,
    "AGL902": Signs.looks_up_calls,
    "AGL903": Signs.looks_up_calls,
}
