"""Where facts begin: the forms by which a value of a file can first be known as a part of an agent, read off its `ast`.

Mirrors what `anatomy.values` learns from syntax alone, and leaves out what only carries facts on: where there is none
of these forms, nothing flows. Each may be seen where `anatomy.values` learns nothing, never the other way round.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator
from functools import cached_property

from lint_rules.anatomy import vocabulary as words
from lint_rules.gate.signs import Signs, called_name, dotted, items, last_name, member, text

__all__ = ["Evidence", "is_endpoint", "may_ask"]

_CALL_MEMBERS = words.CALLS_ATTRIBUTES | {"function_call", "functionCall", "toolUse", "partial_json"}
_MEMBERS = _CALL_MEMBERS | {"tool_call_id", "choices", "message", "delta", "arguments"}
_PARTS_OF_CALLS = _CALL_MEMBERS | {"function_calls", "arguments"}
_CALL_OWNERS = frozenset({"function", "function_call"})
_TYPES = words.MESSAGE_TYPES | words.CALL_TYPES
_TELLING: tuple[tuple[frozenset[str], frozenset[str]], ...] = (
    (frozenset({"role"}), words.TELLING_ROLES),
    (frozenset({"type"}), words.CALL_TAGS),
    (frozenset({"stop_reason", "finish_reason"}), frozenset({"tool_use", "tool_calls"})),
)
"""Members that are compared with strings, and the strings that tell something."""
_ID = "tool_use_id"
_KEYS = frozenset({"role", "type", "function", "arguments", _ID})
_OUTPUTS = frozenset({"function_call_output", "function_call"})
_PARTS = words.MESSAGE_PARTS | {"text"}
_NO_LISTS = frozenset({"Callable", "type", "Type", "dict", "Dict", "Mapping"})
_LISTS = frozenset({"list", "List", "Sequence", "Iterable", "deque", "MutableSequence", "tuple", "Tuple"})
_DICTS = frozenset({"dict", "Dict"})
_LANGCHAIN_MODELS = ("Chat", "create_react")
_ENDPOINTS = tuple(frozenset(name.split(".")) for name in words.ENDPOINTS)
_LONGEST_ENDPOINT = 3
_SESSION_ENDS = frozenset(name.rpartition(".")[2] for name in words.SESSION_FACTORIES)
_OF_AGENTS = tuple(package for packages in words.AGENTS.values() for package in packages)


class Evidence(Signs):
    """The forms of a file, one property a kind of form; words first, as sets: most files have none of them."""

    @cached_property
    def agent(self) -> bool:
        """Whether any value can be known as a part of an agent, or any model is asked."""
        return (
            self._reads_parts()
            or self._shows_parts()
            or self._makes_messages()
            or self._compares_tags()
            or self._annotates()
            or self.request
            or self._makes_model()
            or self._hands_callback()
            or self._empties_history()
        )

    @cached_property
    def calls(self) -> bool:
        """Whether any value can be known as tool calls, one of them, or a part of one."""
        return (
            any(self._is_part_of_call(base, name) for base, name in self.members(_PARTS_OF_CALLS | self.said_arguments))
            or any(_is_shown_call(shown) or _has_calls(shown) for shown in self.displays)
            or self._adds_arguments()
            or self._reads_answerable()
            or any(not words.ANSWERED.isdisjoint(given) for given in (*self.displays, self.keywords))
            or self._compares(({"type"}, words.CALL_TAGS))
            or self._annotates_with(words.CALL_TYPES)
            or self._hands_callback()
        )

    def _is_part_of_call(self, base: ast.expr, name: str) -> bool:
        if name == "arguments":
            return _is_function(base) or (type(base) is ast.Name and base.id in self._functions)
        return name in _CALL_MEMBERS or name == "function_calls" or words.says_arguments(name)

    @cached_property
    def _functions(self) -> set[str]:
        """The names of what a call has under `function`, or of a copy of it: `wanted = call["function"].copy()`."""
        bound = ((node.targets[0], node.value) for node in self.nodes[ast.Assign])
        return {target.id for target, value in bound if type(target) is ast.Name and _is_function(value)}

    @cached_property
    def asks(self) -> bool:
        """Whether any call can ask a model: as a request, by its name with a history, or as what it gives is kept."""
        may = not words.SAID.isdisjoint(self.texts) or any(map(may_ask, self.called))
        return self.request or (self.agent and may) or self._declares_request()

    # -- what is read ------------------------------------------------------------------------------------------

    def _reads_parts(self) -> bool:
        """`reply.tool_calls`, `call["function"]["arguments"]`, `block.get("toolUse")`, `reply.choices`."""
        if not self.attributes.isdisjoint(_CALL_MEMBERS | {"choices"}):
            return True
        known = _MEMBERS | self.said_arguments
        if self.attributes.isdisjoint(known) and self.texts.isdisjoint(known):
            return False
        return (
            any(_is_part(base, name) or self._is_part_of_call(base, name) for base, name in self.members(known))
            or self._reads_ids()
            or self._adds_arguments()
            or self._reads_answerable()
        )

    @cached_property
    def said_arguments(self) -> set[str]:
        """The attributes and short strings that say that they hold the arguments of a call as text."""
        said = [word for found in (self.attributes, self.texts) for word in found if "call_arg" in word]
        return set(filter(words.says_arguments, said))

    def _reads_ids(self) -> bool:
        """`message["tool_call_id"]`: events of user interfaces have the attribute."""
        return any(text(node.slice) == "tool_call_id" for node in self.nodes[ast.Subscript])

    def _adds_arguments(self) -> bool:
        """`call.arguments += piece`."""
        targets = (member(node.target) for node in self.nodes[ast.AugAssign])
        return any(pair is not None and pair[1] == "arguments" for pair in targets)

    def _reads_answerable(self) -> bool:
        """The `call_id` and the `arguments` of something."""
        return len({name for _, name in self.members({"call_id", "arguments"})}) == 2

    # -- what is shown -----------------------------------------------------------------------------------------

    def _shows_parts(self) -> bool:
        """Messages, tool calls and results of tools as dicts."""
        if self.texts.isdisjoint(_KEYS) and self.keywords.isdisjoint(_KEYS):
            return False
        return any(map(_is_shown_part, self.displays))

    def _makes_messages(self) -> bool:
        """`HumanMessage(...)`, `Turn(role=..., content=...)`, `Turn("assistant", ...)`."""
        made = ("role" in self.keywords or not words.SAID.isdisjoint(self.texts)) or any(
            "Message" in name or name in words.MESSAGE_CLASSES for name in self.called
        )
        return (made and any(map(_makes_message, self.nodes[ast.Call]))) or self._makes_own_messages()

    def _makes_own_messages(self) -> bool:
        """An object of a class of this file that has a role and a part."""
        return "role" in self._annotated and any(
            node.name in self.called and _has_fields(node) for node in self.nodes[ast.ClassDef]
        )

    @cached_property
    def _annotated(self) -> set[str]:
        """Names with an annotation, those of parameters left out."""
        return {node.target.id for node in self.nodes[ast.AnnAssign] if type(node.target) is ast.Name}

    @cached_property
    def message_fields(self) -> frozenset[str]:
        """What classes with a role and a part have: what is annotated as a list of them is a list of messages."""
        classes = self.class_names() if "role" in self.names else ()
        return frozenset().union(
            *(bound for bound in classes if "role" in bound and not bound.isdisjoint(words.MESSAGE_PARTS))
        )

    # -- what is compared and annotated ------------------------------------------------------------------------

    def _compares_tags(self) -> bool:
        """`message.role == "assistant"`, `block.type == "tool_use"`, `reply.stop_reason == "tool_use"`."""
        return self._compares(*_TELLING)

    def _compares(self, *telling: tuple[Collection[str], Collection[str]]) -> bool:
        said = [(names, tags) for names, tags in telling if not self.texts.isdisjoint(tags)]
        return bool(said) and any(
            _compares_tag(node, names, tags) for node in self.nodes[ast.Compare] for names, tags in said
        )

    def _annotates(self) -> bool:
        """A type of messages or calls as annotation of a variable or parameter, or of what is tested."""
        return self._annotates_with(_TYPES) or self._is_called_history()

    def _annotates_with(self, types: Collection[str]) -> bool:
        if self.names.isdisjoint(types) and self.texts.isdisjoint(types):
            return False
        return any(_tells_part(annotation, types) for annotation in self._types())

    def _is_called_history(self) -> bool:
        """A parameter `messages: list[dict]`."""
        return not self.names.isdisjoint(_DICTS) and any(
            node.arg in words.CALLED_HISTORIES and node.annotation is not None and _lists_dicts(node.annotation)
            for node in self.nodes[ast.arg]
        )

    def _types(self) -> Iterator[ast.expr]:
        for kind in (ast.arg, ast.AnnAssign):
            yield from (node.annotation for node in self.nodes[kind] if node.annotation is not None)
        for node in self.nodes[ast.Call]:
            if len(node.args) == 2 and called_name(node) == "isinstance":
                yield node.args[1]

    # -- what is asked -----------------------------------------------------------------------------------------

    @cached_property
    def request(self) -> bool:
        """A call that asks a model, by its name or by its keywords; or what makes an object that is asked."""
        return (
            self._asks_by_keywords()
            or self._calls_endpoint()
            or self.goes_on_with_chat
            or self._runs_agent()
            or (not self.keywords.isdisjoint(words.INSTRUCTIONS) and any(map(_is_told, self.nodes[ast.Call])))
        )

    def _runs_agent(self) -> bool:
        """The agent of a library, which is imported here."""
        return not words.AGENT_RUNS.isdisjoint(self.called) and any(
            full.startswith(_OF_AGENTS) for full in self.imported.values()
        )

    @cached_property
    def goes_on_with_chat(self) -> bool:
        """`chat.send_message(text)` for a `chat: AsyncChat`, one that is begun here, `client.chats.create(...)`, or one
        of whose answer the `candidates` are read.
        """
        if words.SESSION_CALLS.isdisjoint(self.called):
            return False
        begun = (name for name, _ in self.calls_ending(_SESSION_ENDS))
        is_read = any(True for _ in self.members({"candidates"}))
        return is_read or self._annotates_with(words.SESSION_TYPES) or any(map(_begins_chat, begun))

    def _asks_by_keywords(self) -> bool:
        is_sent = not words.SENT.isdisjoint(self.keywords) and any(map(_asks, self.nodes[ast.Call]))
        return is_sent or self.shows_request

    @cached_property
    def shows_request(self) -> bool:
        """`{"messages": ..., "model": ...}`; a server of one model is told no name, but other parameters."""
        return any(map(words.is_body, self.displays))

    def _declares_request(self) -> bool:
        """A method with the parameters of a request, whatever a subclass does with them."""
        made = (*self.nodes[ast.FunctionDef], *self.nodes[ast.AsyncFunctionDef])
        return any(words.is_request({arg.arg for arg in (*each.args.args, *each.args.kwonlyargs)}) for each in made)

    def _calls_endpoint(self) -> bool:
        if not any(parts <= self.names for parts in _ENDPOINTS):
            return False
        return any(is_endpoint(name, call) for name, call in self.calls_ending(words.ENDPOINT_ENDS))

    def _makes_model(self) -> bool:
        """A model of LangChain."""
        return not self.called.isdisjoint(words.MODEL_FACTORIES) or (
            any(name.startswith(_LANGCHAIN_MODELS) for name in self.called)
            and any(name.startswith(("langchain", "langgraph")) for name in self.imported.values())
        )

    def _hands_callback(self) -> bool:
        """A function that a framework calls with the arguments of a tool as text."""
        return not self.keywords.isdisjoint(words.ARGUMENT_CALLBACKS)

    def _empties_history(self) -> bool:
        """`agent.messages = []`, and a question to `agent`: both together are what shows it."""
        if self.attributes.isdisjoint(words.HISTORY_NAMES) or self.called.isdisjoint(words.ASKING):
            return False
        emptied = {owner for node in self.nodes[ast.Assign] for owner in _emptied(node)}
        return bool(emptied) and any(
            type(node.func) is ast.Attribute and node.func.attr in words.ASKING and dotted(node.func.value) in emptied
            for node in self.nodes[ast.Call]
        )


# -- single nodes --------------------------------------------------------------------------------------------------


def may_ask(name: str) -> bool:
    """Whether a function of this name asks a model, if it gets a history, or what it gives back is read as a reply."""
    plain = name.lstrip("_")
    return plain in words.ASKING or "completion" in name or plain.startswith(("call_llm", "ask_", "chat_"))


def _is_told(made: ast.Call) -> bool:
    """`Judge(system_prompt=..., temperature=0.1)`."""
    told = items(made).keys()
    return (
        called_name(made)[:1].isupper()
        and not told.isdisjoint(words.INSTRUCTIONS)
        and not told.isdisjoint(words.OF_MODELS)
    )


def _is_part(base: ast.expr, name: str) -> bool:
    """Whether a member is a part of a reply, by its name and what it is read of."""
    return name == "choices" or (name in {"message", "delta"} and _is_choice(base))


def _is_function(value: ast.expr) -> bool:
    """`call["function"]`, `call.function`, and a copy."""
    if type(value) is ast.Call and called_name(value) in {"copy", "dict", "deepcopy"}:
        inside = value.func.value if type(value.func) is ast.Attribute else None
        value = value.args[0] if value.args else inside or value
    pair = member(value)
    return pair is not None and pair[1] in _CALL_OWNERS


def _is_choice(base: ast.expr) -> bool:
    """`x.choices[i]`, or a name for one."""
    if type(base) is ast.Subscript:
        pair = member(base.value)
        return pair is not None and pair[1] == "choices"
    return type(base) is ast.Name and "choice" in base.id


def _is_shown_part(shown: dict[str, ast.expr]) -> bool:
    """Whether keys and values are those of a message, a call, or a result."""
    tag = text(shown.get("type"))
    if tag in _OUTPUTS or _is_shown_call(shown) or ("content" in shown and (tag == "tool_result" or _ID in shown)):
        return True
    if "role" not in shown or words.MESSAGE_PARTS.isdisjoint(shown):
        return False
    role = text(shown["role"])
    return role is None or role in words.ROLES


def _has_calls(shown: dict[str, ast.expr]) -> bool:
    """`{"role": "assistant", "tool_calls": wanted}`."""
    return "role" in shown and not words.CALLS_ATTRIBUTES.isdisjoint(shown)


def _is_shown_call(shown: dict[str, ast.expr]) -> bool:
    function = shown.get("function")
    return (
        (isinstance(function, (ast.Dict, ast.Call)) and "arguments" in items(function))
        or ("input" in shown and text(shown.get("type")) == "tool_use")
        or {"id", "name", "arguments"} <= shown.keys()
    )


def _makes_message(call: ast.Call) -> bool:
    """Whether a constructor makes a message, by its name, its role, and its keywords."""
    name = called_name(call)
    if name in words.MESSAGE_CLASSES:
        return bool(call.args or call.keywords)
    if not name[:1].isupper():
        return False
    keywords = items(call)
    if "role" in keywords and ("content" in keywords or (name == "Content" and "parts" in keywords)):
        return True
    roles = words.ROLES if "Message" in name else words.SAID
    said = [keywords.get("role"), *call.args[:1]] if call.args[1:] or keywords else []
    return any(text(role) in roles for role in said)


def _has_fields(node: ast.ClassDef) -> bool:
    """Whether a class has a role and a part among its annotated names."""
    fields = {
        inside.target.id
        for inside in ast.walk(node)
        if type(inside) is ast.AnnAssign and type(inside.target) is ast.Name
    }
    return "role" in fields and not fields.isdisjoint(_PARTS)


def _compares_tag(node: ast.Compare, names: Collection[str], tags: Collection[str]) -> bool:
    """Whether a member of one of these names is compared with one of these strings."""
    sides = (node.left, *node.comparators)
    return any((pair := member(side)) is not None and pair[1] in names for side in sides) and any(
        text(part) in tags for side in sides for part in _alternatives(side)
    )


def _alternatives(node: ast.expr) -> list[ast.expr]:
    """The elements of a display, to which something is compared by `in`."""
    return node.elts if isinstance(node, (ast.Tuple, ast.List, ast.Set)) else [node]


def _tells_part(annotation: ast.expr, types: Collection[str]) -> bool:
    """Whether an annotation names one of these types, or a list of them."""
    if type(annotation) is ast.BinOp:
        return _tells_part(annotation.left, types) or _tells_part(annotation.right, types)
    if type(annotation) is ast.Subscript:
        return last_name(annotation.value) not in _NO_LISTS and _tells_part(annotation.slice, types)
    named = text(annotation)
    return (last_name(annotation) if named is None else named.rpartition(".")[2]) in types


def _lists_dicts(annotation: ast.expr) -> bool:
    """`list[dict]`, `List[Dict[str, Any]]`, `Sequence[dict] | None`."""
    if type(annotation) is ast.BinOp:
        return _lists_dicts(annotation.left) or _lists_dicts(annotation.right)
    if type(annotation) is not ast.Subscript:
        return False
    outer, inside = last_name(annotation.value), annotation.slice
    if outer == "Optional":
        return _lists_dicts(inside)
    return outer in _LISTS and last_name(inside.value if type(inside) is ast.Subscript else inside) in _DICTS


def _asks(call: ast.Call) -> bool:
    """`messages=` or `input=` beside another keyword of requests, the model to ask, or what is spread (`**request`)."""
    given = {keyword.arg for keyword in call.keywords}
    if words.SENT.isdisjoint(given) or not called_name(call) or called_name(call)[0].isupper():
        return False
    if "messages" in given and (None in given or "llm" in given):
        return True
    return words.is_request({name for name in given if name is not None})


def _begins_chat(name: str) -> bool:
    return name.endswith(words.SESSION_FACTORIES)


def is_endpoint(name: str, call: ast.Call) -> bool:
    parts = [part for part in name.split(".") if part not in {"with_raw_response", "with_streaming_response"}]
    for length in range(_LONGEST_ENDPOINT, 0, -1):
        end = ".".join(parts[-length:])
        if end in words.ENDPOINTS:
            given = {keyword.arg for keyword in call.keywords}
            return end not in words.AMBIGUOUS_ENDPOINTS or None in given or not given.isdisjoint(words.REQUEST_KEYWORDS)
    return False


def _emptied(node: ast.Assign) -> Iterator[str]:
    """`agent` of `agent.messages = []`."""
    if type(node.value) is ast.List and not node.value.elts:
        for target in node.targets:
            if type(target) is ast.Attribute and target.attr in words.HISTORY_NAMES:
                yield dotted(target.value) or ""
