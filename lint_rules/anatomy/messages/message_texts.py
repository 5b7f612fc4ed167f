"""What the messages of a history say: the content of each that is stored, and of those that are changed later."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from dataclasses import replace

import libcst as cst

from lint_rules.anatomy import vocabulary as words
from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.messages.classes import inherited, run_elsewhere
from lint_rules.anatomy.messages.heads import Head, Heads
from lint_rules.anatomy.messages.lost_texts import Lost
from lint_rules.anatomy.messages.sent import what_is_sent
from lint_rules.anatomy.messages.transcript import Stored
from lint_rules.anatomy.program.handlers import is_logging, shown_only
from lint_rules.anatomy.turns.callers import run_by
from lint_rules.anatomy.values import shapes
from lint_rules.anatomy.values.kinds import Kind, LLMCall
from lint_rules.anatomy.values.known import sources
from lint_rules.anatomy.values.slots import Slot, is_parameter
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.memo import once
from lint_rules.syntax.module import Scope, SourceModule
from lint_rules.syntax.record import record
from lint_rules.syntax.walk import walk

_MEASURES = re.compile(r"count|estimate|measure|num_tokens|size|^len$|hash|digest")
_STORES = re.compile(r"add|append|insert|record|remember|store|save|submit")
_COPIERS = frozenset({"copy", "deepcopy", "model_copy"})
_IDS = frozenset({"tool_call_id", "tool_use_id"})
_LABEL = 100
"""Tokens of a reply that is a label."""
_NONE_SAID: dict[Slot, MessageText] = {}
_NOT_SAID: Said | None = None


@record
class MessageText:
    """`content` is what the message at `node` says; `answers`: it answers a call; `changed`: it was stored before.

    `tool` is the name of the tool that gives it back; `asked`: it is sent with a request.
    """

    node: cst.CSTNode
    content: cst.BaseExpression
    function: Scope
    answers: bool
    changed: bool
    tool: str | None = None
    asked: bool = False


def texts(anatomy: Anatomy) -> Iterator[MessageText]:
    """All of a file."""
    yield from _stored(anatomy)
    yield from _made(anatomy)
    yield from _changed(anatomy)
    yield from _returned(anatomy)
    yield from _asked(anatomy)
    yield from _cut_ones(anatomy)
    yield from _given_back(anatomy)


def cut_texts(anatomy: Anatomy) -> Iterator[tuple[MessageText, Head]]:
    """The heads that texts are cut to, of some length, where nothing says that anything is missing; each once."""
    heads, lost, seen = Heads(anatomy), Lost(anatomy), set[cst.CSTNode]()
    for text in texts(anatomy) if next(heads.all(), None) is not None else ():
        for head in heads.within(text.content, text.function, callers=text.tool is None):
            told = head.marked or (head.noted and not text.changed) or heads.keeps_tail(head)
            if head.node in seen or told or heads.is_told_beside(head) or lost.is_known(head):
                continue
            kept = text.tool is None and (text.answers or text.changed)
            if lost.is_label(head) if kept else not lost.matters(head, result=text.tool is not None):
                continue
            seen.add(head.node)
            yield text, head


def _given_back(anatomy: Anatomy) -> Iterator[MessageText]:
    """Texts, cut on their way, that functions give back, which files that import this one put into a message."""
    heads, tools = Heads(anatomy), anatomy.tools if next(Heads(anatomy).all(), None) is not None else []
    given = [
        (function, node)
        for function in anatomy.module.functions
        if function not in tools
        for node in function.nodes_of(cst.Return)
        if node.value is not None and any(heads.within(node.value, function, callers=True))
    ]
    known = anatomy.said_of if given else []
    for function, node in given:
        of_base = _said_of_base(anatomy, function)
        here = [each for each in known if each.owner == function.qualname]
        for told in here or ([of_base] if of_base is not None else []):
            if (content := told.of(node.value)) is not None:
                yield MessageText(node, content, function, False, False, asked=told.asked)


@once(circular=_NOT_SAID)
def _said_of_base(anatomy: Anatomy, function: Scope) -> Said | None:
    """What a base class of another file puts into a message or a request, where a method of this one is run for its."""
    owner = function.owner
    found = inherited(anatomy, owner, function.name) if owner is not None else None
    if found is None:
        return None
    there, method = found
    of_method = (os.path.abspath(there.module.path), method.qualname)
    return next((each for each in said(there) if (each.file, each.owner) == of_method), None)


@record
class Said:
    """What the function `owner` of the file at `file` gives, a message or request of a file is made of.

    Or what it gives at the place `part` of a tuple.
    """

    file: str
    owner: str
    asked: bool
    part: int | None = None

    def of(self, value: cst.BaseExpression | None) -> cst.BaseExpression | None:
        """That of a value that is given back."""
        made = ex.inner(value) if value is not None else None
        if self.part is None or made is None:
            return value
        parts = made.elements if isinstance(made, cst.Tuple) else ()
        return parts[self.part].value if self.part < len(parts) else None

    @property
    def holder(self) -> str:
        """The class of a method; a function itself."""
        return self.owner.rpartition(".")[0] or self.owner


def said(anatomy: Anatomy) -> Iterator[Said]:
    """Of which methods, and functions of other files, a file puts the results into messages and requests."""
    heads, seen = Heads(anatomy), set[tuple[cst.Call, int | None]]()

    def leads(value: cst.BaseExpression, function: Scope) -> bool:
        return bool(heads.calls(value, function))

    for text in (*texts(anatomy), *_handed_elsewhere(anatomy, leads)):
        for call, part in heads.calls(text.content, text.function) - seen:
            seen.add((call, part))
            method = anatomy.facts.slots.callee(call)
            own = [(anatomy.module.path, method.qualname)] if method is not None else run_by(anatomy, call)
            for path, name in own:
                yield Said(os.path.abspath(path), name, text.asked, part)


def _cut_ones(anatomy: Anatomy) -> Iterator[MessageText]:
    """Texts, cut on their way, that go to functions of other files, which put them into a message or a request."""
    heads = Heads(anatomy)

    def cut(value: cst.BaseExpression, function: Scope) -> bool:
        return any(heads.within(value, function, callers=True))

    if next(heads.all(), None) is not None:
        yield from _handed_elsewhere(anatomy, cut)


def _handed_elsewhere(anatomy: Anatomy, matter: Callable[[cst.BaseExpression, Scope], bool]) -> Iterator[MessageText]:
    """The texts that `matter` of those that functions of other files put into a message or a request."""
    module = anatomy.module
    for call in module.nodes_of(cst.Call):
        if is_logging(call) or anatomy.facts.slots.callee(call) is not None:
            continue
        function = module.scope_of[call].function
        found = run_elsewhere(anatomy, call) if call.args else None
        known = _said_parameters(found[0], found[0].module) if found is not None else {}
        for slot, value in found[0].facts.slots.bindings(call, found[1]) if found is not None and known else ():
            if slot in known and matter(value, function):
                yield replace(known[slot], node=call, content=value, function=function)


@once(circular=_NONE_SAID)
def _said_parameters(anatomy: Anatomy, module: SourceModule) -> dict[Slot, MessageText]:
    """The parameters of a file's functions that messages and requests are made of, each with one of these."""
    heads = Heads(anatomy)
    every = (
        *texts(anatomy),
        *_handed_elsewhere(anatomy, lambda value, function: bool(heads.parameters(value, function))),
    )
    told = (text for text in every if text.tool is None and not text.changed)
    return {slot: text for text in told for slot in heads.parameters(text.content, text.function)}


def _asked(anatomy: Anatomy) -> Iterator[MessageText]:
    """What requests say, but for those whose answer is a label: a title, a choice."""
    requests = [call for call in anatomy.facts.calls.values() if not asks_for_label(call)]
    told = [(key, value) for call in requests for key, value in {**call.body, **ex.keywords(call.node)}.items()]
    said = [value for key, value in told if key == "prompt" or key in words.INSTRUCTIONS]
    said += [value for call in requests if call.history is None for value in ex.positional(call.node)]
    for node in [*what_is_sent(anatomy, requests).nodes, *said]:
        if isinstance(node, cst.BaseExpression) and not isinstance(node, (cst.List, cst.ListComp)):
            yield MessageText(node, node, anatomy.module.scope_of[node].function, False, False, asked=True)


def asks_for_label(call: LLMCall) -> bool:
    """Whether the reply may have few words only."""
    given = ex.keywords(call.node)
    sizes = (ex.integer(given[key]) for key in words.REPLY_LIMITS if key in given)
    return any(size is not None and size <= _LABEL for size in sizes)


def _returned(anatomy: Anatomy) -> Iterator[MessageText]:
    """What tools give back."""
    for function in anatomy.tools:
        for node in function.nodes_of(cst.Return):
            if node.value is not None:
                yield MessageText(node, node.value, function, True, False, function.name)


def _stored(anatomy: Anatomy) -> Iterator[MessageText]:
    seen: set[cst.CSTNode] = set()
    for stored in (each for function in anatomy.module.functions for each in anatomy.transcript.stored(function)):
        if not (stored.answers and _is_note(stored)):
            content = stored.message.content if stored.message is not None else None
            if stored.message is not None and stored.write is not None and _is_for_people(anatomy, stored.message.node):
                continue
            for given in [content] if content is not None else _handed_on(anatomy, stored):
                where = anatomy.module.scope_of[given].function
                for part in _said(given) if given not in seen else ():
                    yield MessageText(stored.node, part, where, stored.answers, False)
                seen.add(given)


def _is_note(stored: Stored) -> bool:
    """`{"tool_call_id": id, "content": text}`: without a role or type it is a record of a result, no message."""
    given = ex.positional(stored.node) if isinstance(stored.node, cst.Call) else []
    value = stored.write.value if stored.write is not None else next(iter(given[-1:]), None)
    items = ex.dict_items(value) if value is not None else {}
    return bool(items) and not {"role", "type"} & set(items)


def _made(anatomy: Anatomy) -> Iterator[MessageText]:
    """Messages, wherever they go: `{"role": role, "content": text}`, `Message.tool(text, tool_call_id=id)`."""
    for_labels = what_is_sent(anatomy, filter(asks_for_label, anatomy.facts.calls.values())).nodes
    for node in anatomy.module.nodes_of(cst.Dict, cst.Call):
        content, items = shapes.tool_result(node), ex.dict_items(node)
        if type(node) is cst.Call and any(arg.keyword is not None and arg.keyword.value in _IDS for arg in node.args):
            if "message" in (ex.dotted(node.func) or "").lower():
                content = ex.argument(node, "content")
        if content is None and type(node) is cst.Call and ex.called_name(node) in words.RESPONSE_MAKERS:
            content = anatomy.transcript.messages.dicts.made(node, {}).items.get("response")  # of `**given`
        answers = content is not None
        content = content or (items.get("content") if "role" in items and node not in for_labels else None)
        if content is not None and not _is_only_measured(anatomy, node) and not _is_for_people(anatomy, node):
            for part in [content] if answers else _said(content):
                yield MessageText(node, part, anatomy.module.scope_of[node].function, answers, False)


def _is_only_measured(anatomy: Anatomy, node: cst.CSTNode) -> bool:
    """`count_tokens([{"role": "tool", "content": text}])`: made to be counted, hashed or shown."""
    for outer in anatomy.module.ancestors(node):
        if isinstance(outer, cst.Call) and outer is not node:
            return bool(_MEASURES.search(ex.called_name(outer).lower())) or is_logging(outer)
        if isinstance(outer, (cst.BaseSmallStatement, cst.BaseCompoundStatement)):
            return False
    return False


def _handed_on(anatomy: Anatomy, stored: Stored) -> Iterator[cst.BaseExpression]:
    """What goes with the id of a call to a function of another file: `memory.add(Message.result(text, id=call.id))`."""
    if not stored.answers or not isinstance(stored.node, cst.Call) or stored.write is not None:
        return
    if not _STORES.search(ex.called_name(stored.node)):
        return  # `channel.send(...)`, `events.emit(...)`: for people
    for arg in stored.node.args:
        for value in [arg.value, *anatomy.facts.values_of(arg.value)]:
            made = ex.inner(value)
            if isinstance(made, cst.Call) and anatomy.transcript.call_id(made) is not None:
                yield from (inside.value for inside in made.args if _may_be_text(inside))
        if _may_be_text(arg):
            yield arg.value


def _may_be_text(arg: cst.Arg) -> bool:
    return arg.keyword is None or arg.keyword.value in {"content", "output", "result", "text"}


def _said(content: cst.BaseExpression) -> Iterator[cst.BaseExpression]:
    """The texts in a content of blocks: `[{"type": "tool_result", "content": x}]`; else the content itself."""
    made = content.elt if isinstance(content, cst.ListComp) else content
    for block in [e.value for e in made.elements] if isinstance(made, cst.List) else [made]:
        items = ex.dict_items(block)
        inside = items.get("content") or items.get("text") or items.get("output")
        yield inside if inside is not None else block


def _changed(anatomy: Anatomy) -> Iterator[MessageText]:
    """`m["content"] = ...`, `{**m, "content": ...}` for a message m.

    Where only a name says that it is one, nothing says that the text is for a model: it may be a trace or a page.
    """
    for node in anatomy.module.nodes_of(cst.Assign):
        pair = ex.member(node.targets[0].target)
        if pair is not None and pair[1] == "content" and _is_shown_message(anatomy, pair[0]):
            if _reads_content(anatomy, node.value, pair[0]) and not _is_shown_copy(anatomy, pair[0]):
                yield MessageText(node, node.value, anatomy.module.scope_of[node].function, False, True)
    for display in anatomy.module.nodes_of(cst.Dict):
        first = display.elements[0] if display.elements else None
        content = ex.dict_items(display).get("content")
        if isinstance(first, cst.StarredDictElement) and content is not None:
            if _is_shown_message(anatomy, first.value) and not _is_for_people(anatomy, display):
                yield MessageText(display, content, anatomy.module.scope_of[display].function, False, True)


def _is_shown_message(anatomy: Anatomy, node: cst.BaseExpression) -> bool:
    shown = anatomy.facts.evidence(node, Kind.MESSAGE)
    return any(not any(step.reason.startswith("is called `") for step in fact.chain()) for fact in shown)


def _is_shown_copy(anatomy: Anatomy, message: cst.BaseExpression) -> bool:
    """Whether a name holds a copy made in its function, of which nobody but people gets anything."""
    made = anatomy.definitions(message) if type(message) is cst.Name else []
    values = [ex.inner(found.value) for found in made if found.kind == "assign" and found.value is not None]
    return 0 < len(made) == len(values) and all(
        (ex.is_dict(value) or (isinstance(value, cst.Call) and ex.called_name(value) in _COPIERS))
        and _is_for_people(anatomy, value)
        for value in values
    )


def _is_for_people(anatomy: Anatomy, made: cst.BaseExpression, seen: frozenset[Slot] = frozenset()) -> bool:
    """Whether a value only goes to a log or the screen, or, as JSON text, into records that are no messages.

    Itself, by the name it gets, in a list or display that does, or as what is made of it to be shown.
    """
    module, here, encoded = anatomy.module, made, _is_encoded(anatomy, made)
    if shown_only(module, made):
        return True
    for outer in module.ancestors(made):
        if isinstance(outer, cst.Call):
            if anatomy.facts.encoder(outer) is None and not _shows(outer, encoded):
                into = ex.receiver(outer) if ex.called_name(outer) in {"append", "extend"} else None
                return into is not None and here is not into and _is_put_for_people(anatomy, into, encoded, seen)
            encoded, here = True, outer
        elif isinstance(outer, cst.Assign):
            target = outer.targets[0].target
            return type(target) is cst.Name and _is_put_for_people(anatomy, target, encoded, seen)
        elif isinstance(outer, (cst.BaseSmallStatement, cst.BaseCompoundStatement)):
            return False
        elif isinstance(outer, cst.BaseExpression):
            here = outer
    return False


def _is_encoded(anatomy: Anatomy, value: cst.BaseExpression) -> bool:
    return any(anatomy.facts.encoder(each) is not None for each in anatomy.facts.values_of(value))


def _shows(call: cst.Call, encoded: bool) -> bool:
    """Whether a call makes of a text what a library shows: `Panel(text)`."""
    return encoded and ex.called_name(call)[:1].isupper()


def _is_put_for_people(anatomy: Anatomy, place: cst.BaseExpression, encoded: bool, seen: frozenset[Slot]) -> bool:
    """Whether a local name is only read for people; JSON text may lie in what is no history."""
    module, slot = anatomy.module, anatomy.facts.slots.of(place)
    function = module.scope_of[place].function
    if slot is None or slot[:2] != ("var", function) or is_parameter(slot):
        return encoded and type(place) is cst.Attribute and not anatomy.is_history(place)
    if function.kind != "function" or slot[2] in function.foreign:
        return False
    readers, statement = anatomy.readers(function, slot), module.statement(place)
    bound = isinstance(statement, cst.Assign) and statement.targets[0].target is place
    told = [readers.get(statement, [])] if bound else readers.values()
    reads = [name for names in told for name in names if not _is_filled(anatomy, name)]
    return slot in seen or (bool(reads) and all(_is_for_people(anatomy, name, seen | {slot}) for name in reads))


def _is_filled(anatomy: Anatomy, name: cst.Name) -> bool:
    """Whether the statement that a name stands in gives nothing away, but sets it, or a part of what it holds."""
    statement = anatomy.module.statement(name)
    if isinstance(statement, cst.Assign):
        target = statement.targets[0].target
        pair = ex.member(target)
        return pair is not None and type(pair[0]) is cst.Name and pair[0].value == name.value
    call = statement.value if isinstance(statement, cst.Expr) else None
    into = ex.receiver(call) if isinstance(call, cst.Call) and ex.called_name(call) in {"append", "extend"} else None
    return into is name


def _reads_content(anatomy: Anatomy, value: cst.BaseExpression, message: cst.BaseExpression) -> bool:
    """Whether the new content of a message is made of its old one, or of that of the message it is a copy of."""
    one = _same(anatomy, [message])
    for node in walk(value):
        slot = anatomy.facts.slots.of_name(node)
        for part in [node, *anatomy.facts.assigned(slot)]:
            pair = ex.member(part)
            if pair is not None and pair[1] == "content" and one & _same(anatomy, [pair[0]]):
                return True
    return False


def _same(anatomy: Anatomy, nodes: list[cst.BaseExpression]) -> set[Slot]:
    """The places in which some values stand, and those of which they are copies."""
    found: set[Slot] = set()
    while nodes:
        value = ex.inner(nodes.pop())
        if (slot := anatomy.facts.slots.of(value)) is not None and slot not in found:
            found.add(slot)
            nodes += anatomy.facts.assigned(slot)
        nodes += sources(value)
        parts = value.elements if type(value) is cst.Dict else ()
        nodes += [part.value for part in parts if type(part) is cst.StarredDictElement]
    return found
