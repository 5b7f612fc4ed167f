"""What each value of a file is, with evidence: facts flow between slots until nothing new is learned.

Facts flow forwards with the values (assignment, argument, return, element). Facts learned from a *use* (a list is
sent to a model, a message is appended to it) also flow backwards, to where the value came from.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from functools import cached_property

import libcst as cst

from lint_rules.anatomy import llm_calls, shapes
from lint_rules.anatomy import vocabulary as words
from lint_rules.anatomy.kinds import CONTAINER, ELEMENT, Evidence, Kind, Kinds
from lint_rules.anatomy.slots import Slot, Slots
from lint_rules.anatomy.vocabulary import Vocabulary
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.module import Scope, SourceModule, fields, parameters

_MOST_PASSES = 12
_COPIERS = frozenset({"list", "tuple", "sorted", "reversed", "deque", "copy", "deepcopy", "iter", "set", "cast"})
_COPY_METHODS = frozenset({"copy", "model_copy", "__copy__", "__deepcopy__"})
_DUMPS = frozenset({"model_dump", "to_dict", "dict", "model_validate", "asdict", "to_param"})
_TEXTS = (Kind.ARGUMENTS_TEXT, Kind.MODEL_TEXT)
_GROWERS = frozenset({"append", "appendleft", "add", "insert"})
_EXTENDERS = frozenset({"extend", "extendleft"})
_PLAIN = frozenset({cst.Name, cst.SimpleString, cst.Integer, cst.FormattedString, cst.Comparison})
"""The most frequent expressions whose form says nothing."""
_COPYING_METHODS = _COPY_METHODS | _DUMPS
_COPYING_FUNCTIONS = _COPIERS | _DUMPS
_TWO_WAY = frozenset({Kind.HISTORY, Kind.MESSAGE, Kind.CALLS, Kind.CALL})


class Facts:
    """Kinds of slots and expressions of one file. `kinds(expression)` and `calls` are what the rest asks for."""

    def __init__(self, module: SourceModule, vocabulary: Vocabulary) -> None:
        self.module = module
        self.vocabulary = vocabulary
        self.slots = Slots(module)
        self.calls: dict[cst.Call, llm_calls.LLMCall] = {}
        self.call_attributes = words.CALLS_ATTRIBUTES | frozenset(vocabulary.tool_call_attributes)
        self._known: dict[Slot, Kinds] = {}
        self._lists: set[Slot] = set()
        self._elements: dict[Slot, Slot] = {}
        self._changed = False
        self._running: int | None = None
        self._readers: defaultdict[Slot, set[int]] = defaultdict(set)
        self._waiting: set[int] = set()
        self._memo: dict[cst.CSTNode, Kinds] | None = None
        self._solve()

    # -- asking -----------------------------------------------------------------------------------------------

    def of(self, slot: Slot) -> Kinds:
        """What is known of a slot."""
        if self._running is not None:
            self._readers[slot].add(self._running)
        return self._known.get(slot, {})

    def kinds(self, node: cst.BaseExpression) -> Kinds:
        """What the value of an expression is, with evidence for each kind."""
        if self._memo is None:
            return self._evaluate(node)
        found = self._memo.get(node)
        if found is None:
            found = self._memo[node] = self._evaluate(node)
        return found

    def is_kind(self, node: cst.BaseExpression | None, kind: Kind) -> bool:
        return node is not None and kind in self.kinds(node)

    def histories(self) -> list[tuple[Slot, Evidence]]:
        """Slots known to hold a message history."""
        return [(slot, kinds[Kind.HISTORY]) for slot, kinds in self._known.items() if Kind.HISTORY in kinds]

    def all_known(self) -> dict[Slot, Kinds]:
        return self._known

    def read_as_reply(self, call: cst.Call) -> bool:
        """Whether the result of a call of another file is read as a model's reply (`.tool_calls`, `.choices`)."""
        return Kind.REPLY in self.of(("call", call))

    # -- learning ---------------------------------------------------------------------------------------------

    def learn(self, slot: Slot | None, kind: Kind, evidence: Evidence) -> None:
        """Note that a slot is of a kind. The first evidence stays, unless a use replaces what merely flowed in."""
        if slot is None:
            return
        kinds = self._known.setdefault(slot, {})
        known = kinds.get(kind)
        if known is None or (evidence.used and not known.used):
            kinds[kind] = evidence
            self._changed = True
            self._waiting.update(self._readers.get(slot, ()))

    def _learn_all(self, slot: Slot | None, kinds: Kinds, node: cst.CSTNode) -> None:
        """Facts that flow forwards into a slot."""
        if slot is None or not kinds:
            return
        known = self._known.get(slot, {})
        for kind, evidence in kinds.items():
            if kind not in known:
                self.learn(slot, kind, Evidence(evidence.reason, evidence.node, False, evidence.since))

    def _learn_list(self, slot: Slot) -> None:
        """A slot holds a list, whatever is in it."""
        if slot not in self._lists:
            self._lists.add(slot)
            self._waiting.update(self._readers.get(slot, ()))

    def _learn_back(self, value: cst.BaseExpression, kinds: Kinds, via: str, node: cst.CSTNode) -> None:
        """Facts that a use gives to where the value came from."""
        for kind, evidence in kinds.items():
            if evidence.used and kind in _TWO_WAY:
                self.use(value, kind, Evidence(via, node, True, evidence) if via else evidence)

    def use(self, node: cst.BaseExpression, kind: Kind, evidence: Evidence) -> None:
        """A use shows that the value of `node` is of a kind; what is copied or wrapped in it is so too."""
        for part in ex.alternatives(node):
            slot = self.slots.of(part)
            if slot is not None:
                self.learn(slot, kind, evidence)
            for source in sources(part):
                self.use(source, kind, evidence)

    # -- solving ----------------------------------------------------------------------------------------------

    def _solve(self) -> None:
        """Takes the steps in source order, again and again: each only if a slot that it read has changed since."""
        self._learn_instances()
        self._learn_names()
        flows = self._flows()
        scope_of = self.module.scope_of
        steps = [(flows[type(node)], node, scope_of[node]) for node in self.module.nodes_of(*flows)]
        self._waiting.update(range(len(steps)))
        for _ in range(_MOST_PASSES):
            self._changed = False
            for number, (flow, node, scope) in enumerate(steps):
                if number in self._waiting:
                    self._waiting.discard(number)
                    self._running = number
                    flow(node, scope)
            if not self._changed:
                break
        self._running = None
        self._memo = {}

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
            cst.Dict: self._result,
        }

    def _learn_names(self) -> None:
        """The names that the user has listed as histories."""
        for node in self.module.nodes_of(cst.Name, cst.Attribute) if self.vocabulary.history_names else ():
            name = node.attr.value if isinstance(node, cst.Attribute) else getattr(node, "value", "")
            if name in self.vocabulary.history_names:
                self.learn(
                    self.slots.of(node), Kind.HISTORY, Evidence("is listed under history-names", node, used=True)
                )

    def _learn_instances(self) -> None:
        """Which slots hold objects of this file's classes: by annotation, by construction, by `self.x = param`."""
        slots = self.slots
        for function in self.module.functions:
            for param in parameters(function):
                cls = slots.annotated(param.annotation.annotation) if param.annotation else None
                if cls is not None:
                    slots.holds(slots.parameter(function, param.name.value), cls)
            if isinstance(function.node, cst.FunctionDef) and function.node.returns is not None:
                cls = slots.annotated(function.node.returns.annotation)
                if cls is not None:
                    slots.holds(("return", function), cls)
        if not self.module.classes:
            return
        for _ in range(3):
            before = len(slots.classes)
            for node in self.module.nodes_of(cst.AnnAssign, cst.Assign):
                if isinstance(node, cst.AnnAssign):
                    cls = slots.annotated(node.annotation.annotation)
                    slot = slots.of(node.target) if cls is not None else None
                    if cls is not None and slot is not None:
                        slots.holds(slot, cls)
                elif isinstance(node, cst.Assign):
                    self._learn_instance(node)
            if len(slots.classes) == before:
                break

    def _learn_instance(self, node: cst.Assign) -> None:
        for part in ex.alternatives(node.value):
            cls = self.slots.instance(part)
            for target in node.targets if cls is not None else ():
                slot = self.slots.of(target.target)
                if slot is not None and cls is not None and self._holds_object(part):
                    self.slots.holds(slot, cls)

    def _holds_object(self, node: cst.BaseExpression) -> bool:
        """Whether a name stands for an object, not for a class itself."""
        return not (isinstance(node, cst.Name) and self.module.class_named(node.value) is not None)

    # -- flows: one method a kind of syntax -------------------------------------------------------------------

    def _flow(self, target: cst.BaseExpression, value: cst.BaseExpression) -> None:
        """The value of `value` becomes the value of `target`."""
        if isinstance(target, (cst.Tuple, cst.List)):
            self._flow_unpacked(target, value)
            return
        slot = self.slots.of(target)
        if slot is None:
            return
        self._learn_all(slot, self.kinds(value), value)
        self._learn_back(value, self.of(slot), "", value)
        if _is_list(value):
            self._learn_list(slot)
        for key, item in ex.dict_items(value).items():
            inside: Slot = self.slots.member(target, key) or ("member", slot, key)
            self._learn_all(inside, self.kinds(item), item)
            self._learn_back(item, self.of(inside), "", item)

    def _flow_unpacked(self, target: cst.Tuple | cst.List, value: cst.BaseExpression) -> None:
        value = ex.inner(value)
        if isinstance(value, (cst.Tuple, cst.List)) and len(value.elements) == len(target.elements):
            for left, right in zip(target.elements, value.elements, strict=True):
                self._flow(left.value, right.value)
            return
        kinds = self.kinds(value)
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
                    if evidence.used and kind in _TWO_WAY | {Kind.REPLY}:
                        self.learn(part, kind, evidence)

    def _assign(self, node: cst.Assign, scope: Scope) -> None:
        for target in node.targets:
            self._flow(target.target, node.value)
            self._emptied(target.target, node, scope)

    def _emptied(self, target: cst.BaseExpression, node: cst.Assign, scope: Scope) -> None:
        """`agent.messages = []` in a function that then asks `agent.chat(...)`: the name and the question together."""
        if not isinstance(target, cst.Attribute) or not isinstance(node.value, cst.List) or node.value.elements:
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
            pair = ex.member(node.target)
            if pair is not None and pair[1] == "arguments" and not self._is_self(pair[0]):
                self._mark(pair[0], Kind.CALL, Evidence("its `arguments` are put together from pieces", node, True))
            if Kind.HISTORY in kinds and slot is not None:
                evidence = Evidence("has messages added to it", node, True, kinds[Kind.HISTORY])
                self.learn(slot, Kind.HISTORY, evidence)
            self._learn_all(slot, kinds, node.value)
            if Kind.ARGUMENTS in kinds and slot is not None:  # pieces of a streamed input that are put together
                evidence = Evidence("is a tool's input put together from pieces", node, True, kinds[Kind.ARGUMENTS])
                self.learn(slot, Kind.ARGUMENTS_TEXT, evidence)

    def _named(self, node: cst.NamedExpr, scope: Scope) -> None:
        self._flow(node.target, node.value)

    def _loop(self, node: cst.For | cst.CompFor, scope: Scope) -> None:
        target: cst.BaseExpression = node.target
        iterable = node.iter
        if isinstance(iterable, cst.Call) and ex.called_name(iterable) == "enumerate" and iterable.args:
            iterable = iterable.args[0].value
            if isinstance(target, cst.Tuple) and len(target.elements) == 2:
                target = target.elements[1].value
        if isinstance(iterable, cst.Call) and ex.called_name(iterable) in {"items", "values"}:
            base = ex.receiver(iterable)
            if isinstance(target, cst.Tuple) and len(target.elements) == 2:
                target = target.elements[1].value
            if base is not None:
                self._flow_element(target, base, iterable)
            return
        if isinstance(iterable, cst.Call) and ex.called_name(iterable) == "zip" and isinstance(target, cst.Tuple):
            for element, arg in zip(target.elements, iterable.args, strict=False):
                self._flow_element(element.value, arg.value, iterable)
            return
        self._flow_element(target, iterable, iterable)

    def _flow_element(self, target: cst.BaseExpression, iterable: cst.BaseExpression, node: cst.CSTNode) -> None:
        slot = self.slots.of(target) if not isinstance(target, cst.Tuple) else None
        if slot is None:
            return
        kinds = self.kinds(iterable)
        for whole, part in ELEMENT.items():
            if whole in kinds:
                self.learn(slot, part, Evidence("comes from", node, False, kinds[whole]))
        if Kind.MODEL_TEXT in kinds:
            self.learn(slot, Kind.MODEL_TEXT, kinds[Kind.MODEL_TEXT])
        base = self.slots.of(iterable)
        if base is not None:
            self._learn_all(slot, self.of(("item", base)), node)
            self._elements.setdefault(slot, ("item", base))
        for kind, evidence in self.of(slot).items():
            if evidence.used and kind in CONTAINER:
                self.use(iterable, CONTAINER[kind], Evidence(f"holds {kind.value}s", node, True, evidence))

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
        if isinstance(value, cst.Tuple):
            for number, element in enumerate(value.elements):
                part: Slot = ("member", slot, str(number))
                self._learn_all(part, self.kinds(element.value), element.value)
                self._learn_back_reply(element.value, part)
            return
        self._learn_all(slot, self.kinds(value), value)
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

    def _result(self, node: cst.Dict, scope: Scope) -> None:
        """The content of a tool message is a tool's result."""
        content = shapes.tool_result(node)
        if content is not None:
            self.learn(self.slots.of(content), Kind.RESULT, Evidence("is sent as a tool's result", node, used=True))

    def _comparison(self, node: cst.Comparison, scope: Scope) -> None:
        for base, kind, reason in shapes.comparisons(node):
            self._mark(base, kind, Evidence(reason, node, used=True))
        for target in node.comparisons:
            if isinstance(target.operator, cst.Equal):
                tag = ex.text(target.comparator)
                pair = ex.member(node.left)
                if pair and pair[1] in {"stop_reason", "finish_reason"} and tag in {"tool_use", "tool_calls"}:
                    self._mark_reply(pair[0], node, f"its `{pair[1]}` is compared with `{tag}`")

    def _mark(self, base: cst.BaseExpression, kind: Kind, evidence: Evidence) -> None:
        """`base` is a message or a call by use; the list it is an element of is then a history, or calls."""
        if self._is_self(base):
            return
        self.learn(self.slots.of(base), kind, evidence)
        if isinstance(base, cst.Subscript) and ex.integer(ex.index(base)) is not None and kind in CONTAINER:
            self.use(base.value, CONTAINER[kind], Evidence(f"holds {kind.value}s", evidence.node, True, evidence))

    def _mark_reply(self, base: cst.BaseExpression, node: cst.CSTNode, reason: str) -> None:
        slot = self.slots.of(base)
        if slot is not None and not self._is_self(base):
            self.learn(slot, Kind.REPLY, Evidence(reason, node, used=True))
            self._reply_source(slot)

    def _reply_source(self, slot: Slot) -> None:
        """A variable read as a reply makes the call it came from return a reply."""
        for value in self.assigned(slot):
            self.learn(self.slots.of(value), Kind.REPLY, self.of(slot)[Kind.REPLY])

    def assigned(self, slot: Slot) -> list[cst.BaseExpression]:
        """The expressions assigned to a slot anywhere in the file; parts of displays where those are unpacked."""
        return self._values.get(slot, [])

    @cached_property
    def _values(self) -> dict[Slot, list[cst.BaseExpression]]:
        found: dict[Slot, list[cst.BaseExpression]] = {}
        for node in self.module.nodes_of(cst.Assign, cst.AnnAssign, cst.NamedExpr):
            pairs: list[tuple[cst.BaseExpression, cst.BaseExpression]] = []
            if isinstance(node, cst.Assign):
                pairs = [pair for target in node.targets for pair in _pairs(target.target, node.value)]
            elif isinstance(node, (cst.AnnAssign, cst.NamedExpr)) and node.value is not None:
                pairs = [(node.target, node.value)]
            for target, value in pairs:
                slot = self.slots.of(target)
                if slot is not None:
                    found.setdefault(slot, []).append(value)
        return found

    def _is_self(self, base: cst.BaseExpression) -> bool:
        return type(base) is cst.Name and base.value == self.module.self_name(self.module.scope_of[base])

    def _member(self, node: cst.CSTNode, scope: Scope) -> None:
        pair = ex.member(node)
        if pair is None:
            return
        base, name = pair
        if name in self.call_attributes:
            if isinstance(self.module.parent.get(node), cst.AssignTarget) and self._is_self(base):
                return
            self._mark(base, Kind.MESSAGE, Evidence(f"its `{name}` is used", node, used=True))
            self._mark_reply(base, node, f"its `{name}` is read")
        elif name == "tool_call_id" and isinstance(node, cst.Subscript):  # events of user interfaces have the attribute
            self._mark(base, Kind.MESSAGE, Evidence("its `tool_call_id` is used", node, used=True))
        elif name == "choices":
            self._mark_reply(base, node, "its `choices` are read")
        elif name == "arguments":
            inside = ex.member(base)
            if inside is not None and inside[1] == "function":
                self._mark(inside[0], Kind.CALL, Evidence("its `function.arguments` are used", node, used=True))

    # -- calls ------------------------------------------------------------------------------------------------

    def _call(self, node: cst.Call, scope: Scope) -> None:
        self._member(node, scope)
        tested = shapes.type_tests(node)
        if tested is not None:
            self._mark(tested[0], tested[1], Evidence(tested[2], node, used=True))
        found = self.calls.get(node) or llm_calls.recognise(node, self)
        if found is not None:
            self._llm_call(node, found)
        callee = self.slots.callee(node)
        if callee is not None:
            for slot, value in self.slots.bindings(node, callee):
                self._learn_all(slot, self.kinds(value), value)
                self._learn_back(value, self.of(slot), f"is passed to `{callee.name}`", node)
        base = ex.receiver(node)
        if base is not None and callee is None:
            self._growth(node, base)
        for arg in node.args:
            position = words.ARGUMENT_CALLBACKS.get(arg.keyword.value) if arg.keyword is not None else None
            if position is not None:
                self._callback(arg.value, position, node)

    def _callback(self, value: cst.BaseExpression, position: int, node: cst.Call) -> None:
        """A function that a framework calls with a tool's arguments as text."""
        function = self.slots.function(value)
        listed = parameters(function) if function is not None else []
        if function is not None and position < len(listed):
            slot = self.slots.parameter(function, listed[position].name.value)
            self.learn(slot, Kind.ARGUMENTS_TEXT, Evidence("is what the model wrote as a tool's arguments", node))

    def _llm_call(self, node: cst.Call, found: llm_calls.LLMCall) -> None:
        if node not in self.calls:
            self.calls[node] = found
            self._changed = True
        self.learn(("call", node), Kind.REPLY, Evidence(found.reason, node))
        how = f"is sent as `{found.keyword}=` to `{found.name}`" if found.keyword else f"is sent to `{found.name}`"
        evidence = Evidence(how, node, used=True)
        sent = found.history
        if sent is not None and (found.keyword == "messages" or self._listlike(sent)):
            self.use(sent, Kind.HISTORY, evidence)
        for arg in node.args:
            if arg.star == "**":
                slot = self.slots.of(arg.value)
                if slot is not None:
                    inside: Slot = ("member", slot, found.keyword or "messages")
                    if self.of(inside) or self._has_key(slot, found.keyword or "messages"):
                        self.learn(inside, Kind.HISTORY, evidence)

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
        self._learn_list(slot)
        value = given[-1]
        kinds = self.kinds(value)
        if name in _GROWERS:
            for element, container in CONTAINER.items():
                if element in kinds:
                    how = f"has {element.value}s appended to it"
                    self.learn(slot, container, Evidence(how, node, True, kinds[element]))
            self._learn_all(("item", slot), kinds, value)
            known = self.of(slot).get(Kind.HISTORY)
            if known is not None and known.used and not _is_list(value):
                self.use(value, Kind.MESSAGE, Evidence("is appended to a history", node, True, known))
        elif Kind.HISTORY in kinds:
            self.learn(slot, Kind.HISTORY, Evidence("has messages added to it", node, True, kinds[Kind.HISTORY]))

    # -- evaluating expressions -------------------------------------------------------------------------------

    def _evaluate(self, node: cst.BaseExpression) -> Kinds:
        node = ex.inner(node)
        slot = self.slots.of(node)
        found: Kinds = dict(self.of(slot)) if slot is not None else {}
        for kind, evidence in self._form(node).items():
            found.setdefault(kind, evidence)
        if slot is not None and slot[0] == "member" and slot[1] in self._elements:
            # `for c in calls: c["arguments"]`: what was stored under that key of the elements of `calls`
            for kind, evidence in self.of(("member", self._elements[slot[1]], slot[2])).items():
                found.setdefault(kind, evidence)
        return found

    def _form(self, node: cst.BaseExpression) -> Kinds:
        """What the form of an expression adds to what is known of its slot."""
        if type(node) in _PLAIN:
            return {}
        pair = ex.member(node)
        if pair is not None:
            return self._member_kinds(node, *pair)
        if type(node) is cst.Subscript:
            return self._subscript(node)
        if type(node) is cst.Call:
            return self._called(node)
        if isinstance(node, (cst.List, cst.Tuple, cst.Set)):
            return self._display(node)
        if isinstance(node, cst.Dict):
            return self._dict(node)
        if isinstance(node, (cst.ListComp, cst.GeneratorExp)):
            kinds = self.kinds(node.elt)
            return {ELEMENT_OF[k]: Evidence(e.reason, node, False, e) for k, e in kinds.items() if k in ELEMENT_OF}
        if isinstance(node, (cst.BooleanOperation, cst.IfExp)):
            found: Kinds = {}
            for part in ex.alternatives(node):
                for kind, evidence in self.kinds(part).items():
                    found.setdefault(kind, evidence)
            return found
        if isinstance(node, cst.BinaryOperation) and isinstance(node.operator, cst.Add):
            joined = {**self.kinds(node.right), **self.kinds(node.left)}
            wanted = (Kind.HISTORY, Kind.CALLS, Kind.ARGUMENTS_TEXT, Kind.MODEL_TEXT)
            return {kind: evidence for kind, evidence in joined.items() if kind in wanted}
        return {}

    def _member_kinds(self, node: cst.BaseExpression, base: cst.BaseExpression, name: str) -> Kinds:
        def shown(kind: Kind, reason: str, since: Evidence | None = None) -> Kinds:
            return {kind: Evidence(reason, node, since=since)}

        if name in self.call_attributes:
            return shown(Kind.CALLS, f"is a message's `{name}`")
        of = self.kinds(base)
        if name == "function" and Kind.CALL in of:
            return shown(Kind.FUNCTION, "is the function of a tool call", of[Kind.CALL])
        if name == "function_call":
            return shown(Kind.FUNCTION, "is a message's `function_call`")
        if name == "arguments":
            inside = ex.member(base)
            if inside is not None and inside[1] in {"function", "function_call"}:
                return shown(Kind.ARGUMENTS_TEXT, f"is `{inside[1]}.arguments` of a tool call")
            for kind in (Kind.FUNCTION, Kind.CALL):
                if kind in of:
                    return shown(Kind.ARGUMENTS_TEXT, "is the `arguments` of a tool call", of[kind])
        if name == "toolUse":
            return shown(Kind.CALL, "is a message's `toolUse` block")
        if name == "function_calls" and Kind.REPLY in of:
            return shown(Kind.CALLS, "is a reply's `function_calls`", of[Kind.REPLY])
        if words.SAYS_ARGUMENTS.search(name):
            return shown(Kind.ARGUMENTS_TEXT, f"is called `{name}`")
        if name == "partial_json":
            return shown(Kind.ARGUMENTS_TEXT, "is a streamed piece of a tool's input")
        if name in {"input", "args"} and (Kind.CALL in of or Kind.FUNCTION in of):
            return shown(Kind.ARGUMENTS, "is the parsed input of a tool call", of.get(Kind.CALL))
        if name in {"message", "delta"} and _is_choice(base):
            return {**shown(Kind.MESSAGE, "is the message of a reply"), **shown(Kind.REPLY, "is a model's message")}
        if name in {"content", "text", "output_text"} and Kind.REPLY in of:
            return shown(Kind.MODEL_TEXT, "is text that the model wrote", of[Kind.REPLY])
        if Kind.MODEL_TEXT in of:
            return {Kind.MODEL_TEXT: of[Kind.MODEL_TEXT]}
        return {}

    def _subscript(self, node: cst.Subscript) -> Kinds:
        of = self.kinds(node.value)
        if Kind.MODEL_TEXT in of:
            return {Kind.MODEL_TEXT: of[Kind.MODEL_TEXT]}
        if ex.slice_of(node) is not None:
            return {k: Evidence(e.reason, e.node, False, e.since) for k, e in of.items() if k in ELEMENT}
        return {
            ELEMENT[kind]: Evidence("is an element of", node, False, evidence)
            for kind, evidence in of.items()
            if kind in ELEMENT
        }

    def _display(self, node: cst.List | cst.Tuple | cst.Set) -> Kinds:
        found: Kinds = {}
        for element in node.elements:
            kinds = self.kinds(element.value)
            for kind, evidence in kinds.items():
                if isinstance(element, cst.StarredElement):
                    if kind in ELEMENT:
                        found.setdefault(kind, evidence)
                elif kind in CONTAINER:
                    found.setdefault(CONTAINER[kind], Evidence("holds " + kind.value + "s", node, False, evidence))
        return found

    def _dict(self, node: cst.Dict) -> Kinds:
        shape = shapes.message(node)
        if shape is not None:
            return {Kind.MESSAGE: Evidence(shape, node)}
        shape = shapes.tool_call(node)
        if shape is not None:
            return {Kind.CALL: Evidence(shape, node)}
        items = ex.dict_items(node)
        if "arguments" in items and "name" in items and self.is_kind(items["arguments"], Kind.ARGUMENTS_TEXT):
            evidence = Evidence("holds the arguments of a tool call", node, since=None)
            return {Kind.FUNCTION: evidence, Kind.CALL: evidence}
        for element in node.elements:
            if isinstance(element, cst.StarredDictElement) and Kind.MESSAGE in self.kinds(element.value):
                return {Kind.MESSAGE: self.kinds(element.value)[Kind.MESSAGE]}
        return {}

    def _called(self, node: cst.Call) -> Kinds:
        name = ex.called_name(node)
        shape = shapes.message(node)
        if shape is not None:
            return {Kind.MESSAGE: Evidence(shape, node)}
        made = self.slots.constructed(node)
        if made is not None and "role" in made.bound and shapes.made_message(node, fields(made)):
            return {Kind.MESSAGE: Evidence(f"is a `{name}`, which has a role and content", node)}
        if name in words.MODEL_FACTORIES or self._makes_model(node):
            return {Kind.MODEL: Evidence(f"is made by `{name}`", node)}
        found: Kinds = {}
        base = ex.receiver(node)
        for source in sources(node):
            kinds = self.kinds(source)
            found.update({k: e for k, e in kinds.items() if k in _TWO_WAY or k is Kind.ARGUMENTS_TEXT})
        if name in words.TEXT_FUNCTIONS or (name.startswith(("extract", "parse")) and not found):
            found.update(self._text_of(node))
        elif name in {"pop", "popleft"} and base is not None:
            kinds = self.kinds(base)
            found.update({ELEMENT[k]: e for k, e in kinds.items() if k in ELEMENT})
        elif name == "next" and node.args:
            kinds = self.kinds(node.args[0].value)
            found.update({ELEMENT[k]: e for k, e in kinds.items() if k in ELEMENT})
        elif self.decoder(node) is not None and node.args:
            kinds = self.kinds(node.args[0].value)
            if Kind.ARGUMENTS_TEXT in kinds:
                found[Kind.ARGUMENTS] = Evidence("is parsed from", node, False, kinds[Kind.ARGUMENTS_TEXT])
        return found

    def _text_of(self, node: cst.Call) -> Kinds:
        """What a function of text passes on: the kind of its receiver or of an argument."""
        found: Kinds = {}
        base = ex.receiver(node)
        for part in [*([base] if base is not None else []), *ex.positional(node)]:
            kinds = {**self.kinds(part), **self._items_of(part)}
            if Kind.REPLY in kinds and ex.called_name(node) == "str":
                found[Kind.MODEL_TEXT] = Evidence("is a model's reply as text", node, since=kinds[Kind.REPLY])
            found.update({kind: evidence for kind, evidence in kinds.items() if kind in _TEXTS})
        return found

    def _items_of(self, node: cst.BaseExpression) -> Kinds:
        slot = self.slots.of(node)
        return self.of(("item", slot)) if slot is not None else {}

    def _makes_model(self, node: cst.Call) -> bool:
        full = self.module.imports.resolve(ex.dotted(node.func) or "")
        return full.startswith(("langchain", "langgraph")) and ex.called_name(node).startswith(("Chat", "create_react"))

    def decoder(self, node: cst.BaseExpression) -> str | None:
        """The full name of a JSON (or literal) decoder that `node` calls, else None."""
        if not isinstance(node, cst.Call):
            return None
        full = self.module.imports.resolve(ex.dotted(node.func) or "")
        return full if full in words.DECODERS else None

    def encoder(self, node: cst.BaseExpression) -> str | None:
        """The full name of a JSON encoder that `node` calls, else None."""
        if not isinstance(node, cst.Call):
            return None
        full = self.module.imports.resolve(ex.dotted(node.func) or "")
        return full if full in words.ENCODERS else None


ELEMENT_OF = CONTAINER


def sources(node: cst.BaseExpression) -> list[cst.BaseExpression]:
    """What a copy, slice, concatenation or dump is made of: `list(x)`, `x[1:]`, `x + y`, `[*x, m]`, `x.copy()`."""
    if type(node) is cst.Call:
        name = ex.called_name(node)
        if name not in _COPYING_METHODS and name not in _COPYING_FUNCTIONS:
            return []
        base, given = ex.receiver(node), ex.positional(node)
        if name in _COPYING_METHODS and base is not None and not given:
            return [base]
        if name in _COPYING_FUNCTIONS and given:
            return given[-1:] if name == "cast" else given[:1]
        return []
    if type(node) in _PLAIN or type(node) is cst.Attribute:
        return []
    if type(node) is cst.Subscript and ex.slice_of(node) is not None:
        return [node.value]
    if isinstance(node, cst.BinaryOperation) and isinstance(node.operator, cst.Add):
        return [node.left, node.right]
    if isinstance(node, (cst.List, cst.Tuple)):
        return [element.value for element in node.elements if isinstance(element, cst.StarredElement)]
    return []


def _pairs(
    target: cst.BaseExpression, value: cst.BaseExpression
) -> Iterator[tuple[cst.BaseExpression, cst.BaseExpression]]:
    """`a, b = x, y` as (a, x), (b, y); any other assignment as it is."""
    value = ex.inner(value)
    if isinstance(target, (cst.Tuple, cst.List)):
        if isinstance(value, (cst.Tuple, cst.List)) and len(value.elements) == len(target.elements):
            for left, right in zip(target.elements, value.elements, strict=True):
                yield from _pairs(left.value, right.value)
    else:
        yield target, value


def _is_list(node: cst.BaseExpression) -> bool:
    node = ex.inner(node)
    return isinstance(node, (cst.List, cst.ListComp)) or (
        isinstance(node, cst.Call) and ex.called_name(node) in {"list", "deque", "deepcopy", "copy"}
    )


def _is_choice(base: cst.BaseExpression) -> bool:
    """Whether `base` is `x.choices[i]`, or a name for one."""
    if isinstance(base, cst.Subscript):
        pair = ex.member(base.value)
        return pair is not None and pair[1] == "choices"
    return isinstance(base, cst.Name) and "choice" in base.value
