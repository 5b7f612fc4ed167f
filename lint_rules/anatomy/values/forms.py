"""What the form of an expression says of its value, beside what is known of the slot it reads."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from functools import cached_property, lru_cache

import libcst as cst

from lint_rules.anatomy import vocabulary as words
from lint_rules.anatomy.values import shapes
from lint_rules.anatomy.values.kinds import CONTAINER, ELEMENT, Evidence, Kind, Kinds
from lint_rules.anatomy.values.known import COPYING, PLAIN, TWO_WAY, Known, sources
from lint_rules.anatomy.values.said import come_from
from lint_rules.anatomy.values.slots import Slot
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.memo import kept
from lint_rules.syntax.module import fields, parameter_names
from lint_rules.syntax.names import written
from lint_rules.syntax.walk import walk
from lint_rules.syntax.word import meaning

_COPIED = TWO_WAY | {
    Kind.FUNCTION, Kind.ARGUMENTS, Kind.ARGUMENTS_TEXT, Kind.CALLED_HISTORY, Kind.CALLED_MESSAGE,
}  # fmt: skip
_WHOLE = frozenset({Kind.REPLY, Kind.MESSAGE, Kind.CALL, Kind.FUNCTION})
_FILLERS = frozenset({"model_validate", "parse_obj", "from_dict", "structure"})
_DECODERS = frozenset(name.rpartition(".")[2] for name in words.DECODERS) | words.DECODING_METHODS
_ENCODERS = frozenset(name.rpartition(".")[2] for name in words.ENCODERS)
_TEXT_STARTS = ("extract", "parse")
_MODEL_STARTS = ("Chat", "create_react")
_SESSION_ENDS = frozenset(name.rpartition(".")[2] for name in words.SESSION_FACTORIES)
_BODIES = frozenset({"json", "read", "decode"})
"""Methods that give what an HTTP response holds."""
_TELLING = frozenset(
    {"dict", "next", "pop", "popleft", "replace", "load"}
    | _BODIES
    | words.MESSAGE_CLASSES
    | words.MODEL_FACTORIES
    | words.TEXT_FUNCTIONS
    | COPYING
    | _DECODERS
    | _FILLERS
)
_TELLING_STARTS = (*_TEXT_STARTS, *_MODEL_STARTS)
_TEXTS = (Kind.ARGUMENTS_TEXT, Kind.MODEL_TEXT)


class Forms(Known):
    """Evaluates expressions, one method a form."""

    @cached_property
    def said(self) -> frozenset[Slot]:
        """The places, calls among them, of which a part or all is kept as said by the model."""
        return come_from(self)

    def _evaluate(self, node: cst.BaseExpression) -> Kinds:
        node = ex.inner(node)
        slot = self.slots.of(node)
        known, told = self.of(slot) if slot is not None else {}, self._form(node)
        if type(node) is cst.Call and slot is not None and slot[0] == "return" and not known.keys().isdisjoint(_TEXTS):
            known = {kind: shown for kind, shown in known.items() if not self._is_of_other(node, kind, shown)}
        found: Kinds = {**known, **told, **known} if known else told
        if slot is not None and slot[0] == "member" and slot[1] in self._elements:
            # `for c in calls: c["arguments"]`: what was stored under that key of the elements of `calls`
            found = {**found, **self.of(self.slots.part(self._elements[slot[1]], slot[2])), **found}
        return {kind: found[kind] for kind in _TEXTS if kind in found} if node in self.told(("str", True)) else found

    @kept
    def told(self, told: tuple[str, bool]) -> frozenset[cst.CSTNode]:
        """What is read where a test has told that it is of a class, or is not: `if isinstance(content, str): ...`."""
        name, holds = told
        tests = (c for c in self.module.nodes_of(cst.Call) if ex.dotted(c.func) == "isinstance" and len(c.args) == 2)
        asked = [(c, c.args[0].value, self.module.parent[c]) for c in tests if ex.dotted(c.args[1].value) == name]
        branches = (
            (what, outer.body if holds else outer.orelse)
            for call, what, outer in asked
            if isinstance(outer, (cst.If, cst.IfExp)) and outer.test is call
        )
        return frozenset(
            node
            for what, branch in branches
            for node in (walk(branch) if branch is not None else ())
            if type(node) is type(what) and ex.source(node) == ex.source(what)
        )

    def _is_of_other(self, call: cst.Call, kind: Kind, shown: Evidence) -> bool:
        """Whether a text that a function gives back is one that it was handed by another call."""
        callee = self.slots.callee(call)
        if kind not in _TEXTS or callee is None:
            return False
        given = (self.slots.parameter(callee, name) for name in parameter_names(callee))
        handed = (self.of(slot).get(kind) for slot in given)
        same = any(each is not None and each.root.node is shown.root.node for each in handed)
        return same and not any(kind in self.kinds(arg.value) for arg in call.args)

    def _form(self, node: cst.BaseExpression) -> Kinds:
        """What the form of an expression adds to what is known of its slot."""
        if type(node) in PLAIN:
            return {}
        pair = ex.member(node)
        if pair is not None:
            return self._member_kinds(node, *pair)
        if type(node) is cst.Subscript:
            return self._subscript(node)
        if type(node) is cst.Call:
            return self._called(node)
        if type(node) is cst.List or type(node) is cst.Tuple or type(node) is cst.Set:
            return self._display(node)
        if type(node) is cst.Dict:
            return self._dict(node)
        if type(node) is cst.ListComp or type(node) is cst.GeneratorExp:
            kinds = self.kinds(node.elt)
            parts = CONTAINER.keys() - ({Kind.CALL} if picks_others(node) else set())
            found = {CONTAINER[k]: Evidence(e.reason, node, False, e) for k, e in kinds.items() if k in parts}
            said = {Kind.MODEL_TEXT: kinds[Kind.MODEL_TEXT]} if Kind.MODEL_TEXT in kinds else {}
            return found if Kind.CALLS in found else {**said, **found}
        if type(node) is cst.BooleanOperation or type(node) is cst.IfExp:
            found = {}
            for part in ex.alternatives(node):
                for kind, evidence in self.kinds(part).items():
                    found.setdefault(kind, evidence)
            return found
        if type(node) is cst.BinaryOperation and type(node.operator) is cst.BitOr:  # LangChain: what goes into a model
            asked = self.kinds(node.right)
            return {Kind.MODEL: asked[Kind.MODEL]} if Kind.MODEL in asked else {}
        if type(node) is cst.BinaryOperation and type(node.operator) is cst.Add:
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
        if name in {"function_call", "functionCall"} and self._is_one_of(base, "parts"):
            return shown(Kind.CALL, f"is a part's `{name}`")
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
        if words.says_arguments(name):
            return shown(Kind.ARGUMENTS_TEXT, f"is called `{name}`")
        if name == "partial_json":
            return shown(Kind.ARGUMENTS_TEXT, "is a streamed piece of a tool's input")
        if name in {"input", "args"} and (Kind.CALL in of or Kind.FUNCTION in of):
            return shown(Kind.ARGUMENTS, "is the parsed input of a tool call", of.get(Kind.CALL))
        if name in {"message", "delta"} and self._is_one_of(base, "choices"):
            return {**shown(Kind.MESSAGE, "is the message of a reply"), **shown(Kind.REPLY, "is a model's message")}
        whole = self._part_named(base)
        asked = self._asked(whole).get(Kind.REPLY) if _is_reply_message(whole, name) else None
        if asked is None and name == "content":
            asked = next((known[Kind.REPLY] for known in self._with(base, "candidates") if Kind.REPLY in known), None)
        if asked is not None:
            told = shown(Kind.REPLY, "is a model's message", asked)
            return {**shown(Kind.MESSAGE, "is the message of a reply"), **told}
        if Kind.REPLY in of and name in {"content", "text", "output_text"}:
            return shown(Kind.MODEL_TEXT, "is text that the model wrote", of[Kind.REPLY])
        if (reply := self._holder(base, name)) is not None:
            return shown(Kind.MODEL_TEXT, "is text that the model wrote", reply)
        said = self._with(base, "parts") if name == "text" else ()
        if (whole_reply := next((known[Kind.REPLY] for known in said if Kind.REPLY in known), None)) is not None:
            return shown(Kind.MODEL_TEXT, "is text of a part of what the model wrote", whole_reply)
        if name == "content" and Kind.CALL in of and self._is_one_of(base, "output"):
            return shown(Kind.MODEL_TEXT, "is text beside the calls of a reply", of[Kind.CALL])
        if Kind.MODEL_TEXT in of:
            return {Kind.MODEL_TEXT: of[Kind.MODEL_TEXT]}
        return {}

    def _holder(self, base: cst.BaseExpression, name: str) -> Evidence | None:
        """The reply that holds its text under a name, itself or in an object in it: `answer.said.text`.

        As the function of another file says that gives it.
        """
        pair: tuple[cst.BaseExpression, str] | None = (base, name)
        path = ""
        while pair is not None:
            path = ".".join([pair[1], path] if path else [pair[1]])
            reply = self.kinds(pair[0]).get(Kind.REPLY)
            asked = self.calls.get(reply.root.node) if reply is not None else None  # type: ignore[call-overload]
            if asked is not None and path in asked.texts:
                return reply
            pair = ex.member(self._part_named(pair[0])) if asked is None else None
        return None

    def _is_one_of(self, node: cst.BaseExpression, field: str) -> bool:
        """Whether a value is an element of what lies under a field: `part` of `content.parts`, by whatever names.

        A content of Gemini has `parts` (Gemini API reference, `Part`), a chat completion `choices` (OpenAI's).
        """
        return any(True for _ in self._owners(node, field))

    def _with(self, node: cst.BaseExpression, field: str) -> Iterator[Kinds]:
        """What is known of the values that have the field of which `node` is an element."""
        for owner in self._owners(node, field):
            yield self._asked(owner) if isinstance(owner, cst.BaseExpression) else self.of(owner)

    def _owners(self, node: cst.BaseExpression, field: str) -> Iterator[cst.BaseExpression | Slot]:
        """The values that have the field of which `node` is an element: each as it is written, or as a place."""
        slot = self.slots.of(node)
        listed = self._elements.get(slot, slot) if slot is not None else None
        if type(node) is cst.Subscript:
            yield from _having(node.value, field)
        if listed is not None and listed[0] == "item":
            if listed[1][0] == "member" and listed[1][2] == field:
                yield listed[1][1]
            for value in self._held_by(listed[1]):
                yield from _having(value, field)
        elif slot is not None:
            for value in map(ex.inner, self.assigned(slot)):
                yield from self._owners(value, field) if type(value) is cst.Subscript else ()

    def _held_by(self, place: Slot) -> Iterator[cst.BaseExpression]:
        """What a place may hold, by whatever names, parameters and functions of this file it came there."""
        queue = [place]
        for slot in queue:
            given_back = slot[1].returned if slot[0] == "return" else ()
            for value in (*self.assigned(slot), *self.given(slot), *given_back):
                yield value
                came = (self.slots.of(part) for part in _copied(value))
                queue += [each for each in dict.fromkeys(came) if each is not None and each not in queue]

    def _part_named(self, node: cst.BaseExpression) -> cst.BaseExpression:
        """`reply.get("output")`, of a name for it; where that is a part of another name."""
        slot = self.slots.of_name(node)
        values = self.assigned(slot) if slot is not None else []
        pair = ex.member(values[0]) if len(values) == 1 else None
        return values[0] if pair is not None and type(pair[0]) is cst.Name and self.slots.of(pair[0]) != slot else node

    def _asked(self, node: cst.BaseExpression) -> Kinds:
        """What is known of the reply that `node` is a part of: `response` in `response["output"]["message"]`."""
        pair = ex.member(node)
        while pair is not None or type(node) is cst.Subscript:
            node = pair[0] if pair is not None else node.value  # type: ignore[attr-defined]
            pair = ex.member(node)
        return self.kinds(node)

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
        found: dict[Kind, Evidence] = {}
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
        parts = self._parts_of_call(items)
        if parts is not None:
            return {Kind.CALL: Evidence("holds the parts of a tool call", node, since=parts)}
        for element in node.elements:
            if isinstance(element, cst.StarredDictElement) and Kind.MESSAGE in self.kinds(element.value):
                return {Kind.MESSAGE: self.kinds(element.value)[Kind.MESSAGE]}
        return {}

    def _parts_of_call(self, items: dict[str, cst.BaseExpression]) -> Evidence | None:
        """What shows a dict to hold the name or id of a call and its arguments, whatever the keys, and only its parts.

        What has a result beside them is a record of what was done.
        """
        shown: Evidence | None = None
        is_told = False
        for value in items.values():
            kinds, pair = self.kinds(value), ex.member(value)
            of = self.kinds(pair[0]) if pair is not None else {}
            told = kinds.get(Kind.ARGUMENTS) or kinds.get(Kind.ARGUMENTS_TEXT)
            if told is None and Kind.CALL not in of and Kind.FUNCTION not in of and ex.text(value) is None:
                return None
            shown = shown or told
            is_told = is_told or (pair is not None and pair[1] in {"id", "call_id", "name"} and Kind.CALL in of)
        return shown if is_told else None

    def _called(self, node: cst.Call) -> Kinds:
        name = ex.called_name(node)
        module = self.module
        if not (_may_tell(name) or name in module.imports.full or module.class_named(name) is not None):
            return {}
        shape = shapes.message(node)
        if shape is not None:
            return {Kind.MESSAGE: Evidence(shape, node)}
        made = self.slots.constructed(node)
        if made is not None and "role" in made.bound and shapes.made_message(node, fields(made)):
            return {Kind.MESSAGE: Evidence(f"is a `{name}`, which has a role and content", node)}
        if meaning(name) == "class of call":
            return {Kind.CALL: Evidence(f"is a `{name}`, whose fields are those of a tool call", node)}
        if name in words.MODEL_FACTORIES or self._makes_model(node):
            return {Kind.MODEL: Evidence(f"is made by `{name}`", node)}
        found: dict[Kind, Evidence] = {}
        base = ex.receiver(node)
        for source in sources(node):
            kinds = self.kinds(source)
            found.update({k: e for k, e in kinds.items() if k in _COPIED})
        filled = _filled_with(node)
        if filled is not None:
            kinds = self.kinds(filled)
            found.update({k: Evidence("is filled with", node, False, e) for k, e in kinds.items() if k in _WHOLE})
        if name in _BODIES and base is not None and Kind.REPLY in (kinds := self.kinds(base)):
            found[Kind.REPLY] = Evidence("is the body of", node, False, kinds[Kind.REPLY])
        elif name in words.TEXT_FUNCTIONS or (name.startswith(_TEXT_STARTS) and not found):
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
            elif Kind.REPLY in kinds:
                found[Kind.REPLY] = Evidence("is parsed from", node, False, kinds[Kind.REPLY])
        elif node.args and self._full_name(node, {"load"}) in words.READERS:
            reply = self.kinds(node.args[0].value).get(Kind.REPLY)
            found.update({Kind.REPLY: Evidence("is read from", node, False, reply)} if reply is not None else {})
        return found

    def _text_of(self, node: cst.Call) -> Kinds:
        """What a function of text passes on: the kind of its receiver or of an argument."""
        found: dict[Kind, Evidence] = {}
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
        if (ex.dotted(node.func) or ex.called_name(node)).endswith(words.SESSION_FACTORIES):
            return True
        if not ex.called_name(node).startswith(_MODEL_STARTS):
            return False
        return self.module.full_name(node.func).startswith(("langchain", "langgraph"))

    def decoder(self, node: cst.BaseExpression) -> str | None:
        """The full name of a JSON (or literal) decoder that `node` calls, that of a method alone, else None."""
        if type(node) is cst.Call and (name := ex.called_name(node)) in words.DECODING_METHODS:
            return name
        full = self._full_name(node, _DECODERS)
        return full if full in words.DECODERS else None

    def encoder(self, node: cst.BaseExpression) -> str | None:
        """The full name of a JSON encoder that `node` calls, else None."""
        full = self._full_name(node, _ENCODERS)
        return full if full in words.ENCODERS else None

    def _full_name(self, node: cst.BaseExpression, last_names: Collection[str]) -> str | None:
        """What `node` calls, if that has one of these last names, or is imported: most calls are told by that."""
        if type(node) is not cst.Call:
            return None
        name, imports = ex.called_name(node), self.module.imports
        if name not in last_names and name not in imports.full:
            return None
        return imports.resolve(ex.dotted(node.func) or "")

    @cached_property
    def has_bodies(self) -> bool:
        """Whether the file puts `messages` and parameters into a dict or an object, as requests over plain HTTP do."""
        made = self.module.nodes_of(cst.Dict, cst.Call)
        return any(words.is_body(ex.made_of(node) or ex.dict_items(node)) for node in made)

    @cached_property
    def endpoint_names(self) -> frozenset[str]:
        """The last names by which the file may call an endpoint."""
        return written(words.ENDPOINT_ENDS, self.module.imports.full)


def _filled_with(node: cst.Call) -> cst.BaseExpression | None:
    """What an object has all its fields from, under their own names: `Reply(**body)`, `Reply.model_validate(body)`.

    Source: the pydantic documentation, "Models" ("Validating data").
    """
    only = node.args[0] if len(node.args) == 1 else None
    if only is None or not (
        ex.called_name(node)[:1].isupper() if only.star == "**" else ex.called_name(node) in _FILLERS
    ):
        return None
    return only.value if only.star in {"", "**"} else None


@lru_cache(maxsize=4096)
def _may_tell(name: str) -> bool:
    """Whether the name of a function or class may tell what it gives back."""
    return name in _TELLING or name in _SESSION_ENDS or name[:1].isupper() or name.startswith(_TELLING_STARTS)


def _is_reply_message(base: cst.BaseExpression, name: str) -> bool:
    """Bedrock's `["output"]["message"]`, Ollama's `["message"]`."""
    inside = ex.member(base)
    return name == "message" and (inside is None or inside[1] == "output")


def _having(listed: cst.BaseExpression, field: str) -> Iterator[cst.BaseExpression]:
    """`data` of `(data.get("choices") or [{}])`, `list(data.choices)`: what has a list under a field."""
    pairs = (ex.member(part) for part in _copied(listed))
    yield from (pair[0] for pair in pairs if pair is not None and pair[1] == field)


def _copied(listed: cst.BaseExpression) -> Iterator[cst.BaseExpression]:
    """What a list is, or a copy of: both of `list(one) or other`."""
    for part in ex.alternatives(listed):
        yield part
        for source in sources(part):
            yield from _copied(source)


def picks_others(node: cst.CSTNode | None) -> bool:
    """`[part for part in content if part.type == "text"]`: what is picked by another type, or for its, is no call."""
    queue = [test.test for test in node.for_in.ifs] if isinstance(node, (cst.ListComp, cst.GeneratorExp)) else []
    for test in queue:
        if isinstance(test, cst.BooleanOperation) and isinstance(test.operator, cst.And):
            queue += [test.left, test.right]
        elif isinstance(test, cst.Comparison) and len(test.comparisons) == 1:
            left, operator, right = ex.compared(test)
            pair, told = ex.member(left), ex.text(right)
            if pair is not None and pair[1] == "type" and told is not None:
                if isinstance(operator, cst.NotEqual if words.may_mark_a_call(told) else cst.Equal):
                    return True
    return False
