"""How facts flow through syntax: one method a kind of statement or expression."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property

import libcst as cst

from lint_rules.anatomy import vocabulary as words
from lint_rules.anatomy.values import llm_calls, shapes
from lint_rules.anatomy.values.forms import Forms
from lint_rules.anatomy.values.kinds import CONTAINER, ELEMENT, Evidence, Kind, Kinds, LLMCall
from lint_rules.anatomy.values.known import TWO_WAY, sources
from lint_rules.anatomy.values.slots import Slot
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.module import Scope, parameters
from lint_rules.syntax.walk import walk

_GROWERS = frozenset({"append", "appendleft", "add", "insert"})
_DICTS = frozenset({cst.Dict, cst.Call})
_MUTE = frozenset({type(None), cst.SimpleString, cst.FormattedString, cst.Integer, cst.Float, cst.Comparison})
"""What is no part of an agent, whatever becomes of it, nor are its parts."""
_TEXTS = frozenset({cst.SimpleString, cst.FormattedString, cst.ConcatenatedString})
_LISTED = frozenset({Kind.HISTORY, Kind.MESSAGE, Kind.CALLS, Kind.CALL})
_NO_CALL = frozenset({"role", "content", "output", "result"})
_PARSED = ("arguments", "args", "input")
_ARGUMENTS = frozenset({*_PARSED, "function"})
_OF_CALLS = frozenset({Kind.CALL, Kind.FUNCTION, Kind.ARGUMENTS_TEXT, Kind.ARGUMENTS})
_EXTENDERS = frozenset({"extend", "extendleft"})
_MIXERS = _EXTENDERS | _GROWERS - {"append"}


class Flows(Forms):
    """Carries facts from values to the slots they land in, and from uses back to where values came from."""

    def _flows(self) -> dict[type[cst.CSTNode], Callable[..., None]]:
        return {
            cst.Assign: self._assign,
            cst.AnnAssign: self._ann_assign,
            cst.AugAssign: self._aug_assign,
            cst.NamedExpr: self._named,
            cst.For: self._loop,
            cst.CompFor: self._loop,
            cst.WithItem: self._with_item,
            cst.Return: self._return,
            cst.Yield: self._yield,
            cst.Call: self._call,
            cst.Comparison: self._comparison,
            cst.Attribute: self._member,
            cst.Subscript: self._member,
            cst.Param: self._param,
            cst.Lambda: self._lambda,
            cst.Dict: self._shown,
        }

    def _telling_nodes(self, kind: type[cst.CSTNode]) -> Sequence[cst.CSTNode]:
        """The nodes of a type, but for those that a cheap look tells to say nothing of an agent: most are such."""
        if kind is cst.Attribute:
            return [node for node in self.module.nodes_of(cst.Attribute) if node.attr.value in self._telling]
        if kind is cst.Param:
            return [node for node in self.module.nodes_of(cst.Param) if node.annotation is not None]
        if kind is cst.Assign:
            return [node for node in self.module.nodes_of(cst.Assign) if not _is_mute(node.value)]
        if kind is cst.Return:
            return [node for node in self.module.nodes_of(cst.Return) if not _is_mute(node.value)]
        return self.module.nodes_of(kind)

    @cached_property
    def _telling(self) -> frozenset[str]:
        """The names of members whose use tells something."""
        return self.call_attributes | {"tool_call_id", "choices", "candidates", "arguments"}

    def _flow(self, target: cst.BaseExpression, value: cst.BaseExpression) -> None:
        """The value of `value` becomes the value of `target`."""
        if type(target) is cst.Tuple or type(target) is cst.List:
            self._flow_unpacked(target, value)
            return
        if type(target) is cst.Subscript and ex.slice_of(target) is not None:  # `xs[:] = value`
            target = target.value
        slot = self.slots.of(target)
        if slot is None:
            return
        self._learn_all(slot, self.kinds(value), value)
        self._learn_items(slot, value)
        self._learn_places(slot, *_elements(value))
        self._learn_back(value, self.of(slot), "", value)
        if _is_list(value):
            self._learn_list(slot)
        for key, item in ex.dict_items(value).items() if type(value) in _DICTS else ():
            inside: Slot = self.slots.member(target, key) or ("member", slot, key)
            self._learn_all(inside, self.kinds(item), item)
            self._learn_back(item, self.of(inside), "", item)

    def _learn_items(self, slot: Slot, value: cst.BaseExpression) -> None:
        """Calls in a container are in it under other names, too: in a parameter, in a copy, where it is given back.

        So is what stands in tuples there. Messages in one make a history of it, which has its own ways.
        """
        for part in (value, *sources(value)):
            base = self.slots.of(part)
            if base is not None and base != slot:
                kinds = {kind: shown for kind, shown in self.of(("item", base)).items() if kind in _OF_CALLS}
                self._learn_all(("item", slot), kinds, value)
                for place in range(self._width.get(base, 2)):
                    self._learn_place(slot, place, self.of(("member", ("item", base), str(place))), value)

    def _learn_places(self, slot: Slot, *elements: cst.BaseExpression) -> None:
        """What stands at each place of the tuples that a list holds: `[(call, read(call)) for call in calls]`."""
        for element in elements:
            for number, part in enumerate(element.elements if isinstance(element, cst.Tuple) else ()):
                self._learn_place(slot, number, self.kinds(part.value), part.value)

    def _learn_place(self, slot: Slot, place: int, kinds: Kinds, node: cst.CSTNode) -> None:
        if kinds:
            self._width[slot] = max(place + 1, self._width.get(slot, 2))
            self._learn_all(("member", ("item", slot), str(place)), kinds, node)

    def _flow_unpacked(self, target: cst.Tuple | cst.List, value: cst.BaseExpression) -> None:
        value = ex.inner(value)
        if isinstance(value, (cst.Tuple, cst.List)) and len(value.elements) == len(target.elements):
            for left, right in zip(target.elements, value.elements, strict=True):
                self._flow(left.value, right.value)
            return
        kinds = self.kinds(value)
        self._flow_pieces(target, value)
        for element in target.elements:
            slot = self.slots.of(element.value)
            for whole, part_kind in ELEMENT.items() if slot is not None else ():
                if whole in kinds:
                    starred = isinstance(element, cst.StarredElement)
                    self.learn(slot, whole if starred else part_kind, Evidence("comes from", value, since=kinds[whole]))
        base = self.slots.of(value)
        if base is None:
            return
        for number, element in enumerate(target.elements):
            part: Slot = ("member", base, str(number))
            slot = self.slots.of(element.value)
            if slot is not None:
                self._learn_all(slot, self.of(part), value)
                for kind, evidence in self.of(slot).items():
                    if evidence.used and kind in TWO_WAY | {Kind.REPLY}:
                        self.learn(part, kind, evidence)

    def _assign(self, node: cst.Assign, scope: Scope) -> None:
        for target in node.targets:
            self._flow(target.target, node.value)
            self._emptied(target.target, node, scope)

    def _emptied(self, target: cst.BaseExpression, node: cst.Assign, scope: Scope) -> None:
        """`agent.messages = []` in a function that then asks `agent.chat(...)`: the name and the question together."""
        if type(target) is not cst.Attribute or type(node.value) is not cst.List or node.value.elements:
            return
        if target.attr.value not in words.HISTORY_NAMES:
            return
        owner = ex.dotted(target.value)
        for call in scope.function.nodes if owner is not None else ():
            if isinstance(call, cst.Call) and ex.called_name(call) in words.ASKING:
                base = ex.receiver(call)
                if base is not None and ex.dotted(base) == owner:
                    how = f"is emptied before `{owner}.{ex.called_name(call)}` is asked"
                    self.learn(self.slots.of(target), Kind.HISTORY, Evidence(how, node, used=True))

    def _ann_assign(self, node: cst.AnnAssign, scope: Scope) -> None:
        told = shapes.annotated(node.annotation.annotation)
        if told is not None:
            self.learn(self.slots.of(node.target), told[0], Evidence(told[1], node, used=True))
        if node.value is not None:
            self._flow(node.target, node.value)

    def _aug_assign(self, node: cst.AugAssign, scope: Scope) -> None:
        if isinstance(node.operator, cst.AddAssign):
            slot = self.slots.of(node.target)
            kinds = self.kinds(node.value)
            if slot is not None and any(type(value) in _TEXTS for value in self.assigned(slot)):
                kinds = {kind: why for kind, why in kinds.items() if kind not in _LISTED}  # what a text gets is text
            self._put_together(node.target, kinds, node)
            if Kind.HISTORY in kinds and slot is not None:
                evidence = Evidence("has messages added to it", node, True, kinds[Kind.HISTORY])
                self.learn(slot, Kind.HISTORY, evidence)
            self._learn_all(slot, kinds, node.value)
            known = self.of(slot).get(Kind.HISTORY) if slot is not None and slot[0] == "var" else None
            if known is not None and known.used:
                self.use(node.value, Kind.HISTORY, Evidence("is added to a history", node, True, known))
            if Kind.ARGUMENTS in kinds and slot is not None:  # pieces of a streamed input that are put together
                evidence = Evidence("is a tool's input put together from pieces", node, True, kinds[Kind.ARGUMENTS])
                self.learn(slot, Kind.ARGUMENTS_TEXT, evidence)

    def _put_together(self, target: cst.BaseExpression, kinds: Kinds, node: cst.CSTNode) -> None:
        """A part of a value that pieces of arguments are added to, as text or in a list, shows that it is a call."""
        pair = ex.member(target)
        if pair is not None and (pair[1] == "arguments" or Kind.ARGUMENTS_TEXT in kinds):
            self._mark(pair[0], Kind.CALL, Evidence(f"its `{pair[1]}` are put together from pieces", node, True))

    def _named(self, node: cst.NamedExpr, scope: Scope) -> None:
        self._flow(node.target, node.value)

    def _loop(self, node: cst.For | cst.CompFor, scope: Scope) -> None:
        for listed, target in ex.iterated(node):
            self._flow_element(target, node.iter if _is_made_of(node.iter, listed) else listed, node.iter)

    def _flow_element(self, target: cst.BaseExpression, iterable: cst.BaseExpression, node: cst.CSTNode) -> None:
        if isinstance(target, cst.Tuple):
            self._flow_places(target, iterable)
            self._flow_pieces(target, iterable)
        slot = self.slots.of(target) if not isinstance(target, cst.Tuple) else None
        if slot is None:
            return
        kinds = self.kinds(iterable)
        for whole, part in ELEMENT.items():
            if whole in kinds:
                self.learn(slot, part, Evidence("comes from", node, False, kinds[whole]))
        if Kind.MODEL_TEXT in kinds:
            self.learn(slot, Kind.MODEL_TEXT, kinds[Kind.MODEL_TEXT])
        base = next((base for part in ex.alternatives(iterable) if (base := self.slots.of(part)) is not None), None)
        if base is not None:  # `reply.candidates or []`
            self._learn_all(slot, self.of(("item", base)), node)
            self._elements.setdefault(slot, ("item", base))
        for kind, evidence in self.of(slot).items():
            if evidence.used and kind in CONTAINER:
                self.use(iterable, CONTAINER[kind], Evidence(f"holds {kind.value}s", node, True, evidence))

    def _flow_places(self, target: cst.Tuple, listed: cst.BaseExpression) -> None:
        """`for call, parcel in read`, where each element of the list is a tuple."""
        base = self.slots.of(listed)
        for number, element in enumerate(target.elements) if base is not None else ():
            slot = self.slots.of(element.value)
            if slot is not None:
                self._learn_all(slot, self.of(("member", ("item", base), str(number))), listed)

    def _flow_pieces(self, target: cst.Tuple | cst.List, text: cst.BaseExpression) -> None:
        """`for name, written in re.findall(CALL, text)`: what a text is taken apart into."""
        kinds = self.kinds(text)
        for element in target.elements if Kind.MODEL_TEXT in kinds else ():
            self.learn(self.slots.of(element.value), Kind.MODEL_TEXT, kinds[Kind.MODEL_TEXT])

    def _with_item(self, node: cst.WithItem, scope: Scope) -> None:
        if node.asname is not None:
            self._flow(node.asname.name, node.item)

    def _return(self, node: cst.Return, scope: Scope) -> None:
        if node.value is not None:
            self._give(node.value, scope.function)

    def _lambda(self, node: cst.Lambda, scope: Scope) -> None:
        self._give(node.body, self.module.own_scope[node])

    def _give(self, value: cst.BaseExpression, function: Scope) -> None:
        slot: Slot = ("return", function)
        value = ex.inner(value)
        for number, element in enumerate(value.elements if isinstance(value, (cst.Tuple, cst.List)) else ()):
            part: Slot = ("member", slot, str(number))
            self._learn_all(part, self.kinds(element.value), element.value)
            self._learn_back_reply(element.value, part)
        if type(value) is cst.Tuple:
            return
        self._learn_all(slot, self.kinds(value), value)
        self._learn_items(slot, value)
        self._learn_back_reply(value, slot)

    def _learn_back_reply(self, value: cst.BaseExpression, slot: Slot) -> None:
        self._learn_back(value, self.of(slot), "", value)
        reply = self.of(slot).get(Kind.REPLY)
        if reply is not None and reply.used:
            self.learn(self.slots.of(value), Kind.REPLY, reply)

    def _yield(self, node: cst.Yield, scope: Scope) -> None:
        if isinstance(node.value, cst.BaseExpression):
            self._learn_all(("item", ("return", scope.function)), self.kinds(node.value), node.value)

    def _param(self, node: cst.Param, scope: Scope) -> None:
        slot = self.slots.parameter(scope, node.name.value)
        if node.annotation is not None and node.star != "**":
            told = shapes.annotated(node.annotation.annotation)
            if told is not None:
                self.learn(slot, told[0], Evidence(told[1], node, used=True))
            elif node.name.value in words.CALLED_HISTORIES and shapes.lists_dicts(node.annotation.annotation):
                self.learn(slot, Kind.CALLED_HISTORY, Evidence(f"is called `{node.name.value}`", node))

    def _shown(self, node: cst.Dict, scope: Scope) -> None:
        """The content of a tool message is a tool's result; what a message has as its calls are calls."""
        self._rendered(node)
        content = shapes.tool_result(node)
        if content is not None:
            self.learn(self.slots.of(content), Kind.RESULT, Evidence("is sent as a tool's result", node, used=True))
        items = ex.dict_items(node)
        self._rendered_call(items, node)
        if content is not None or ("role" in items and ex.text(items["role"]) == "tool"):
            self._answers(items, node)
        if "role" in items:
            self._has_calls(items, node)

    def _has_calls(self, items: dict[str, cst.BaseExpression], node: cst.Dict | cst.Call) -> None:
        """What a message is made with as its calls are calls."""
        for name in self.call_attributes & items.keys():
            self.use(items[name], Kind.CALLS, Evidence(f"is put into a message as its `{name}`", node, used=True))

    def _rendered(self, node: cst.Dict | cst.Call) -> None:
        """What both the role of a message and something else in it are read of is a message in the program's words."""
        shape, items = shapes.message(node), ex.made_of(node)
        role = ex.member(items["role"]) if shape is not None and "role" in items else None
        slot = self.slots.of_name(role[0]) if role is not None else None
        others = (part for key, value in items.items() if slot is not None and key != "role" for part in walk(value))
        if role is not None and any(
            pair is not None and self.slots.of(pair[0]) == slot for pair in map(ex.member, others)
        ):
            self._mark(role[0], Kind.MESSAGE, Evidence("is rendered as a message", node, used=True))

    def _rendered_call(self, items: dict[str, cst.BaseExpression], node: cst.Dict) -> None:
        """What the id and the arguments of a call are read of is one in the program's words; so is what is wrapped."""
        for wrapped in (items[name] for name in words.CALL_WRAPPERS & items.keys()):
            if self.slots.of_name(wrapped) is not None:
                self._mark(wrapped, Kind.CALL, Evidence("is put into a message as a call", node, used=True))
        told = ex.dict_items(items["function"]) if "function" in items else items
        read = ex.member(items["id"]) if "id" in items and "name" in told else None
        slot = self.slots.of_name(read[0]) if read is not None else None
        values = [told[name] for name in ("arguments", "input") if name in told] if slot is not None else []
        pairs = (pair for value in values for part in walk(value) if (pair := ex.member(part)) is not None)
        if read is not None and any(self.slots.of(base) == slot for base, _ in pairs):
            self._mark(read[0], Kind.CALL, Evidence("is rendered as a call", node, used=True))

    def _answers(self, items: dict[str, cst.BaseExpression], node: cst.BaseExpression) -> None:
        """What has arguments, and is answered by its id, is a call, wherever it comes from."""
        for name in words.ANSWERED & items.keys():
            pair = ex.member(items[name])
            if pair is not None and pair[1] in {"id", "call_id"} and self.slots.of(pair[0]) in self._with_arguments:
                self._mark(pair[0], Kind.CALL, Evidence("has arguments, and is answered by its id", node, used=True))

    def _comparison(self, node: cst.Comparison, scope: Scope) -> None:
        for base, kind, reason in shapes.comparisons(node, self._read_as):
            self._mark(base, kind, Evidence(reason, node, used=True))
        pair = ex.asked(node)
        if pair is not None and pair[1] in self.call_attributes and self.slots.of(pair[0]) in self._keyed:
            self._asked_for(node)  # where it is no text or list of names that it may be in
        ended = self._read_as(ex.compared(node)[0])
        tag = (
            min(words.WITH_CALLS & shapes.said_of(node), default=None) if ended and ended[1] in words.REASONS else None
        )
        if ended is not None and tag is not None:
            self._mark_reply(ended[0], node, f"its `{ended[1]}` is compared with `{tag}`")

    def _read_as(self, side: cst.BaseExpression) -> shapes.Member | None:
        """What a value is read of: also `kind`, of `kind = block.get("type")`."""
        made = self.assigned(self.slots.of_name(side))
        return ex.member(made[0] if len(made) == 1 else side)

    def _mark(self, base: cst.BaseExpression, kind: Kind, evidence: Evidence) -> None:
        """`base` is a message or a call by use; the list it is an element of is then a history, or calls."""
        if not self.is_self(base):
            self.use(base, kind, evidence)

    def _mark_reply(self, base: cst.BaseExpression, node: cst.CSTNode, reason: str) -> None:
        slot = self.slots.of(base)
        if slot is not None and not self.is_self(base):
            self.learn(slot, Kind.REPLY, Evidence(reason, node, used=True))
            self._reply_source(slot)

    def _reply_source(self, slot: Slot) -> None:
        """A variable read as a reply makes the call it came from return a reply: said once, as nothing is unlearned."""
        if slot in self._replies:
            return
        self._replies.add(slot)
        given = [part for value in self.assigned(slot) for part in ex.alternatives(value)]
        for value in (*given, *self._added_up(slot, given)):
            self.learn(self.slots.of(value), Kind.REPLY, self.of(slot)[Kind.REPLY])

    def _added_up(self, slot: Slot, given: list[cst.BaseExpression]) -> Iterator[cst.BaseExpression]:
        """The streams of whose pieces a value is a sum: `whole + piece`, `whole += piece` in a loop through one."""
        pieces = [piece for value in given if type(value) is cst.BinaryOperation for piece in sources(value)]
        added = self.module.nodes_of(cst.AugAssign)
        pieces += [node.value for node in added if self.slots.of(node.target) == slot]
        for piece in pieces:
            known = self.slots.of(piece)
            yield from self.gone_through(known) if known is not None else ()

    def _member(self, node: cst.CSTNode, scope: Scope) -> None:
        pair = ex.member(node)
        if pair is None:
            return
        base, name = pair
        if name not in self._telling:
            return
        if name in self.call_attributes:
            outer = self.module.parent.get(node)
            if isinstance(outer, cst.AssignTarget) and self.is_self(base):
                return
            if isinstance(node, cst.Attribute) and _is_grown(outer):  # a record that the program writes, and no reply
                return
            self._mark(base, Kind.MESSAGE, Evidence(f"its `{name}` is used", node, used=True))
            self._mark_reply(base, node, f"its `{name}` is read")
        elif name == "tool_call_id" and _is_keyed(node):  # events of user interfaces have the attribute
            self._mark(base, Kind.MESSAGE, Evidence("its `tool_call_id` is used", node, used=True))
        elif name == "choices":
            self._mark_reply(base, node, "its `choices` are read")
        elif name == "candidates" and self._have_contents(self.slots.of(node)):  # type: ignore[arg-type]
            self._mark_reply(base, node, "the contents of its `candidates` are read")
        elif name == "arguments":
            for inside in map(ex.member, self._stands_for(base)):
                if inside is not None and inside[1] == "function":
                    self._mark(inside[0], Kind.CALL, Evidence("its `function.arguments` are used", node, used=True))

    def _have_contents(self, listed: Slot | None) -> bool:
        """Whether the `content` is read of an element of a list, as of Gemini's `candidates` (API reference)."""
        each: Slot = ("item", listed)
        return listed is not None and any(
            slot == each or self._elements.get(slot) == each or each in map(self.slots.of, self.assigned(slot))
            for slot in self._with_content
        )

    @cached_property
    def _with_content(self) -> set[Slot]:
        reads = map(ex.member, self.module.nodes_of(cst.Attribute, cst.Subscript, cst.Call))
        bases = (self.slots.of(pair[0]) for pair in reads if pair is not None and pair[1] == "content")
        return {slot for slot in bases if slot is not None}

    def _stands_for(self, node: cst.BaseExpression) -> Iterator[cst.BaseExpression]:
        """An expression, and what a name stands for, or is a copy of."""
        for value in (node, *self.assigned(self.slots.of_name(node))):
            yield value
            yield from sources(value)

    def _asked_for(self, node: cst.CSTNode) -> None:
        """Who asks whether a value has tool calls would read them."""
        base, name = ex.asked(node) or (None, "")
        if base is not None and name in self.call_attributes:
            self._mark(base, Kind.MESSAGE, Evidence(f"is asked for `{name}`", node, used=True))
            self._mark_reply(base, node, f"is asked for `{name}`")

    @cached_property
    def _keyed(self) -> set[Slot | None]:
        """What is read by keys: dicts, then."""
        reads = (ex.member(node) for node in self.module.nodes_of(cst.Subscript, cst.Call) if _is_keyed(node))
        return {self.slots.of(pair[0]) for pair in reads if pair is not None}

    @cached_property
    def _answerable(self) -> set[Slot]:
        """What has a `call_id`, as the items of a Responses reply that are calls (OpenAI API reference, Responses)."""
        reads = map(ex.member, self.module.nodes_of(cst.Attribute, cst.Subscript, cst.Call))
        bases = (self.slots.of(pair[0]) for pair in reads if pair is not None and pair[1] == "call_id")
        return {slot for slot in bases if slot is not None}

    @cached_property
    def _with_arguments(self) -> set[Slot]:
        """What arguments are read of, and nothing that a message or a result has: it may be any of them."""
        reads = [*filter(None, map(ex.member, self.module.nodes_of(cst.Attribute, cst.Subscript, cst.Call)))]
        others = {self.slots.of(base) for base, name in reads if name in _NO_CALL}
        bases = (self.slots.of(base) for base, name in reads if name in _ARGUMENTS)
        return {slot for slot in bases if slot is not None and slot not in others}

    # -- calls ------------------------------------------------------------------------------------------------

    def _call(self, node: cst.Call, scope: Scope) -> None:
        self._member(node, scope)
        self._asked_for(node)
        if node.args:
            self._rendered(node)
        tested = shapes.type_tests(node)
        if tested is not None:
            self._mark(tested[0], tested[1], Evidence(tested[2], node, used=True))
        if node.args and self.decoder(node) is not None:
            self._decoded(node, node.args[0].value)
        found = self.calls.get(node)
        if found is None or found.history is None:  # which may be known by now
            found = llm_calls.recognise(node, self) or found
        if found is not None:
            self._llm_call(node, found)
        callee, (run, handed) = self.slots.callee(node), self.slots.handed(node)
        passed = f"is passed to `{run.name}`" if run is not None else ""
        for slot, value in handed:
            self._learn_all(slot, self.kinds(value), value)
            self._learn_items(slot, value)
            self._learn_back(value, self.of(slot), passed, node)
        given = ex.keywords(node) if node.args and shapes.message(node) is not None else {}
        if "content" in given:  # in a class of the project, one field may hold both
            self._has_calls(given, node)
        if given or any(ex.text(arg.value) == "tool" for arg in node.args):
            self._answers(ex.keywords(node), node)
        base = ex.receiver(node)
        if base is not None and callee is None:
            self._growth(node, base)
        for arg in node.args:
            if arg.keyword is not None and arg.keyword.value in words.ARGUMENT_CALLBACKS:
                self._callback(arg.value, words.ARGUMENT_CALLBACKS[arg.keyword.value], node)

    def _decoded(self, node: cst.Call, text: cst.BaseExpression) -> None:
        """What is decoded of a call are its arguments, whatever the program calls them: `loads(call["parameters"])`."""
        slot = self.slots.of(text)
        for value in (part for each in (text, *self.assigned(slot)) for part in ex.alternatives(each)):
            pair = ex.member(_joined(value))
            if pair is not None and pair[1] == "arguments" and self.slots.of(pair[0]) in self._answerable:
                how = "its `arguments` are decoded, and its `call_id` is read"
                self._mark(pair[0], Kind.CALL, Evidence(how, node, used=True))
            if pair is not None and Kind.CALL in (kinds := self.kinds(pair[0])):
                evidence = Evidence("is decoded, and is a part of a tool call", node, True, kinds[Kind.CALL])
                self.learn(slot, Kind.ARGUMENTS_TEXT, evidence)
            pieces = self.slots.of(_joined(value))
            made = self._call_made_with(node) if self.is_pieced(value) else None
            if pieces is not None and made is not None:
                evidence = Evidence("is put together from pieces, and decoded into a tool call", node, True, made)
                self.learn(pieces if _joined(value) is value else ("item", pieces), Kind.ARGUMENTS_TEXT, evidence)

    def is_pieced(self, text: cst.BaseExpression) -> bool:
        """Whether a text is put together piece by piece, as what a stream brings is."""
        return _joined(text) is not text or not self._pieced.isdisjoint(self._places_of(text))

    @cached_property
    def _pieced(self) -> set[Slot]:
        added = self.module.nodes_of(cst.AugAssign)
        sums = (node.target for node in added if isinstance(node.operator, cst.AddAssign))
        return {slot for target in sums for slot in self._places_of(target)}

    def _places_of(self, text: cst.BaseExpression) -> Iterator[Slot]:
        """Where a text stands, also by the entry that a name stands for: `entry["arguments"]` of `entry = table[i]`."""
        slot, pair = self.slots.of(text), ex.member(text)
        entry = self.slots.of(pair[0]) if pair is not None else None
        if slot is not None:
            yield slot
        if pair is None or entry is None:
            return
        held = [self.slots.of(value) for value in self.assigned(entry)]
        for loop in self.gone_through(entry):
            table = ex.receiver(loop) if isinstance(loop, cst.Call) and ex.called_name(loop) == "values" else loop
            whole = self.slots.of(table)
            held += [("item", whole)] if whole is not None else []
        yield from (self.slots.part(place, pair[1]) for place in held if place is not None and place[0] == "item")

    def _call_made_with(self, value: cst.Call) -> Evidence | None:
        """The call that is made here with a value, or with the name or part it is assigned to, as its arguments."""
        statement = self.module.statement(value)
        targets = ex.assigned(statement)
        given = statement.value if isinstance(statement, (cst.Assign, cst.AnnAssign)) else None
        if given is None or value not in ex.alternatives(given):
            return self._made_with.get(value)
        for target in targets:
            pair = ex.member(target)
            if pair is not None and pair[1] in _ARGUMENTS and Kind.CALL in (kinds := self.kinds(pair[0])):
                return kinds[Kind.CALL]
        return next((found for t in targets if (found := self._made_with.get(self.slots.of(t))) is not None), None)

    @cached_property
    def _made_with(self) -> dict[Slot | cst.CSTNode | None, Evidence]:
        """The dicts that are calls, by the values of their arguments and what these stand for."""
        found: dict[Slot | cst.CSTNode | None, Evidence] = {}
        for node in self.module.nodes_of(cst.Dict):
            shape, items = shapes.tool_call(node), ex.dict_items(node)
            items = {**ex.dict_items(items["function"]), **items} if "function" in items else items
            for value in (items[key] for key in _PARSED if shape is not None and key in items):
                slot = self.slots.of(value)
                found[slot if slot is not None else value] = Evidence(shape or "", node)
        return found

    def _callback(self, value: cst.BaseExpression, position: int, node: cst.Call) -> None:
        """A function that a framework calls with a tool's arguments as text."""
        function = self.slots.function(value)
        listed = parameters(function) if function is not None else []
        if function is not None and position < len(listed):
            slot = self.slots.parameter(function, listed[position].name.value)
            self.learn(slot, Kind.ARGUMENTS_TEXT, Evidence("is what the model wrote as a tool's arguments", node))

    def _llm_call(self, node: cst.Call, found: LLMCall) -> None:
        known = self.calls.get(node)
        if known is None or (known.history is None and found.history is not None):
            self.calls[node] = found
            self._changed = True
        callee, base = self.slots.callee(node), ex.receiver(node)
        if found.name in words.SESSION_CALLS and base is not None:
            self.learn(self.slots.of(base), Kind.MODEL, Evidence(found.reason, node))
        for kind in found.gives:
            self.learn(("return", callee) if callee is not None else ("call", node), kind, Evidence(found.reason, node))
        how = f"is sent as `{found.keyword}=` to `{found.name}`" if found.keyword else f"is sent to `{found.name}`"
        evidence = Evidence(how, node, used=True)
        sent = found.history
        if sent is not None and found.keyword == "messages":
            self.use(sent, Kind.HISTORY, evidence)
        elif sent is not None and self._listlike(sent):
            self._sent_lists[sent] = evidence
        key = found.keyword or "messages"
        for arg in node.args:
            if arg.star == "**":
                slot = self.slots.of(arg.value)
                if slot is not None and (self.of(inside := ("member", slot, key)) or self._has_key(slot, key)):
                    self.learn(inside, Kind.HISTORY, evidence)
                for value in llm_calls.spread_under(arg.value, key, self) if key == "messages" else ():
                    self.use(value, Kind.HISTORY, evidence)

    def _learn_sent(self) -> bool:
        """Lists that are sent under a keyword that takes texts, too, are histories; not those of prompts or answers."""
        self._changed = False
        for sent, evidence in self._sent_lists.items():
            if not self._collects_texts(sent):
                self.use(sent, Kind.HISTORY, evidence)
        return self._changed

    def _collects_texts(self, sent: cst.BaseExpression) -> bool:
        """Whether all that a list holds are texts, and none of them answers what was sent with the list itself."""
        slot = self.slots.of(sent)
        if slot is not None and (slot in self._extended or not self.assigned(slot)):
            return False
        held = [arg for call in self.put(slot) for arg in ex.positional(call)] if slot is not None else []
        for value in self.assigned(slot) if slot is not None else [sent]:
            if type(value) is not cst.List:
                return False
            held += [element.value for element in value.elements]
        return bool(held) and all(self._is_text(part, slot) for value in held for part in ex.alternatives(value))

    def _is_text(self, node: cst.BaseExpression, collected: Slot | None) -> bool:
        kinds = self.kinds(node)
        if Kind.MODEL_TEXT in kinds and Kind.MESSAGE not in kinds:
            asked = self.calls.get(kinds[Kind.MODEL_TEXT].root.node)  # type: ignore[call-overload]
            return asked is None or asked.history is None or self.slots.of(asked.history) != collected
        return type(node) in _TEXTS

    @cached_property
    def _extended(self) -> set[Slot | None]:
        """The lists that get other elements than by `append`, and the parameters, which come with some."""
        grown = (ex.receiver(call) for call in self.module.nodes_of(cst.Call) if ex.called_name(call) in _MIXERS)
        summed = (node.target for node in self.module.nodes_of(cst.AugAssign))
        given = {self.slots.parameter(f, param.name.value) for f in self.module.functions for param in parameters(f)}
        return given | {self.slots.of(base) for base in (*grown, *summed) if base is not None}

    @cached_property
    def _units_of_work(self) -> set[Slot | None]:
        """The sessions of an object-relational mapper: by what they are asked for, or by annotation."""
        bases = [ex.receiver(call) for call in self.module.nodes_of(cst.Call) if ex.called_name(call) in words.OF_UNITS]
        told = (
            self.slots.parameter(function, param.name.value)
            for function in self.module.functions
            for param in parameters(function)
            if param.annotation is not None
            and self.module.full_name(param.annotation.annotation).startswith(words.TABLES)
        )
        return {*(self.slots.of(base) for base in bases if base is not None), *told}

    def _has_key(self, slot: Slot, key: str) -> bool:
        return any(key in ex.dict_items(value) for value in self.assigned(slot))

    def _listlike(self, node: cst.BaseExpression) -> bool:
        """Whether a value is handled as a list: requests also take plain strings under the same keyword."""
        for part in ex.alternatives(node):
            slot = self.slots.of(part)
            if _is_list(part) or Kind.HISTORY in self.kinds(part) or (slot is not None and slot in self._lists):
                return True
            if slot is not None and slot[0] in {"return"}:
                return True
        return False

    def _growth(self, node: cst.Call, base: cst.BaseExpression) -> None:
        """`xs.append(m)` makes xs a history when m is a message, and m a message when xs is a history."""
        name = ex.called_name(node)
        if name not in _GROWERS and name not in _EXTENDERS:
            return
        given = ex.positional(node)
        if len(given) != (2 if name == "insert" else 1):
            return
        slot = self.slots.of(base)
        if slot is None:
            return
        if name == "add" and slot in self._units_of_work:
            return  # `session.add(Row(...))`: it writes rows, and holds no list
        self._learn_list(slot)
        value = given[-1]
        kinds = self.kinds(value)
        if name in _GROWERS:
            for element, container in CONTAINER.items():
                if element in kinds:
                    how = f"has {element.value}s appended to it"
                    self.learn(slot, container, Evidence(how, node, True, kinds[element]))
            if Kind.ARGUMENTS_TEXT in kinds:
                self._put_together(base, kinds, node)
            self._learn_all(("item", slot), kinds, value)
            self._learn_places(slot, value)
        elif Kind.HISTORY in kinds:
            self.learn(slot, Kind.HISTORY, Evidence("has messages added to it", node, True, kinds[Kind.HISTORY]))
        known = self.of(slot).get(Kind.HISTORY)
        if known is not None and known.used and name in _EXTENDERS:
            self.use(value, Kind.HISTORY, Evidence("is added to a history", node, True, known))
        elif known is not None and known.used and not _is_list(value):
            self.use(value, Kind.MESSAGE, Evidence("is appended to a history", node, True, known))


def _elements(listed: cst.BaseExpression) -> list[cst.BaseExpression]:
    """What a list is made of, as far as it stands there."""
    if isinstance(listed, (cst.ListComp, cst.GeneratorExp)):
        return [listed.elt]
    return [element.value for element in listed.elements] if isinstance(listed, cst.List) else []


def _is_made_of(value: cst.BaseExpression, listed: cst.BaseExpression) -> bool:
    """Whether a value is a list of its own with the elements of another: `list(messages)`."""
    made = type(value) is cst.Call and ex.called_name(value) not in {"enumerate", "zip"} and ex.receiver(value) is None
    return made and isinstance(value, cst.Call) and bool(value.args) and ex.inner(value.args[0].value) is listed


def _joined(value: cst.BaseExpression) -> cst.BaseExpression:
    """The list whose texts are put together: `"".join(pieces)`."""
    if type(value) is cst.Call and ex.called_name(value) == "join" and len(value.args) == 1:
        return value.args[0].value
    return value


def _is_keyed(node: cst.CSTNode) -> bool:
    """`x["k"]` and `x.get("k")`; not `getattr(x, "k")`."""
    return type(node) is cst.Subscript or (type(node) is cst.Call and ex.receiver(node) is not None)


def _is_mute(value: cst.BaseExpression | None) -> bool:
    return type(value) in _MUTE or (type(value) is cst.Name and value.value in ex.CONSTANTS)


def _is_list(node: cst.BaseExpression) -> bool:
    node = ex.inner(node)
    if type(node) is cst.Call:
        return ex.called_name(node) in {"list", "deque", "deepcopy", "copy"}
    return type(node) is cst.List or type(node) is cst.ListComp


def _is_grown(outer: cst.CSTNode | None) -> bool:
    """`x.append` or `x.extend`, around `x`."""
    return type(outer) is cst.Attribute and outer.attr.value in _GROWERS | _EXTENDERS
