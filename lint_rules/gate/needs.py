"""What rules cannot do without, in forms that the `ast` shows: one method a need, named like what a rule looks for.

Beside what it asks for here, a rule needs that `agent` holds, but for those of `NEED_NO_FACTS`.
"""

from __future__ import annotations

import ast
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Collection, Iterator
from functools import cached_property, lru_cache

from lint_rules.anatomy import vocabulary as words
from lint_rules.anatomy.frameworks import ENTRIES, PACKAGES, common_parts
from lint_rules.gate import forms, schemas
from lint_rules.gate.evidence import may_ask
from lint_rules.gate.signs import called_name
from lint_rules.gate.surroundings import Surroundings
from lint_rules.syntax.names import written

__all__ = ["Needs", "runs_beside"]

_GROWERS = frozenset({"append", "appendleft", "add", "insert", "extend", "extendleft"})
_MUTATORS = _GROWERS | {
    "pop", "popleft", "popitem", "clear", "update", "remove", "setdefault", "sort", "reverse", "discard", "__setitem__",
}  # fmt: skip
_COPIERS = frozenset(
    {
        "copy", "model_copy", "dict", "list", "tuple", "sorted", "deque", "replace", "_replace", "deepcopy", "dumps",
        "join", "str", "extend", "update", "format", "filter", "map", "reversed", "append",
    }
)  # fmt: skip
_ADDERS = ("add_", "append_", "extend", "aadd_")
_CALL_WORDS = words.CALLS_ATTRIBUTES | words.CALL_TAGS | words.CALL_TYPES | {"function_calls", "partial_json"}
_OTHER_CALLS = frozenset({"functionCall", "function_response", "functionResponse", "toolResult"})
_ANSWERS = words.ANSWERED | {
    "tool", "function", "TOOL", "FUNCTION", "toolResult", "functionResponse", "function_response", "tool_result",
    "function_call_output", "tool-result", "tool_response", "tool_message", "from_function_response",
    "tool_result_message",
}  # fmt: skip
_ANSWER_CLASSES = ("Tool", "Function", "RetryPrompt", "Realtime")
_TOOL_FIELDS = frozenset({"tool_calls", "tool_call_id", "tool_use_id", "tool_results", "tool_call", "tool_result"})
_SYSTEM = frozenset({"system", "developer", "SystemMessage", "from_system", "from_developer"})
_STORED_CALLS = frozenset({"tool_calls"})
_LIMITS = ("max", "limit", "budget")
_SIGNALS = frozenset({"set", "set_result", "put", "put_nowait", "task_done", "notify", "notify_all"})
_STARTED = frozenset({*words.THREADS, *words.TASKS, *words.CALLBACKS, "gather"})
_TOLD_OF = words.SCHEMA_NAMES | {"description", "parameters", "tools"}
_SCHEMAS = frozenset({"parameters", "input_schema", "inputSchema", "tools", "functions"})
_LOCKS = frozenset({"Lock", "RLock", "Condition", "Semaphore", "BoundedSemaphore"})
_CONVERSATIONS = frozenset().union(*words.CONVERSATIONS.values())
_BODIES = frozenset({"json", "data", "content", "body", None})
"""Keywords by which a request gets what it sends; None stands for `**request`."""
_LOOPS = (ast.For, ast.AsyncFor, ast.While)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_TRIES = tuple(getattr(ast, name) for name in ("Try", "TryStar") if hasattr(ast, name))
_DECODERS = tuple(frozenset(name.split(".")) for name in words.DECODERS)
_ENCODERS = tuple(frozenset(name.split(".")) for name in words.ENCODERS)


class Needs(Surroundings):
    """What stands in a file of all that rules ask for, each worked out when the first rule asks."""

    # -- what runs -----------------------------------------------------------------------------------------------

    @cached_property
    def asks_in_loop(self) -> bool:
        """A loop from which a model may be asked: in it, or in functions of this file that are named in it.

        A function that calls itself, also through another one, may be a loop.
        """
        loops = [node for kind in _LOOPS for node in self.nodes[kind]] if self.asks else []
        if loops and forms.any_within(loops, self._asking_lines()):
            return True
        again = list(self._recursive()) if self.asks else []
        return bool(again) and forms.any_within(again, self._asking_lines())

    def _recursive(self) -> Iterator[ast.stmt]:
        """The functions that call themselves, or one that calls them."""
        functions = [node for kind in (ast.FunctionDef, ast.AsyncFunctionDef) for node in self.nodes[kind]]
        names = {node.name for node in functions} & self.called
        calls = sorted((node.lineno, called_name(node)) for node in self.nodes[ast.Call] if called_name(node) in names)
        inside: dict[str, set[str]] = defaultdict(set)
        for node in functions if calls else ():
            start, end = bisect_left(calls, (node.lineno, "")), bisect_left(calls, ((node.end_lineno or 0) + 1, ""))
            inside[node.name].update([name for _, name in calls[start:end]])
        for node in functions:
            called = inside[node.name]
            if node.name in called or any(node.name in inside[name] for name in called):
                yield node

    def _asking_lines(self) -> list[int]:
        """Where a model may be asked, or something is named that leads to such a place."""
        kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
        scopes = [node for kind in kinds for node in self.nodes[kind]]
        named: dict[str, list[int]] = {node.name: [] for node in scopes}
        for node in self.nodes[ast.Name]:
            if node.id in named:
                named[node.id].append(node.lineno)
        for node in self.nodes[ast.Attribute]:
            if node.attr in named:
                named[node.attr].append(node.end_lineno)
        lines = sorted([node.lineno for node in self._asking()])
        while True:
            found = [node for node in scopes if forms.any_within([node], lines)]
            if not found:
                return lines
            asking = set(found)
            scopes = [node for node in scopes if node not in asking]
            lines = sorted({*lines, *(line for node in found for line in named[node.name])})

    def _asking(self) -> list[ast.Call | ast.keyword]:
        """The calls that may ask a model, or those of their keywords that show it."""
        requests = written(words.ENDPOINT_ENDS, self.imported) | (
            words.SESSION_CALLS if self.goes_on_with_chat else set()
        )
        names = {name for name in self.called if name in requests or may_ask(name) or name in self.asking_elsewhere}
        keywords = {*words.SENT, *(_BODIES if self.shows_request else ())}
        return [
            *[node for node in self.nodes[ast.Call] if called_name(node) in names],
            *self.answering,
            *[node for node in self.nodes[ast.keyword] if node.arg in keywords],
        ]

    @cached_property
    def _runs_beside(self) -> bool:
        """Something that runs concurrently: in this file, one that imports it, one that a class inherits from, or one
        that is handed a function.
        """
        if self.starts_runs or self.is_run_beside or any(map(runs_beside, self.bases_elsewhere())):
            return True
        return any(map(runs_beside, self.defining(self._handed_to())))

    def _handed_to(self) -> set[str]:
        """What is called here with a function of this file, or an attribute is made one, or gets one put into it."""
        own = {node.name for kind in (ast.FunctionDef, ast.AsyncFunctionDef) for node in self.nodes[kind]}
        found = set[str]()
        for node in self.nodes[ast.Call]:
            if any(_names_one(value, own) for value in (*node.args, *(keyword.value for keyword in node.keywords))):
                base = node.func.value if isinstance(node.func, ast.Attribute) else None
                found |= {called_name(node), base.attr if isinstance(base, ast.Attribute) else ""} - {""}
        handed = (node for node in self.nodes[ast.Assign] if _names_one(node.value, own))
        return found | {target.attr for node in handed for target in node.targets if isinstance(target, ast.Attribute)}

    @cached_property
    def starts_runs(self) -> bool:
        """Whether this file may start something that runs concurrently."""
        return self._serves or self._starts()

    @cached_property
    def _serves(self) -> bool:
        """A framework that may call functions of this file for its users."""
        used = {name.partition(".")[0] for name in self.imported.values()} | self.imported.keys()
        if any(node.name in ENTRIES for node in self.nodes[ast.FunctionDef]):
            return True
        return not used.isdisjoint(PACKAGES) or any("gradio" in name for name in self.imported.values()) or "gr" in used

    def _starts(self) -> bool:
        """A thread or task."""
        return (
            not _STARTED.isdisjoint(self.called)
            or "Thread" in self.names
            or (
                not self.called.isdisjoint(words.EXECUTOR_MAPS)
                and any(word in self._spelling for word in ("executor", "pool"))
            )
        )

    def _locks(self) -> bool:
        """A lock, by the class it is made of, or by its name."""
        return (
            not self.names.isdisjoint(_LOCKS)
            or any(word in self._spelling for word in ("lock", "mutex"))
            or any("lock" in (low := text.lower()) or "mutex" in low for text in self.texts)
        )

    @cached_property
    def _spelling(self) -> str:
        """All names in one, in lower case: what looks for a part of a name looks once."""
        return "\n".join(self.names).lower()

    # -- what is done to lists and texts -------------------------------------------------------------------------

    @cached_property
    def _writes(self) -> bool:
        """Something is changed in place, or bound that is not a plain name."""
        nodes = self.nodes
        return (
            not self.called.isdisjoint(_MUTATORS)
            or self.has(ast.AugAssign)
            or any(type(node.ctx) is not ast.Load for kind in (ast.Attribute, ast.Subscript) for node in nodes[kind])
        )

    @cached_property
    def _copies(self) -> bool:
        return (
            not self.called.isdisjoint(_COPIERS)
            or self.has(ast.Slice, ast.ListComp, ast.DictComp, ast.GeneratorExp, ast.Starred, ast.JoinedStr)
            or any(None in node.keys for node in self.nodes[ast.Dict])
            or self.has(ast.AugAssign)
            or self._adds()
        )

    def _adds(self) -> bool:
        return any(type(node.op) is ast.Add for kind in (ast.BinOp, ast.AugAssign) for node in self.nodes[kind])

    @cached_property
    def _cuts(self) -> bool:
        """A list that loses its front: by a slice, by `del`, `pop` or a bound; or that is gone through from its end."""
        if "deque" in self.called and ("maxlen" in self.keywords or any(map(_is_bounded, self.nodes[ast.Call]))):
            return True
        if any(map(forms.is_cut, self.nodes[ast.Subscript])):
            return True
        if "reversed" in self.called or any(map(forms.turns, self.nodes[ast.Subscript])):
            return True
        if any(map(forms.counts_down, (*self.nodes[ast.Call], *self.nodes[ast.AugAssign]))):
            return True
        return not self.called.isdisjoint({"pop", "popleft"}) and any(map(forms.pops, self.nodes[ast.Call]))

    def _takes_back(self) -> bool:
        """A list that may lose its end in a handler of errors."""
        return self.catches() and ("pop" in self.called or self.has(ast.Delete) or self._shortens)

    @cached_property
    def _shortens(self) -> bool:
        """`text[:n]`, `islice(lines, n)`, `file.read(n)`, `f"{text:.900}"`."""
        kinds = (ast.Subscript, ast.Call, ast.FormattedValue)
        return any(forms.is_head(node) for kind in kinds for node in self.nodes[kind])

    @cached_property
    def _answers(self) -> bool:
        """The result of a tool, in the form of a message or a part of one, here or where one is made for this file."""
        made = any(word in name for name in self.called for word in _ANSWER_CLASSES)
        return made or self.mentions(_ANSWERS) or self.answers_elsewhere()

    @cached_property
    def _says_calls(self) -> bool:
        """Tool calls, by their words: of what is compared, a rule may know more than its values tell."""
        return (
            self.mentions(_CALL_WORDS)
            or (self.mentions({"arguments"}) and (self.mentions({"function"}) or self._shows_call()))
            or bool(self.said_arguments)
            or self.mentions(words.ARGUMENT_CALLBACKS)
        )

    def _shows_call(self) -> bool:
        return any({"id", "name", "arguments"} <= shown.keys() for shown in self.displays)

    # -- what the rules need: beside `agent`, but for those of `NEED_NO_FACTS` ------------------------------------

    def has_agent(self) -> bool:
        return self.agent

    def has_calls(self) -> bool:
        return self.calls

    def has_rounds(self) -> bool:
        return self.asks_in_loop

    def has_rounds_or_limit(self) -> bool:
        """Rounds, or what tells a library how many there may be."""
        return self.asks_in_loop or not words.ROUND_LIMITS.keys().isdisjoint(self.keywords | self.texts)

    def changes_history(self) -> bool:
        return self._writes

    def races(self) -> bool:
        """Concurrent writes, or a lock that is held for some of them; a longer copy may be stored for many users."""
        return (self.agent and self._writes and (self._runs_beside or self._locks())) or self.overlaps_turns()

    def overlaps_turns(self) -> bool:
        """Something that runs concurrently, with a turn on a history or on an object that keeps one."""
        return self._sees_turns() or (self._runs_beside and self._takes_in_common())

    def _sees_turns(self) -> bool:
        """The file shows the turn, or those do that it imports."""
        return self._runs_beside and (
            self.agent
            or self.agents_elsewhere(self._begun())
            or self._names_conversation()
            or not words.KEEPERS.keys().isdisjoint(self.called)
            or self.agents_beyond()
        )

    def _names_conversation(self) -> bool:
        """What tells the provider, or its library, with which conversation to go on."""
        return "configurable" in self.texts or not _CONVERSATIONS.isdisjoint(self.keywords)

    def _takes_in_common(self) -> bool:
        """Handlers here get what another file has put there for all, or has handed to who defines them.

        `request.app.state.desk`; `@app.event("message")`, where `app` is a parameter.
        """
        used = {name.partition(".")[0] for name in self.imported.values()}
        if not common_parts(used).isdisjoint(self.attributes | self.imported.keys()):
            return True
        given = {node.arg for node in self.nodes[ast.arg]}
        made = (each for kind in (ast.FunctionDef, ast.AsyncFunctionDef) for each in self.nodes[kind])
        return any(forms.owner(decorator) in given for node in made for decorator in node.decorator_list)

    def _begun(self) -> set[str]:
        """What threads and tasks are begun with: `pool.submit(desk.answer, key)`."""
        starts = (node for node in self.nodes[ast.Call] if called_name(node) in _STARTED)
        given = [value for node in starts for value in (*node.args, *(keyword.value for keyword in node.keywords))]
        names = {value.id for value in given if isinstance(value, ast.Name)}
        return names | {value.attr for value in given if isinstance(value, ast.Attribute)}

    def shares_history(self) -> bool:
        """A history that a framework, a class, or all calls of a function share; or an object that keeps one."""
        serves = self._serves or self.is_run_beside
        if self.agent and (serves or self._makes_defaults() or self._has_class_list()):
            return True
        kept = serves and (self._names_conversation() or self.keeps_elsewhere() or self._takes_in_common())
        return kept or (serves and self.agents_elsewhere()) or self.defaults_elsewhere()

    def _makes_defaults(self) -> bool:
        """`messages=[]`, `state=State()` among parameters."""
        return any(
            isinstance(value, (ast.List, ast.Call))
            for node in self.nodes[ast.arguments]
            for value in (*node.defaults, *node.kw_defaults)
        )

    def _has_class_list(self) -> bool:
        """`messages = []` in the body of a class."""
        return any(isinstance(value, (ast.List, ast.Call)) for value in self.class_values())

    def keeps_run_state(self) -> bool:
        """Runs that may overlap."""
        return (
            self.agent and self._writes and (self._runs_beside or self.has(ast.AsyncFunctionDef))
        ) or self._sees_turns()

    def copies_history(self) -> bool:
        return self._copies and self._writes

    def edits_schemas(self) -> bool:
        """Something is stored into, and there are schemas of tools, or something is offered."""
        known = (schemas.is_one(base, name) for base, name in self.members(schemas.NAMES))
        return self._writes and (self._offers() or any(known))

    def _offers(self) -> bool:
        """Tools' definitions, their schemas, or requests that get something, are put together."""
        defined = {"type", "function"} <= self.texts or ("name" in self.texts and not self.texts.isdisjoint(_SCHEMAS))
        return defined or not self.keywords.isdisjoint(_SCHEMAS) or self.shows_request or self.asks

    def repeats_calls(self) -> bool:
        """Calls that are compared, or looked up by a key."""
        return (self.has(ast.Compare) or "get" in self.called) and self._says_calls

    def stops_at_repeats(self) -> bool:
        return self.repeats_calls() and self.asks_in_loop

    def takes_one_call(self) -> bool:
        return self.calls or self.mentions(_OTHER_CALLS | words.ANSWERED)

    def runs_calls_again(self) -> bool:
        return self.catches() and (self.calls or self.asks or self.turns_elsewhere())

    def makes_ids(self) -> bool:
        """An id, or one dict that fills a list."""
        return (
            self.calls or self.mentions({*words.ANSWERED, "id"}) or any(map(forms.is_repeated, self.nodes[ast.BinOp]))
        )

    def offers_tools(self) -> bool:
        offered = not {"tools", "functions"}.isdisjoint(self.keywords | self.texts)
        return self.asks and (offered or "bind_tools" in self.called or self.calls)

    def picks_messages(self) -> bool:
        """`history[-2]`, `history[i - 1]`, `zip(history, history[1:])`; `history[i]` with an i that was worked out."""
        places = {type(node.slice) for node in self.nodes[ast.Subscript]}
        pairs = self.has(ast.Starred) or "pairwise" in self.called
        if (pairs or {ast.UnaryOp, ast.BinOp, ast.Slice} & places) and self.mentions({"tool_calls", "role"}):
            return True
        return ast.Name in places and self.has(ast.BinOp) and "len" in self.called

    def parses_calls(self) -> bool:
        """JSON that a model wrote is decoded, here or in what is called of another file, or has a default text."""
        if self._decodes() or ("get" in self.called and any(map(forms.has_default_text, self.nodes[ast.BoolOp]))):
            return True
        return (self.calls or self.asks) and self.decodes_elsewhere()

    def _decodes(self) -> bool:
        decoding = self._calls_of(words.DECODERS, _DECODERS)
        decoding += [node for _, node in self.calls_ending(words.DECODING_METHODS)]
        if decoding and (self.agent or self._runs_tools(decoding) or self._picks_pieces()):
            return True
        by_keywords = any(given.kwarg is not None for given in self.nodes[ast.arguments])
        return self.agent and (by_keywords or self.catches()) and bool(self._calls_of(words.ENCODERS, _ENCODERS))

    def _picks_pieces(self) -> bool:
        """Pieces are picked out of a text, and errors caught: another file may tell that a model wrote it."""
        return self.catches() and not self.called.isdisjoint(words.MATCHERS)

    def _calls_of(self, full: Collection[str], parts: Collection[frozenset[str]]) -> list[ast.Call]:
        if not any(names <= self.names for names in parts):
            return []
        ends = {name.rpartition(".")[2] for name in full}
        return [node for name, node in self.calls_ending(ends) if name in full]

    def _runs_tools(self, decoding: list[ast.Call]) -> bool:
        """Text that a function got is decoded, for a tool that is called by a name of its own, or looked up by one."""
        given = self._given
        if not any(name in given for node in decoding for name in forms.possible_names(node.args[:1])):
            return False
        return not given.isdisjoint(words.TOOL_NAMES) or any(
            type(key) is ast.Name and key.id in given and forms.is_table_of_tools(table)
            for table, key in self._looked_up()
        )

    @cached_property
    def _given(self) -> set[str]:
        """The names of what functions get: of parameters, and of parts that are unpacked."""
        found = {node.arg for node in self.nodes[ast.arg]}
        for kind in (ast.Tuple, ast.List):
            for node in self.nodes[kind]:
                if type(node.ctx) is ast.Store:
                    found.update(part.id for part in node.elts if type(part) is ast.Name)
        return found

    def _looked_up(self) -> Iterator[tuple[ast.expr, ast.expr]]:
        """`(table, key)` of `table[key]`, `table.get(key)` and `getattr(table, key)`."""
        for node in self.nodes[ast.Subscript]:
            yield node.value, node.slice
        for node in self.nodes[ast.Call]:
            if type(node.func) is ast.Attribute and node.func.attr == "get" and node.args:
                yield node.func.value, node.args[0]
            elif called_name(node) == "getattr" and len(node.args) > 1:
                yield node.args[0], node.args[1]

    def answers_calls(self) -> bool:
        """Answers; or calls that are stored as a loop tells of them, whose answers may be made in another file."""
        return self._answers or (self.has(ast.For, ast.AsyncFor) and self.mentions(_STORED_CALLS))

    def reorders_answers(self) -> bool:
        return self._answers

    def splits_answers(self) -> bool:
        return self._answers and self.has(ast.For, ast.AsyncFor, *_COMPREHENSIONS)

    def cuts_history(self) -> bool:
        """A list cut by position, and a history: also one that only the class of its elements shows, or other files.

        Or a result under an id that is put together, or messages that are picked or taken out one by one.
        """
        picked = "remove" in self.called or any(each.generators[-1].ifs for each in self.nodes[ast.ListComp])
        cuts = self._cuts or self._takes_back() or (picked and self._answers)
        told = cuts and (self.agent or self.lists_messages(_TOOL_FIELDS) or self.is_told_of or self._takes_all)
        return told or (self._answers and self.has(ast.JoinedStr, ast.BinOp))

    def cuts_system(self) -> bool:
        return self._cuts and ((self.agent and self.mentions(_SYSTEM)) or self.is_told_of or self._takes_all)

    @property
    def _takes_all(self) -> bool:
        """All messages of a run (Pydantic AI, Agents SDK)."""
        return not self.attributes.isdisjoint(words.ALL_MESSAGES)

    def takes_tail(self) -> bool:
        """`history[-n:]` with a number that is worked out."""
        worked_out = any(map(forms.is_worked_out, self.nodes[ast.Subscript]))
        return worked_out and (self.agent or self.lists_messages() or self.is_told_of)

    def has_floors(self) -> bool:
        """A list that is cut, and a number that is lifted: by `max`, or by a test."""
        lifted = "max" in self.called or self.has(ast.IfExp, ast.Compare)
        return self._cuts and lifted and (self.agent or self.lists_messages() or self.is_told_of)

    def drops_calls(self) -> bool:
        """A request, with answers; or a message that takes over the role of another."""
        return (self._answers and self.asks) or self._copies_roles()

    def _copies_roles(self) -> bool:
        if not self.members({"role"}) or not self.has(ast.For, ast.AsyncFor, ast.comprehension):
            return "role" in self.keywords and "role" in self.attributes
        return "content" in self.keywords or any({"role", "content"} & shown.keys() for shown in self.displays)

    def stores_calls(self) -> bool:
        return self.calls and "tool_calls" in self.texts | self.keywords

    def rebuilds_calls(self) -> bool:
        """A message made in this file, or something else with calls."""
        told = not self.texts.isdisjoint({"tool", "tool_calls"} | words.SPEAKERS | words.CALL_TAGS)
        return self.calls and (told or not self.called.isdisjoint(words.MESSAGE_CLASSES))

    def grows_history(self) -> bool:
        """What adds to a list; where no agent is seen, what the result of a run holds (Pydantic AI, Agents SDK). Or a
        turn of another file, which loads what was saved here, and a request, which another file may put together.
        """
        if self.turns_elsewhere() or (self.agent and self.asks):
            return True
        adding = any(name.startswith(_ADDERS) for name in self.called)
        if not self.agent and not self._takes_all:
            return adding and {"role", "content"} <= self.texts and self.has(ast.For)
        return (
            adding
            or not self.called.isdisjoint(_GROWERS)
            or "append" in self.attributes
            or self.has(ast.AugAssign)
            or any(
                type(node.value) in {ast.BinOp, ast.List}
                for kind in (ast.Assign, ast.AnnAssign)
                for node in self.nodes[kind]
            )
        )

    def loses_messages(self) -> bool:
        """A turn, here or in another file, a generator, a coroutine not awaited; a result that holds the new messages
        (Pydantic AI).
        """
        if "new_messages" in self.attributes and any(map(forms.takes_new, self.nodes[ast.Assign])):
            return True
        if self.agent and (self.has(ast.Yield, ast.YieldFrom) or "Swarm" in self.names or self.asks):
            return True
        return self._forgets_to_await() or self.turns_elsewhere()

    def _forgets_to_await(self) -> bool:
        """A coroutine function, of this file or of one that it imports from, that is named without `await`."""
        awaited = {node.value.func for node in self.nodes[ast.Await] if type(node.value) is ast.Call}
        named = {node.id for node in self.nodes[ast.Name] if node not in awaited}
        named |= {node.attr for node in self.nodes[ast.Attribute] if node not in awaited}
        own = {node.name for node in self.nodes[ast.AsyncFunctionDef]} if self.agent else set()
        return not named.isdisjoint(own) or self.stores_by_coroutine(named)

    def catches(self) -> bool:
        """Errors are caught, or suppressed."""
        return self.has(*_TRIES) or "suppress" in self.called

    def loses_stored(self) -> bool:
        """Handlers of errors in an agent, or in what another file keeps its messages with."""
        return self.catches() and (self.agent or self.is_told_of or self.turns_elsewhere())

    def keeps_answers(self) -> bool:
        """A handler of errors where a model is asked; or messages that are marked as the model's, whoever asks it."""
        is_ours = self.catches() and (self.agent or self.turns_elsewhere())
        return is_ours or self.says_roles()

    def tells_roles_apart(self) -> bool:
        """`if m.role == "user": ...`, `[m for m in history if m["role"] in ("user", "assistant")]`."""
        asked = self.nodes[ast.If] or self.nodes[ast.ListComp] or self.nodes[ast.GeneratorExp]
        return bool(asked) and (self.says_roles() or "isinstance" in self.called)

    def says_roles(self) -> bool:
        """Words for who speaks."""
        return not words.SPEAKERS.isdisjoint(map(str.lower, self.texts))

    def tests_membership(self) -> bool:
        """`if m not in history`, `[m for m in history if m not in old]`; or what holds a key once."""
        if self.nodes[ast.DictComp] or not self.called.isdisjoint({"count", "fromkeys", "set", "unique_everseen"}):
            return True
        picking = (*self.nodes[ast.ListComp], *self.nodes[ast.GeneratorExp])
        picked = (test for node in picking for over in node.generators for test in over.ifs)
        return any(map(forms.asks_for_member, (*(node.test for node in self.nodes[ast.If]), *picked)))

    def signals(self) -> bool:
        return self.asks and (not self.called.isdisjoint(_SIGNALS) or self._sets_what_is_compared())

    def _sets_what_is_compared(self) -> bool:
        """`job["status"] = "done"`, and `if job["status"] != "done"`."""
        told = [node.value for node in self.nodes[ast.Assign] if type(node.targets[0]) is not ast.Name]
        compared = [side for node in self.nodes[ast.Compare] for side in node.comparators] if told else []
        said = ({node.value for node in side if type(node) is ast.Constant} for side in (told, compared))
        return any(isinstance(value, str) for value in set.intersection(*said))

    def shortens_texts(self) -> bool:
        return self._shortens and (self.agent or self._tells_of_tools or self.agents_elsewhere())

    @cached_property
    def _tells_of_tools(self) -> bool:
        """A function that a model is told of, or offered, here or by who imports it, or one that is run by its name."""
        return (
            not self.keywords.isdisjoint(_TOLD_OF)
            or not self.texts.isdisjoint(_TOLD_OF)
            or any(keyword.arg is None for keyword in self.nodes[ast.keyword])
            or not self.names.isdisjoint(words.TOOL_DECORATORS | {"description"})  # which a class has
            or self.is_told_of
        )

    def joins_roles(self) -> bool:
        """Messages that are told apart and joined, or sorted."""
        told = self.has(ast.Compare) or not self.called.isdisjoint({"isinstance", *_GROWERS})
        by_hand = told and (self.has(ast.Starred) or self._adds() or "chain" in self.called)
        return by_hand or not self.called.isdisjoint({"sort", "sorted"})

    def reads_errors(self) -> bool:
        """An error that is caught by name, and a word that is looked for in it, here or by a function that is asked."""
        handlers = [node for node in self.nodes[ast.ExceptHandler] if node.name is not None]
        named = bool(handlers) and any(words.size_in(text) is not None for text in self.texts)
        return named or any(map(_asks_about_error, handlers))

    def has_rounds_of_calls(self) -> bool:
        return self.calls and self.asks_in_loop

    def has_limits(self) -> bool:
        return self.asks and any(word in self._spelling for word in _LIMITS)


def _asks_about_error(handler: ast.ExceptHandler) -> bool:
    """Whether a test in a handler hands the error to a function: `if is_too_long(exc)`."""
    tests = (node.test for node in ast.walk(handler) if isinstance(node, (ast.If, ast.While, ast.IfExp)))
    handed = (arg for test in tests for node in ast.walk(test) if isinstance(node, ast.Call) for arg in node.args)
    return any(isinstance(arg, ast.Name) and arg.id == handler.name for arg in handed)


def _is_bounded(call: ast.Call) -> bool:
    """`deque(lines, 40)`."""
    return called_name(call) == "deque" and len(call.args) > 1


def _names_one(value: ast.expr, functions: set[str]) -> bool:
    """Whether a value is one of some functions, or a lambda."""
    if isinstance(value, ast.Lambda):
        return True
    return (value.attr if isinstance(value, ast.Attribute) else getattr(value, "id", None)) in functions


@lru_cache(maxsize=4096)
def runs_beside(source: bytes) -> bool:
    """Whether a source may start something that runs concurrently; not where it is no Python."""
    try:
        return Needs(ast.parse(source)).starts_runs
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
