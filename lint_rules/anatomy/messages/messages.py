"""What a message is: its role, the tool calls that it carries, the ids of the calls that it answers.

Known are the messages of OpenAI (chat completions and responses), Anthropic, Gemini, Bedrock and LangChain, dicts or
objects, made in one expression or put together over several statements.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cached_property
from typing import Literal

import libcst as cst

from lint_rules.anatomy import vocabulary as words
from lint_rules.anatomy.program.handlers import is_neutral
from lint_rules.anatomy.values.dicts import Arguments, Dicts, Keys, is_within
from lint_rules.anatomy.values.facts import Facts
from lint_rules.anatomy.values.forms import picks_others
from lint_rules.anatomy.values.kinds import Kind
from lint_rules.anatomy.values.known import sources
from lint_rules.anatomy.values.shapes import said_of
from lint_rules.anatomy.values.slots import Slot, Slots, default_of
from lint_rules.anatomy.vocabulary import BLOCKS, CALL_WRAPPERS, CALLS_IN_CONTENT, IN_CONTENT
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.conditions import passed
from lint_rules.syntax.memo import DEEPEST, once
from lint_rules.syntax.module import Scope, fields
from lint_rules.syntax.record import record

Role = Literal["system", "user", "assistant", "tool"]
ROLES: dict[str, Role] = {
    "system": "system", "developer": "system", "user": "user", "human": "user", "assistant": "assistant",
    "model": "assistant", "ai": "assistant", "tool": "tool", "function": "tool",
}  # fmt: skip
_ANSWERED = ("tool_call_id", "tool_use_id", "toolUseId", "call_id")
_ARGUMENTS = frozenset({Kind.ARGUMENTS, Kind.ARGUMENTS_TEXT})
_OF_REPLIES = frozenset({Kind.CALL, Kind.CALLS, Kind.REPLY, Kind.MESSAGE})
_ORIGIN = "origin"
"""The keyword under which constructors called `from_tool` take the call."""
_MOST = 40
"""So many ways in which one name may be made are enough; names bound from one another have millions."""


@record
class Message:
    """One message, as far as the code shows it: `node` makes or names it, `role` is None where it is not known.

    `calls` is the expression of the tool calls it may carry, `answers` are the ids of the calls it answers (several
    for providers that take all results of a round in one message), `content` is what it says. `more`: it may have
    parts besides, which the code does not show.
    """

    node: cst.BaseExpression
    role: Role | None = None
    calls: cst.BaseExpression | None = None
    answers: tuple[cst.BaseExpression, ...] = ()
    content: cst.BaseExpression | None = None
    more: bool = False


def all_of(listed: cst.BaseExpression) -> cst.BaseExpression:
    """`xs` of `[x.model_dump() for x in xs]`: what all elements of a list are made of."""
    while isinstance(listed, (cst.ListComp, cst.GeneratorExp)) and not listed.for_in.ifs:
        listed = listed.for_in.iter
    return listed


Elements = Iterator[tuple[cst.BaseExpression, Arguments]]
"""Elements of a list, each with what the parameters stand for where it is written."""
Elsewhere = Callable[[cst.Call], "tuple[Messages, Scope] | None"]
"""The function of another file that a call runs, with the messages of that file."""
Past = Callable[[cst.Name], set[cst.BaseExpression]]
"""What a name is bound to elsewhere in its function, and does not hold where it stands."""


class Messages:
    """Reads messages off the expressions of one file, and of what functions of other files give."""

    def __init__(self, facts: Facts, elsewhere: Elsewhere, past: Past) -> None:
        self.facts = facts
        self._elsewhere = elsewhere
        self._past = past
        self.dicts = Dicts(facts)
        self._read: dict[tuple[Slot, int, tuple[cst.BaseExpression, ...]], list[Message]] = {}
        self._known_of: dict[
            tuple[cst.BaseExpression, int, frozenset[tuple[Slot, cst.BaseExpression]]], list[Message]
        ] = {}

    @cached_property
    def may_answer(self) -> bool:
        """Whether a message of the file could tell which calls it answers: whether it says any word for that."""
        if any(word in self.facts.module.text for word in (*_ANSWERED, *words.RESULT_PARTS, _ORIGIN)):
            return True  # else the program may call it otherwise
        return any(not ex.keywords(call).keys().isdisjoint(_ANSWERED) for call in self.facts.module.nodes_of(cst.Call))

    def of(self, node: cst.BaseExpression, arguments: Arguments | None = None, depth: int = 0) -> list[Message]:
        """The messages that a value may be, one for each way it is made; empty where nothing shows that it is one."""
        if depth > DEEPEST:
            return []
        key = node, depth, frozenset(arguments.items()) if arguments else frozenset()
        found = self._known_of.get(key)
        if found is None:
            found = []
            for part in ex.alternatives(node):
                found.extend(self._made(_given(self.facts.slots, part, arguments), arguments or {}, depth))
            self._known_of[key] = found
        return found

    def many(self, node: cst.BaseExpression, arguments: Arguments | None = None, depth: int = 0) -> list[Message]:
        """The messages that the elements of a list may be: of a display, a comprehension, a list grown before."""
        if depth > DEEPEST:
            return []
        found: list[Message] = []
        for element, given in self._elements(node, arguments or {}):
            found.extend(self.of(element, given, depth + 1))
        for call in self._calls_in(node) if not found else ():
            found.extend(self._answers_elsewhere(call, listed=True))
        whole = all_of(node)
        if not found and self.facts.is_kind(whole, Kind.CALLS):  # `input += response.output`
            found.append(Message(whole, "assistant", whole))
        return found

    def _elements(
        self,
        listed: cst.BaseExpression,
        arguments: Arguments,
        site: cst.Call | None = None,
        seen: set[tuple[cst.BaseExpression, cst.Call | None]] | None = None,
    ) -> Elements:
        """The elements of a list; a part is `seen` once for each call, the `site`, that leads to it."""
        seen = set() if seen is None else seen

        def inside(value: cst.BaseExpression, call: cst.Call, callee: Scope) -> Elements:
            return self._elements(value, {**arguments, **dict(self.facts.slots.bindings(call, callee))}, call, seen)

        for node in (_given(self.facts.slots, part, arguments) for part in ex.alternatives(listed)):
            if (node, site) in seen:
                continue
            seen.add((node, site))
            if isinstance(node, (cst.List, cst.Tuple)):
                for element in node.elements:
                    if isinstance(element, cst.StarredElement):
                        yield from self._elements(element.value, arguments, site, seen)
                    else:
                        yield element.value, arguments
            elif isinstance(node, (cst.ListComp, cst.GeneratorExp)):
                yield node.elt, arguments
            elif type(node) is cst.Call and ex.called_name(node) == "gather":
                for arg in node.args:
                    given = self._elements(arg.value, arguments, site, seen) if arg.star else [(arg.value, arguments)]
                    yield from given
            elif type(node) is cst.Call and (callee := self.facts.slots.callee(node)) is not None:
                for value in callee.returned if not is_within(callee, arguments) else ():
                    yield from inside(value, node, callee)
            elif type(node) is cst.Name:
                slot = self.facts.slots.of(node)
                for value in self.facts.assigned(slot):
                    if type(value) is not cst.Name:
                        yield from self._elements(value, arguments, site, seen)
                for part, given_by, call in self.facts.given_apart(slot) if slot is not None else ():
                    yield from inside(part, call, given_by)
                for call in self.facts.grown(slot) if slot is not None else ():
                    value = call.args[0].value
                    if not self._may_be_in(value, node):
                        continue
                    if ex.called_name(call) == "extend":
                        yield from self._elements(value, arguments, site, seen)
                    else:
                        yield value, arguments
            else:
                for source in sources(node):
                    yield from self._elements(source, arguments, site, seen)

    def _calls_in(self, listed: cst.BaseExpression) -> list[cst.Call]:
        """The calls whose lists a value may be: itself, or what its name stands for."""
        slot = self.facts.slots.of_name(listed)
        bound = self.facts.assigned(slot) if slot is not None else [listed]
        return [node for value in bound for node in ex.alternatives(value) if type(node) is cst.Call]

    def _may_be_in(self, value: cst.BaseExpression, name: cst.Name) -> bool:
        """Whether a list may have got an element before it is read: not below, unless a loop comes back."""
        module = self.facts.module
        if module.scope_of[value].function is not module.scope_of[name].function or module.before(value, name):
            return True
        loops = (outer for outer in module.ancestors(name) if isinstance(outer, (cst.For, cst.While)))
        return any(module.inside(value, loop) for loop in loops)

    # -- one form each ----------------------------------------------------------------------------------------

    def _made(self, node: cst.BaseExpression, arguments: Arguments, depth: int) -> list[Message]:
        made = self._of_keys(node, self.dicts.made(node, arguments), arguments, depth) if ex.is_dict(node) else None
        if made is not None:
            return [made]
        if type(node) is cst.Call:
            return self._called(node, arguments, depth)
        if isinstance(node, (cst.Name, cst.Attribute, cst.Subscript)):
            return self._named(node, arguments, depth)
        return []

    def _called(self, node: cst.Call, arguments: Arguments, depth: int) -> list[Message]:
        name = ex.called_name(node)
        keys = self.dicts.made(node, arguments)
        role = ROLES.get(words.CLASS_ROLES.get(name, ""))
        if role is not None:
            content = keys.items.get("content") or ex.argument(node, "content", 0)
            found = self._of_keys(node, keys, arguments, depth) or Message(node, more=keys.more)
            return [replace(found, role=role, content=content)]
        if name.startswith("from_") and ROLES.get(name[5:]):
            found = self._of_keys(node, keys, arguments, depth) or Message(node, more=keys.more)
            origin = keys.items.get(_ORIGIN)
            answers = (origin,) if origin is not None else found.answers
            return [replace(found, role=ROLES[name[5:]], answers=answers, content=ex.argument(node, "content", 0))]
        made = self.facts.slots.constructed(node)
        if made is not None:
            keys = replace(keys, items={**dict(zip(fields(made), ex.positional(node), strict=False)), **keys.items})
        is_answer = name[:1].isupper() and not keys.items.keys().isdisjoint(_ANSWERED) and "content" in keys.items
        if "role" in keys.items or ("type" in keys.items and made is None) or is_answer:
            one = self._of_keys(node, keys, arguments, depth)
            if one is not None:
                return [one]
        callee = self.facts.slots.callee(node)
        if callee is not None and made is None:
            if is_within(callee, arguments):
                return []
            inside = {**arguments, **dict(self.facts.slots.bindings(node, callee))}
            return [replace(m, node=node) for value in callee.returned for m in self.of(value, inside, depth + 1)]
        copied = [m for source in sources(node) for m in self.of(source, arguments, depth + 1)]
        return (
            copied
            or _told(node)
            or self._in_another_form(node, arguments, depth)
            or self._made_for_call(node)
            or self._known(node)
            or self._answers_elsewhere(node)
        )

    def _in_another_form(self, node: cst.Call, arguments: Arguments, depth: int) -> list[Message]:
        """`reply.message.to_json()`: what a method of a message gives that is told nothing, whatever it is called."""
        base = ex.receiver(node) if not node.args else None
        if base is None or Kind.MESSAGE not in self.facts.kinds(base):
            return []
        return [replace(message, node=node) for message in self.of(base, arguments, depth + 1)]

    def _made_for_call(self, node: cst.Call) -> list[Message]:
        """The answer that a function makes with the id of a call: a message that has not the arguments of that."""
        read = [pair for arg in node.args if (pair := ex.member(arg.value)) and Kind.CALL in self.facts.kinds(pair[0])]
        if Kind.MESSAGE not in self.facts.kinds(node) or not any(name in words.IDS for _, name in read):
            return []
        given = any(_ARGUMENTS & self.facts.kinds(arg.value).keys() for arg in node.args)
        ids = tuple(arg.value for arg in node.args if (ex.member(arg.value) or ("", ""))[1] in words.IDS)
        return [] if given else [Message(node, "tool", None, ids)]

    def made_elsewhere(self, call: cst.Call) -> bool:
        """Whether a function of another file answers calls that it gets, one by one or together, or parts of one."""
        parts = (part for arg in call.args for part in (arg.value, *(ex.member(arg.value) or ())[:1]))
        given = any(not _OF_REPLIES.isdisjoint(self.facts.kinds(part)) for part in parts)
        made = given and (self._answers_elsewhere(call) or self._answers_elsewhere(call, listed=True))
        return bool(made) or bool(self._made_for_call(call))

    def _answers_elsewhere(self, call: cst.Call, *, listed: bool = False) -> list[Message]:
        """The results that a function of another file makes of calls: `run_tool(call)`, `run_all(calls)`."""
        there, function = self._elsewhere(call) or (None, None)
        if there is None or function is None or not there.gives_answer(function, listed=listed):
            return []
        return [Message(call, "tool", None, (call,), call)]

    def gives_answer(self, function: Scope, *, listed: bool) -> bool:
        """Whether a function of this file gives back the result of a tool call; with `listed`, a list of such.

        Whatever it is given: one that puts parts of messages into another form may give a result as well.
        """
        return self._gives_answer((function, listed))

    @once(circular=False)
    def _gives_answer(self, asked: tuple[Scope, bool]) -> bool:
        function, listed = asked
        read = self.many if listed else self.of
        given = [
            read(each.value) for each in function.nodes_of(cst.Return) if each.value and not _is_nothing(each.value)
        ]
        return bool(given) and all(made and all(m.role == "tool" for m in made) for made in given)

    def _named(self, node: cst.Name | cst.Attribute | cst.Subscript, arguments: Arguments, depth: int) -> list[Message]:
        slot = self.facts.slots.of(node)
        keywords = {key[2]: value for key, value in arguments.items() if key[0] == "member" and key[1] == slot}
        made = self._of_keys(node, Keys(keywords), arguments, depth) if keywords else None
        if made is not None:  # `message` of `def add(self, **message)`, at a call that names each part
            return [made]
        if slot is None:
            return self._known(node)
        values = self._values(node, slot)
        if arguments:
            return self._as_asked(node, slot, self._bound(node, slot, values, arguments, depth))
        key = slot, depth, values  # names that are bound often, from one another, are read but once
        known = self._read.get(key)
        if known is None:
            known = self._read[key] = self._bound(node, slot, values, arguments, depth)
        return [replace(message, node=node) for message in self._as_asked(node, slot, known)]

    def _as_asked(self, node: cst.BaseExpression, slot: Slot, found: list[Message]) -> list[Message]:
        """The same, but where only its calls, which are read behind a test of its role, say that the model has said it.

        `if m["role"] == "assistant" and m["tool_calls"]: show(m)`, and then `talk.append(m)`: that may be any message.
        """
        only_read = [self._is_only_read(message) for message in found]
        if not any(only_read) or not self._is_told_apart(node, slot):
            return found
        return [replace(m, role=None, calls=None) if read else m for m, read in zip(found, only_read, strict=True)]

    def _is_only_read(self, message: Message) -> bool:
        """Whether nothing but that its calls are read tells whose a message is."""
        if message.calls is None or message.content is not None or Kind.MESSAGE not in self.facts.kinds(message.calls):
            return False
        return all("`tool_calls`" in fact.root.reason for fact in self.facts.evidence(message.calls, Kind.REPLY))

    def _is_told_apart(self, node: cst.BaseExpression, slot: Slot) -> bool:
        """Whether its function asks what it is, and stands open for others here."""
        module, asked = self.facts.module, []
        function = module.scope_of[node].function
        for test in function.nodes_of(cst.Comparison):
            left, operator, right = ex.compared(test)
            pair = ex.member(left)
            if pair is not None and pair[1] == "role" and self.facts.slots.of(pair[0]) == slot:
                if isinstance(operator, cst.Equal) and ROLES.get(ex.text(right) or "") == "assistant":
                    asked.append(test)
        behind = [each.test for each, _ in passed(module, node, function.node) if isinstance(each, (cst.If, cst.IfExp))]
        return bool(asked) and not any(module.inside(test, each) for test in asked for each in behind)

    def _values(self, node: cst.BaseExpression, slot: Slot) -> tuple[cst.BaseExpression, ...]:
        """What a place is bound to; of a name that is bound more than once what it may hold where it stands."""
        values = self.facts.assigned(slot)
        past = self._past(node) if len(values) > 1 and slot[0] == "var" and isinstance(node, cst.Name) else set()
        return tuple(value for value in values if value not in past)

    def _bound(
        self,
        node: cst.BaseExpression,
        slot: Slot,
        values: tuple[cst.BaseExpression, ...],
        arguments: Arguments,
        depth: int,
    ) -> list[Message]:
        found: list[Message] = []
        for value in values:
            found.extend(self.of(value, arguments, depth + 1))
            if len(found) > _MOST:
                break
        for part, callee, call in self.facts.given_apart(slot) if depth <= DEEPEST else ():
            inside = {**arguments, **dict(self.facts.slots.bindings(call, callee))}
            found.extend(self.of(part, inside, depth + 1))
        if not found and depth <= DEEPEST:
            found.extend(self._answers_in(slot, arguments, depth))
        if found:
            return [replace(m, node=node) for made in found for m in self._with_stores(made, slot, arguments, depth)]
        return self._known(node) if values or not self.facts.assigned(slot) else []

    def _answers_in(self, slot: Slot, arguments: Arguments, depth: int) -> Iterator[Message]:
        """What a loop takes out of a list that a function of the file has made: not out of a history."""
        for listed in self.facts.gone_through(slot):
            made = [call for call in self._calls_in(listed) if self.facts.slots.callee(call) is not None]
            if made or not self.facts.is_kind(listed, Kind.HISTORY):
                yield from (m for m in self.many(listed, arguments or None, depth + 1) if made or m.role == "tool")

    def _with_stores(self, message: Message, slot: Slot, arguments: Arguments, depth: int) -> list[Message]:
        """A message with what is set on it after it was made, `m["tool_calls"] = [...]`: one for each content."""
        keys = self.dicts.stored(slot, arguments)
        message = replace(message, more=message.more or keys.more)
        calls, content = keys.items.get("tool_calls"), keys.items.get("content")
        if calls is not None:
            message = replace(message, calls=message.calls or _given(self.facts.slots, calls, arguments))
        answers = [_given(self.facts.slots, keys.items[key], arguments) for key in _ANSWERED if key in keys.items]
        contents = self.facts.assigned(("member", slot, "content")) or ([content] if content is not None else [])
        made = [self._with_content(message, each, arguments, depth) for each in contents[:_MOST]] or [message]
        made = [self._with_parts(each, slot, arguments, depth) for each in made]
        return [replace(each, answers=(*each.answers, *answers)) for each in made]

    def _with_parts(self, message: Message, slot: Slot, arguments: Arguments, depth: int) -> Message:
        """A message with what is added to its lists after it was made: `m["tool_calls"].append(...)`."""
        calls = self.facts.appended(("member", slot, "tool_calls"))
        if calls and message.calls is None:
            message = replace(message, calls=calls[0], role=message.role or "assistant")
        parts = [part for key in ("content", "parts") for part in self.facts.appended(("member", slot, key))]
        results = tuple(answer for part in parts for answer in self._answered(part, arguments, depth))
        if results:
            return replace(message, role="tool", answers=(*message.answers, *results))
        calls = [part for part in parts if Kind.CALL in self.facts.kinds(part)]
        if calls and message.role == "assistant" and message.calls is None:
            message = replace(message, calls=calls[0])
        return message

    def _known(self, node: cst.BaseExpression) -> list[Message]:
        """What only the facts know: a reply's message carries the calls that the model made of it."""
        kinds = self.facts.kinds(node)
        if Kind.REPLY in kinds:
            return [Message(node, "assistant", node)]
        if Kind.MESSAGE in kinds:
            shown, pair = self.facts.evidence(node, Kind.MESSAGE), ex.member(node)
            read = any("`tool_calls`" in step.reason for fact in shown for step in fact.chain())
            read = read or (pair is not None and Kind.REPLY in self.facts.kinds(pair[0]))
            return [Message(node, "assistant" if read else None, node if read else None)]
        return []

    def _of_keys(self, node: cst.BaseExpression, keys: Keys, arguments: Arguments, depth: int) -> Message | None:
        """A message from its keys and their values, or the keywords of its constructor."""
        items = keys.items
        said = self._text(items.get("role"), arguments)
        tag = self._text(items.get("type"), arguments)
        ids = (_given(self.facts.slots, items[key], arguments) for key in _ANSWERED if key in items)
        answers = tuple(each for each in ids if not _is_nothing(each))
        if tag == "function_call":
            return Message(node, "assistant", node)
        if tag in {"function_call_output", "tool_result"}:
            return Message(node, "tool", None, answers, items.get("output") or items.get("content"))
        if "role" not in items and not ({"tool_calls", "content"} <= set(items) or answers):
            return None
        message = Message(node, ROLES.get(said) if said is not None else None, answers=answers, more=keys.more)
        if answers and "content" in items and message.role in {None, "user"}:
            message = replace(message, role="tool")
        calls = _given(self.facts.slots, items["tool_calls"], arguments) if "tool_calls" in items else None
        if calls is not None and not _is_nothing(calls):
            if self._results(calls, arguments, depth):  # blocks of several kinds, which a class has in one field
                return self._with_content(message, calls, arguments, depth)
            message = replace(message, calls=calls, role=message.role or "assistant")
        content = items.get("content") or items.get("parts") or items.get("text")
        return self._with_content(message, content, arguments, depth) if content is not None else message

    def _with_content(self, message: Message, content: cst.BaseExpression, arguments: Arguments, depth: int) -> Message:
        """Content in blocks: tool_use blocks are calls, tool_result blocks are answers, whatever the role says."""
        content = _given(self.facts.slots, content, arguments)
        message = replace(message, content=content)
        results = self._results(content, arguments, depth)
        if results:
            return replace(message, role="tool", answers=(*message.answers, *results))
        if message.role == "assistant" and message.calls is None and self._has_calls(content):
            return replace(message, calls=content)
        return message

    def said(self, node: cst.BaseExpression, role: Role, content: cst.BaseExpression) -> Message:
        """A message whose role and content are told apart, as arguments of a call."""
        return self._with_content(Message(node, role), content, {}, 0)

    def answers(self, content: cst.BaseExpression) -> bool:
        """Whether a message with this content answers calls: its blocks are results."""
        return bool(self._results(content, {}, 0))

    def _has_calls(self, content: cst.BaseExpression, within: frozenset[Slot] = frozenset()) -> bool:
        if self.holds_calls(content):
            return True
        whole = all_of(content)
        made = [whole] if whole is not content else [*sources(content), *ex.alternatives(content)]
        slot = self.facts.slots.of_name(content)
        if slot is not None and slot not in within:
            made, within = [*made, *self.facts.assigned(slot)], within | {slot}
        if any(self._has_calls(each, within) for each in made if each is not content):
            return True
        parts = (part for part in self._parts(content) if not picks_others(self.facts.module.parent.get(part)))
        return any(Kind.CALL in self.facts.kinds(part) or self.says_call(part) for part in parts)

    def holds_calls(self, content: cst.BaseExpression) -> bool:
        """Whether a value is a list of calls, or all that an API has replied which puts calls among the texts.

        To a request that offers tools, or whose reply the program asks whether it has ended with calls.
        """
        if self.facts.is_kind(content, Kind.CALLS):
            return True
        pair = ex.member(content)
        shown = self.facts.evidence(pair[0], Kind.REPLY) if pair is not None and pair[1] in BLOCKS else []
        if pair is not None and pair[1] == "parts":  # of Gemini, as its contents are
            return bool(shown)
        return any(map(self._shows_calls, (each.root.node for each in shown)))

    def _shows_calls(self, node: cst.CSTNode) -> bool:
        """Whether what shows a reply says that there may be calls in its content: the request, or a test of its end."""
        if isinstance(node, cst.Comparison):
            return not CALLS_IN_CONTENT.isdisjoint(said_of(node))
        call = self.facts.calls.get(node) if isinstance(node, cst.Call) else None
        return (
            call is not None and call.name in IN_CONTENT and ("tools" in ex.keywords(call.node) or _spreads(call.node))
        )

    def says_call(self, part: cst.BaseExpression) -> bool:
        """Whether a part is made of the id and the arguments of a call, or wraps one, whatever its type."""
        items = ex.made_of(part) if isinstance(part, cst.Call) else ex.dict_items(part)
        if not CALL_WRAPPERS.isdisjoint(items):
            return True
        pair = ex.member(items["id"]) if "id" in items and "input" in items else None
        return pair is not None and Kind.CALL in self.facts.kinds(pair[0])

    def _results(self, content: cst.BaseExpression, arguments: Arguments, depth: int) -> list[cst.BaseExpression]:
        """The ids of the calls that the parts of a content answer; the parts themselves where they show no id."""
        parts = self._parts(content) if depth < DEEPEST else ()
        return [answer for part in parts for answer in self._answered(part, arguments, depth)]

    def _answered(self, part: cst.BaseExpression, arguments: Arguments, depth: int) -> list[cst.BaseExpression]:
        if isinstance(part, cst.Call) and "function_response" in ex.called_name(part):
            return [part]
        items = ex.made_of(part) if isinstance(part, cst.Call) else ex.dict_items(part)
        wrapped = next((items[key] for key in words.RESULT_PARTS if key in items), None)
        if wrapped is not None:
            inside = ex.dict_items(wrapped)
            return [next((inside[key] for key in _ANSWERED if key in inside), part)]
        answers = [a for m in self.of(part, arguments, depth + 1) if m.role == "tool" for a in m.answers]
        return answers or ([part] if isinstance(part, cst.Call) and self._gives_result(part, depth) else [])

    def _gives_result(self, call: cst.Call, depth: int) -> bool:
        """Whether a function of this file gives the part of a message that answers a call."""
        callee = self.facts.slots.callee(call) if depth < DEEPEST else None
        given = callee.returned if callee is not None else []
        return bool(given) and all(self._answered(value, {}, depth + 1) for value in given)

    def _parts(self, content: cst.BaseExpression) -> Iterator[cst.BaseExpression]:
        """The elements of a content, or what the names in it stand for."""
        for part, _ in self._elements(content, {}):
            slot = self.facts.slots.of_name(part)
            values = self.facts.assigned(slot)
            shown = [value for value in map(ex.inner, values) if ex.is_dict(value) or len(values) == 1]
            yield from shown or [part]

    def _text(self, node: cst.BaseExpression | None, arguments: Arguments) -> str | None:
        """The text that a role or type has, through parameters and plain constants of this file."""
        if node is None:
            return None
        node = _given(self.facts.slots, node, arguments)
        pair = ex.member(node)
        if pair is not None and pair[1] == "role" and Kind.REPLY in self.facts.kinds(pair[0]):
            return "assistant"
        literal = ex.text(node)
        if literal is not None:
            return literal
        if isinstance(node, cst.Attribute):  # an enum: `Role.TOOL`
            return node.attr.value.lower()
        slot = self.facts.slots.of(node)
        values = [*self.facts.assigned(slot), *default_of(slot)] if slot is not None else []
        return ex.text(values[0]) if len(values) == 1 else None


def _given(slots: Slots, node: cst.BaseExpression, arguments: Arguments | None) -> cst.BaseExpression:
    """What a parameter holds at the call that is looked at; anything else is what it is."""
    node = ex.inner(node)
    for _ in range(DEEPEST):
        if not arguments or type(node) is not cst.Name:
            break
        slot = slots.of(node)  # noqa: AGL601 - no call of a model: a node of the program that is read
        given = arguments.get(slot) if slot is not None else None
        if given is None:
            break
        node = ex.inner(given)
    return node


def _told(call: cst.Call) -> list[Message]:
    """`Message("user", text)`, `said("assistant", text)` of another library: the role is a word of the API."""
    given = ex.positional(call)
    said = ex.text(given[0]) if len(given) > 1 and ex.member(call) is None else None
    role = ROLES.get(said) if said is not None else None
    return [Message(call, role, content=given[1], more=True)] if role not in {None, "tool"} else []


def _spreads(call: cst.Call) -> bool:
    return any(arg.star == "**" for arg in call.args)


def _is_nothing(node: cst.BaseExpression) -> bool:
    return all(map(is_neutral, ex.alternatives(node)))
