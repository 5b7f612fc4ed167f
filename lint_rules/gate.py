"""The gate: which rules could find anything in a file, judged without libcst, which costs ten times `ast.parse`.

Two looks, at the bytes and at the `ast`. Each may let a file pass in which nothing is found, never the other way
round: what is asked for here is what a rule cannot do without, in any form and at any place. A rule that this room
does not know needs signs of an agent, no more.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Iterator
from functools import cached_property, lru_cache

from lint_rules.anatomy import vocabulary as words
from lint_rules.anatomy.vocabulary import Vocabulary
from lint_rules.signs import Signs, called_name, items, member, text

__all__ = ["NEED_NO_FACTS", "Gate", "mentions_agent", "mentions_user_words"]

_AGENT_WORDS = (
    b"messages", b"role", b"chat", b"completion", b"choice", b"tool_call", b"tool_use", b"toolUse", b"ToolUse",
    b"ToolCall", b"FunctionCall", b"function_call", b"partial_json", b"responses", b"generate_content", b"converse",
    b"conversation", b"stop_reason", b"finish_reason", b"Message", b"ModelRe", b"langchain", b"langgraph", b"ollama",
    b"init_chat_model", b"bind_tools", b"with_structured_output", b"ResponseInputItem", b"ResponseFunctionToolCall",
    b"inputSchema", b"input_schema", b"json_schema", b"tool_spec", b"args_schema", b"function_schema", b"tool_schema",
    b"openai_schema", b"outputSchema",
)  # fmt: skip
"""One of them stands in every file in which `Gate` sees a message, a tool call, or a request to a model..."""
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


Nearby = Callable[[str], "bytes | None"]
"""A module, as written in an import -> the source of its file, None if that is not of the project."""

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
_LANGCHAIN_MODELS = ("Chat", "create_react")
_ENDPOINTS = tuple(frozenset(name.split(".")) for name in words.ENDPOINTS)
_LONGEST_ENDPOINT = 3
_CALL_WORDS = words.CALLS_ATTRIBUTES | words.CALL_TAGS | words.CALL_TYPES | {"function_calls", "partial_json"}
_MESSAGE_WORDS = words.MESSAGE_CLASSES | words.MESSAGE_TYPES | {"function_call_output", "tool_call_id"} | _CALL_WORDS
_PARTS = words.MESSAGE_PARTS | {"text"}
_ARGUMENT_KEYS = frozenset({"arguments", "args", "input", "parameters"})
_SCHEMA_OWNERS = ("tool", "func", "spec")
_SERVED = frozenset().union(
    words.ROUTES, words.EVENTS, words.CLIENT_EVENTS, words.REGISTERED, words.GRADIO_EVENTS, words.GRADIO_APPS,
    words.SESSION_CACHES, *words.SERIAL_BOTS.values(),
)  # fmt: skip
_STARTED = frozenset({*words.THREADS, *words.TASKS, *words.CALLBACKS, "gather"})
_LOOPS = (ast.For, ast.AsyncFor, ast.While)
_TRIES = tuple(getattr(ast, name) for name in ("Try", "TryStar") if hasattr(ast, name))


class Gate(Signs):
    """The signs of a file, and what they tell of its parts and of the rules."""

    def __init__(self, tree: ast.Module, nearby: Nearby | None = None) -> None:
        super().__init__(tree)
        self._nearby = nearby

    def speaking(self, codes: Collection[str]) -> frozenset[str]:
        """Those of the rules that could find something."""
        needs = {code: _NEEDS.get(code, Gate.has_agent) for code in codes}
        met = {need: need(self) for need in set(needs.values())}
        return frozenset(code for code, need in needs.items() if met[need])

    # -- evidence: what values can be known by, in any form ----------------------------------------------------

    @cached_property
    def calls(self) -> bool:
        """Tool calls."""
        return (
            self.mentions(_CALL_WORDS)
            or (self.mentions({"arguments"}) and (self.mentions({"function"}) or self._has_call_display()))
            or any(map(words.says_arguments, self.attributes | self.texts))
            or self.mentions(words.ARGUMENT_CALLBACKS)
        )

    def _has_call_display(self) -> bool:
        return any({"id", "name", "arguments"} <= shown.keys() for shown in self.displays)

    @cached_property
    def messages(self) -> bool:
        """Messages: by their class, by a role and a part, as the message of a choice, or by what calls show."""
        return (
            self.mentions(_MESSAGE_WORDS)
            or self.calls
            or self._shows_roles()
            or self._reads_choices()
            or self._lists_called_messages()
        )

    def _shows_roles(self) -> bool:
        if "role" in self.keywords or any("Message" in name for name in self.called):
            if any(map(_makes_message, self.nodes[ast.Call])):
                return True
        shown = self.mentions({"role"})
        return shown and (self._displays_role() or self._compares_role() or self._has_message_class())

    def _displays_role(self) -> bool:
        """`{"role": ..., "content": ...}`."""
        return any("role" in shown and _may_be_message(shown) for shown in self.displays)

    def _compares_role(self) -> bool:
        """`message.role == "assistant"`: `user` alone may be somebody's permissions."""
        return any(
            any((pair := member(side)) is not None and pair[1] == "role" for side in (node.left, *node.comparators))
            and not words.TELLING_ROLES.isdisjoint(_strings(node))
            for node in self.nodes[ast.Compare]
        )

    def _has_message_class(self) -> bool:
        """A class with a role and a part."""
        return any("role" in bound and not bound.isdisjoint(_PARTS) for bound in self.class_names())

    def _reads_choices(self) -> bool:
        """`reply.choices[0].message`, `choice.delta`, or `choices` of what a model was asked."""
        if not any("choice" in name for name in self.names | self.texts):
            return False
        asks = any(map(_may_ask, self.called)) or self.mentions({"message", "delta"})
        return any(
            (name in {"message", "delta"} and _is_choice(base)) or (name == "choices" and asks and self._is_reply(base))
            for base, name in self.members
        )

    def _lists_called_messages(self) -> bool:
        """A parameter `messages: list[dict]`, and a `content`."""
        return "content" in self.texts and any(
            node.arg in words.CALLED_HISTORIES
            and any(getattr(part, "id", getattr(part, "attr", "")) in {"dict", "Dict"} for part in _parts(node))
            for node in self.nodes[ast.arg]
        )

    def _is_reply(self, base: ast.expr) -> bool:
        """Not the object itself nor a module (`random.choices`)."""
        return not isinstance(base, ast.Name) or (base.id != "self" and base.id not in self.imported)

    @cached_property
    def request(self) -> bool:
        """A call that asks a model, by its name or by its keywords."""
        return self._asks_by_keywords() or self._calls_endpoint() or self._asks_chain()

    def _asks_by_keywords(self) -> bool:
        if not (self.mentions({"messages"})):
            return False
        return any(map(_has_request_keys, self.nodes[ast.Call])) or any(map(_has_request_keys, self.nodes[ast.Dict]))

    def _calls_endpoint(self) -> bool:
        if not any(parts <= self.names for parts in _ENDPOINTS):
            return False
        return any(_is_endpoint(name, call) for name, call in self.full_calls)

    def _asks_chain(self) -> bool:
        """A model or chain of LangChain."""
        made = not self.called.isdisjoint(words.MODEL_FACTORIES) or (
            any(name.startswith(_LANGCHAIN_MODELS) for name in self.called)
            and any(name.startswith(("langchain", "langgraph")) for name in self.imported.values())
        )
        return made and not self.called.isdisjoint(words.LANGCHAIN_CALLS)

    @cached_property
    def question(self) -> bool:
        """A history that is emptied before something is asked, as its name has it."""
        return any(map(_empties_history, self.nodes[ast.Assign])) and not self.called.isdisjoint(words.ASKING)

    @cached_property
    def agent(self) -> bool:
        return self.messages or self.request or self.question

    # -- evidence in other files -------------------------------------------------------------------------------

    def _sources_of(self, names: Collection[str]) -> Iterator[bytes]:
        """The sources of the project from which some of these names are imported."""
        if self._nearby is not None:
            for module in dict.fromkeys(self.origins[name] for name in names if name in self.origins):
                source = self._nearby(module)
                if source is not None:
                    yield source

    def keeps_elsewhere(self) -> bool:
        """An object made here that keeps a conversation: of a class of another file, or of a library."""
        if not self.names.isdisjoint(words.KEEPERS):
            return True
        methods = [f"def {name}".encode() for name in self.called]
        return any(
            any(method in source for method in methods) and _shows_agent(source)
            for source in self._sources_of(set(self._made()))
        )

    def _made(self) -> Iterator[str]:
        """What is called for a value that is assigned or given back."""
        for kind in (ast.Assign, ast.AnnAssign, ast.NamedExpr, ast.Return):
            yield from (_maker(node.value) for node in self.nodes[kind])

    def _defaults_elsewhere(self) -> bool:
        """A default argument that is an object of a class of another file, with signs of an agent."""
        made = {_maker(value) for node in self.nodes[ast.arguments] for value in (*node.defaults, *node.kw_defaults)}
        return any(map(_shows_agent, self._sources_of(made)))

    def _lists_elsewhere(self, *said: bytes) -> bool:
        """A class of another file that may be one of messages, or keep them, and that an annotation names."""
        named = {name for annotation in self._annotations() for name in _named(annotation)}
        return any(all(word in source for word in said) for source in self._sources_of(named))

    def _annotations(self) -> Iterator[ast.expr | None]:
        nodes = self.nodes
        yield from (node.annotation for node in (*nodes[ast.arg], *nodes[ast.AnnAssign]))
        yield from (node.returns for node in (*nodes[ast.FunctionDef], *nodes[ast.AsyncFunctionDef]))

    # -- what the rules need -----------------------------------------------------------------------------------

    @cached_property
    def _writes(self) -> bool:
        """Something is changed in place, or bound that is not a plain name."""
        nodes = self.nodes
        return (
            not self.called.isdisjoint(_MUTATORS)
            or self.has(ast.AugAssign)
            or any(type(node.ctx) is not ast.Load for kind in (ast.Attribute, ast.Subscript) for node in nodes[kind])
        )

    def has_agent(self) -> bool:
        return self.agent

    def changes_history(self) -> bool:
        return self._writes and self.agent

    def shares_history(self) -> bool:
        """A history; or an object that keeps one, in the hands of a framework or of all calls of a function."""
        return self.agent or (self._serves() and self.keeps_elsewhere()) or self._defaults_elsewhere()

    def overlaps_turns(self) -> bool:
        """A history; or an object that keeps one, and something that runs concurrently."""
        return self.agent or (
            (self._serves() or self._starts())
            and any(name.lstrip("_").startswith(words.TURNS) for name in self.called)
            and self.keeps_elsewhere()
        )

    def _serves(self) -> bool:
        """A function that a framework calls for each user."""
        used = {name.partition(".")[0] for name in self.imported.values()} | self.imported.keys()
        known = not used.isdisjoint(words.FRAMEWORKS) or any("gradio" in name for name in self.imported.values())
        return known and (
            not _SERVED.isdisjoint(self.attributes | self.names)
            or any(name.endswith("Handler") for name in self.called)
        )

    def _starts(self) -> bool:
        """A thread or task."""
        return (
            not _STARTED.isdisjoint(self.called)
            or "Thread" in self.names
            or (
                not self.called.isdisjoint(words.EXECUTOR_MAPS)
                and any("executor" in name.lower() or "pool" in name.lower() for name in self.names)
            )
        )

    def cuts_history(self) -> bool:
        """A list cut by position, and a history: also one that only the class of its elements shows."""
        cuts = self.has(ast.Slice, ast.Delete) or not self.called.isdisjoint(_CUTTERS)
        return cuts and (self.agent or self._lists_elsewhere(b"role", b"tool_"))

    def takes_tail(self) -> bool:
        """`history[-n:]` with a number that is worked out."""
        return any(map(_is_worked_out, self.nodes[ast.Subscript])) and (self.agent or self._lists_elsewhere(b"role"))

    def copies_history(self) -> bool:
        copies = (
            not self.called.isdisjoint(_COPIERS)
            or self.has(ast.Slice, ast.ListComp, ast.DictComp, ast.GeneratorExp, ast.Starred)
            or any(None in node.keys for node in self.nodes[ast.Dict])
            or any(type(node.op) is ast.Add for kind in (ast.BinOp, ast.AugAssign) for node in self.nodes[kind])
        )
        return copies and self.changes_history()

    def edits_schemas(self) -> bool:
        """The schema of a tool is read, and something is stored into that is no plain name."""
        if not (self.mentions(words.SCHEMA_NAMES) or self.mentions({"parameters"})):
            return False
        return self._writes and any(
            name in words.SCHEMA_NAMES or (name == "parameters" and _is_of_tools(base)) for base, name in self.members
        )

    def loops(self) -> bool:
        """Rounds."""
        return self.has(*_LOOPS) and self.agent

    def compares_calls(self) -> bool:
        return self.has(ast.Compare) and self.calls

    def looks_up_calls(self) -> bool:
        """Calls that are compared, or looked up by a key."""
        return (self.has(ast.Compare) or "get" in self.called) and self.calls

    def picks_messages(self) -> bool:
        return self.has(ast.Subscript) and self.agent

    def parses_calls(self) -> bool:
        """JSON that a model wrote is decoded, or put back for lack of a default."""
        return self._decodes() or any(map(_has_default_text, self.nodes[ast.BoolOp]))

    def _decodes(self) -> bool:
        decodes = any(parts <= self.names for parts in _DECODERS) and self._calls_one_of(words.DECODERS)
        encodes = self.has(*_TRIES) and any(parts <= self.names for parts in _ENCODERS)
        return (decodes and (self.agent or self._runs_tools())) or (
            encodes and self.agent and self._calls_one_of(words.ENCODERS)
        )

    def _calls_one_of(self, full: Collection[str]) -> bool:
        return any(name in full for name, _ in self.full_calls)

    def _runs_tools(self) -> bool:
        """A tool that is called by a name of its own, or looked up in a table of tools."""
        named = {node.id for node in self.nodes[ast.Name]} | {node.arg for node in self.nodes[ast.arg]}
        return not named.isdisjoint(words.TOOL_NAMES) or any(
            _is_table_of_tools(table) for table, key in self._looked_up() if isinstance(key, ast.Name)
        )

    def _looked_up(self) -> Iterator[tuple[ast.expr, ast.expr]]:
        """`(table, key)` of `table[key]`, `table.get(key)` and `getattr(table, key)`."""
        for node in self.nodes[ast.Subscript]:
            yield node.value, node.slice
        for node in self.nodes[ast.Call]:
            if type(node.func) is ast.Attribute and node.func.attr == "get" and node.args:
                yield node.func.value, node.args[0]
            elif called_name(node) == "getattr" and len(node.args) > 1:
                yield node.args[0], node.args[1]

    def loses_messages(self) -> bool:
        """Messages, or a result that holds those of one turn (Pydantic AI shows no more of an agent than that)."""
        return self.agent or "new_messages" in self.names


@lru_cache(maxsize=128)
def _shows_agent(source: bytes) -> bool:
    """Whether a file that others import has signs of an agent."""
    if not mentions_agent(source, Vocabulary()):
        return False
    try:
        return Gate(ast.parse(source)).agent
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False


# -- single nodes --------------------------------------------------------------------------------------------------

_DECODERS = tuple(frozenset(name.split(".")) for name in words.DECODERS)
_ENCODERS = tuple(frozenset(name.split(".")) for name in words.ENCODERS)


def _maker(value: ast.expr | None) -> str:
    """`Agent` of `Agent(...)` and `await Agent(...)`, "" of anything else."""
    while isinstance(value, (ast.Await, ast.NamedExpr)):
        value = value.value
    return value.func.id if isinstance(value, ast.Call) and isinstance(value.func, ast.Name) else ""


def _named(annotation: ast.expr | None) -> Iterator[str]:
    """The names in an annotation."""
    if isinstance(annotation, ast.Name):
        yield annotation.id
    elif isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
        yield annotation.value
    elif isinstance(annotation, ast.Subscript):
        yield from _named(annotation.slice)
    elif isinstance(annotation, ast.BinOp):
        yield from _named(annotation.left)
        yield from _named(annotation.right)


def _may_be_message(shown: dict[str, ast.expr]) -> bool:
    """Whether keys and values may be those of a message: a role that models know, or one that is not written out."""
    role = shown["role"]
    return not _PARTS.isdisjoint(shown) and (not isinstance(role, ast.Constant) or role.value in words.ROLES)


def _makes_message(call: ast.Call) -> bool:
    """`ChatMessage("user", ...)`, `Turn(role=..., content=...)`, `Content(role=..., parts=...)`."""
    name = called_name(call)
    keywords = items(call)
    if "role" in keywords and (name[:1].isupper() or name == "replace") and not _PARTS.isdisjoint(keywords):
        return True
    role = keywords.get("role", call.args[0] if call.args else None)
    return "Message" in name and text(role) in words.ROLES


def _parts(node: ast.arg) -> Iterator[ast.AST]:
    """The nodes of a parameter's annotation."""
    return ast.walk(node.annotation) if node.annotation is not None else iter(())


def _strings(node: ast.Compare) -> Iterator[str]:
    """The strings that a comparison compares with."""
    for side in (node.left, *node.comparators):
        for part in side.elts if isinstance(side, (ast.Tuple, ast.List, ast.Set)) else (side,):
            if (found := text(part)) is not None:
                yield found


def _is_choice(base: ast.expr) -> bool:
    """`x.choices[i]`, or a name for one."""
    if isinstance(base, ast.Subscript):
        pair = member(base.value)
        return pair is not None and pair[1] == "choices"
    return isinstance(base, ast.Name) and "choice" in base.id


def _may_ask(name: str) -> bool:
    """Whether a function of this name asks a model, if what it gives back is read as a reply."""
    plain = name.lstrip("_")
    return plain in words.ASKING or "completion" in name or plain.startswith(("call_llm", "ask_", "chat_"))


def _has_request_keys(node: ast.Call | ast.Dict) -> bool:
    """`messages` beside another keyword of requests, the model to ask, or any that are spread (`**request`)."""
    keys: set[object]
    if isinstance(node, ast.Call):
        keys = {keyword.arg for keyword in node.keywords}
    else:
        keys = {key.value if isinstance(key, ast.Constant) else key for key in node.keys}
    return "messages" in keys and (None in keys or "llm" in keys or not keys.isdisjoint(words.REQUEST_KEYWORDS))


def _is_endpoint(name: str, call: ast.Call) -> bool:
    parts = [part for part in name.split(".") if part not in {"with_raw_response", "with_streaming_response"}]
    for length in range(_LONGEST_ENDPOINT, 0, -1):
        end = ".".join(parts[-length:])
        if end in words.ENDPOINTS:
            given = {keyword.arg for keyword in call.keywords}
            return end not in words.AMBIGUOUS_ENDPOINTS or None in given or not given.isdisjoint(words.REQUEST_KEYWORDS)
    return False


def _empties_history(node: ast.Assign) -> bool:
    """`agent.messages = []`."""
    return (
        isinstance(node.value, ast.List)
        and not node.value.elts
        and any(isinstance(target, ast.Attribute) and target.attr in words.HISTORY_NAMES for target in node.targets)
    )


def _is_worked_out(node: ast.Subscript) -> bool:
    """`x[-n:]`, `x[-n]`, `x[len(x) - n:]` with an n that is no literal."""
    start = node.slice.lower if isinstance(node.slice, ast.Slice) else node.slice
    if isinstance(start, ast.UnaryOp):
        return not (isinstance(start.operand, ast.Constant) and start.operand.value)
    return isinstance(start, ast.BinOp) and isinstance(node.slice, ast.Slice)


def _is_of_tools(base: ast.expr) -> bool:
    """Whether the `parameters` of a value are those of a tool, by its name."""
    pair = member(base)
    name = pair[1] if pair is not None else ast.unparse(base)
    return any(word in name.lower() for word in _SCHEMA_OWNERS)


def _has_default_text(node: ast.BoolOp) -> bool:
    """`f.get("arguments", "{}") or ...`: a default that is never empty."""
    return isinstance(node.op, ast.Or) and any(
        isinstance(value, ast.Call) and len(value.args) == 2 and text(value.args[0]) in _ARGUMENT_KEYS
        and called_name(value) == "get" and bool(text(value.args[1]))
        for value in node.values
    )  # fmt: skip


def _is_table_of_tools(table: ast.expr) -> bool:
    said = ast.unparse(table).lower()
    return "tool" in said or "function" in said


_NEEDS: dict[str, Callable[[Gate], bool]] = {
    "AGL101": Gate.changes_history,
    "AGL102": Gate.overlaps_turns,
    "AGL103": Gate.shares_history,
    "AGL201": Gate.copies_history,
    "AGL203": Gate.edits_schemas,
    "AGL301": Gate.copies_history,
    "AGL302": Gate.loops,
    "AGL303": Gate.loops,
    "AGL304": Gate.looks_up_calls,
    "AGL305": Gate.compares_calls,
    "AGL306": Gate.loops,
    "AGL308": Gate.loops,
    "AGL401": Gate.compares_calls,
    "AGL403": Gate.looks_up_calls,
    "AGL404": Gate.looks_up_calls,
    "AGL405": Gate.picks_messages,
    "AGL406": Gate.looks_up_calls,
    "AGL501": Gate.parses_calls,
    "AGL602": Gate.cuts_history,
    "AGL606": Gate.loses_messages,
    "AGL702": Gate.takes_tail,
    "AGL703": Gate.takes_tail,
    "AGL902": Gate.looks_up_calls,
    "AGL903": Gate.looks_up_calls,
}
NEED_NO_FACTS = frozenset({"AGL102", "AGL103", "AGL203", "AGL501", "AGL602", "AGL606", "AGL702", "AGL703"})
"""The rules that may find something in a file in which no value is known to be part of an agent: other files, or
libraries, make it one, or it needs no more than a schema or JSON for a tool."""
