"""Requests that offer tools to the model: which tools, and who has to run them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.calls.sessions import is_asked_in_session
from lint_rules.anatomy.messages.classes import body, made_class
from lint_rules.anatomy.program import handlers
from lint_rules.anatomy.values.kinds import Kind
from lint_rules.anatomy.values.slots import Slot, is_parameter
from lint_rules.anatomy.vocabulary import ENDPOINTS, LANGCHAIN_CALLS
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.memo import kept, once
from lint_rules.syntax.module import Scope, parameters
from lint_rules.syntax.record import record
from lint_rules.syntax.truth import evaluate
from lint_rules.syntax.walk import walk

KEYWORDS = ("tools", "functions", "toolConfig")
"""Under which a request offers tools."""
_BRINGING = frozenset({*KEYWORDS, "cached_content"})
"""What options may have that brings tools."""
_BODIES = frozenset({"json", "data", "body", "extra_body", "config"})
_OF_MODEL = frozenset({"generate_content", "generate_content_async", "generate_content_stream"})
"""Requests that get tools in their `config` (google-genai), or of the model that they ask (google-generativeai)."""
_CHOICES = ("tool_choice", "function_call")
_TAKING = frozenset({"pop", "popitem", "clear", "update"})
NO_TOOLS = frozenset({"NOT_GIVEN", "openai.NOT_GIVEN", "omit", "Omit"})
_SCHEMAS = frozenset(
    {"function", "input_schema", "parameters", "toolSpec", "function_declarations", "functionDeclarations"}
)


Returned = tuple[tuple[str, ...], str]
"""The part of a reply that a function gives back, and its place in a tuple, or ""."""


@record
class Offer:
    """A request with tools. `functions`: they are seen to be functions of this program, not tools of the server.

    `call` is the request, or the call of a function of this file that makes it and returns `parts` of the reply.
    `places`: of a wrapper that gives a tuple, those with the calls of the reply. `maybe`: at times there are no tools.
    """

    call: cst.Call
    tools: cst.BaseExpression
    functions: bool
    request: cst.Call
    parts: frozenset[Returned] = frozenset({((), "")})
    places: frozenset[str] = frozenset()
    maybe: bool = False

    @property
    def what(self) -> str:
        named = isinstance(self.tools, (cst.Name, cst.Attribute)) and not self.carried
        return f"`{ex.source(self.tools, 30)}`" if named else "tools"

    @property
    def carried(self) -> bool:
        """Whether nothing is known of the tools but what brings them: a chat, a model, options."""
        return self.tools is ex.receiver(self.request) or self.tools is ex.argument(self.request, "config")

    def same(self, other: Offer, anatomy: Anatomy) -> bool:
        """Whether two requests offer the same tools, as far as the code says; or what methods of a class get."""
        given, slots = self._given_to(anatomy), anatomy.facts.slots
        if self.carried or other.carried:
            return slots.of(self.tools) is not None and slots.of(self.tools) == slots.of(other.tools)
        return ex.source(self.tools, 200) == ex.source(other.tools, 200) or (
            given is not None and given is other._given_to(anatomy)
        )

    def _given_to(self, anatomy: Anatomy) -> Scope | None:
        """The class whose method gets the tools as a parameter."""
        function, slot = anatomy.module.scope_of[self.request].function, anatomy.facts.slots.of(self.tools)
        return function.owner if slot is not None and is_parameter(slot) else None


def offers(anatomy: Anatomy) -> Iterator[Offer]:
    """The requests of a file that offer tools, in source order."""
    known = _asked_alike(anatomy)
    for call in anatomy.module.nodes_of(cst.Call):
        if call not in anatomy.facts.calls:
            continue
        tools = _tools_of(anatomy, call) or (call if call in known else _carrier(anatomy, call))
        if tools is not None and not _forbidden(anatomy, call):
            maybe = _may_be_none(anatomy, tools)
            functions = _are_functions(anatomy, tools)
            yield Offer(call, tools, functions, call, places=known.get(call, frozenset()), maybe=maybe)


def offer_of_callers(anatomy: Anatomy, offer: Offer, parts: frozenset[Returned]) -> Iterator[Offer]:
    """The calls of the function that asks and gives back some parts of the reply."""
    function, slots = anatomy.module.scope_of[offer.call].function, anatomy.facts.slots
    slot = slots.of(offer.tools)
    for site in anatomy.calls.sites[function]:
        bound = dict(slots.bindings(site.node, function))
        if offer.tools is offer.request and any(map(handlers.is_neutral, _handed_on(anatomy, offer, bound))):
            continue  # what brings the tools is not known: it may be what is left out here
        given = bound.get(slot) if slot is not None else None
        if given is None and slot is not None and is_parameter(slot) and slot[1] is function:
            continue  # its default
        offered = given if given is not None else offer.tools
        if offer.carried and _brings_none(anatomy, offered):
            continue
        maybe, functions = _may_be_none(anatomy, offered), _are_functions(anatomy, offered)
        yield Offer(site.node, offered, functions, offer.request, parts, maybe=maybe)


def _handed_on(anatomy: Anatomy, offer: Offer, bound: dict[Slot, cst.BaseExpression]) -> Iterator[cst.BaseExpression]:
    """What a call of the function that asks gives it, and the defaults of what it leaves out and the request gets."""
    function, slots = anatomy.module.scope_of[offer.call].function, anatomy.facts.slots
    sent = {slots.of(arg.value) for arg in offer.call.args}
    yield from bound.values()
    for param in parameters(function):
        slot = slots.parameter(function, param.name.value)
        if param.default is not None and slot in sent and slot not in bound:
            yield param.default


def is_answered_elsewhere(anatomy: Anatomy, offer: Offer) -> bool:
    """Whether the same tools are put into another request of the file, which has calls in hand: it runs them, then."""
    facts, module = anatomy.facts, anatomy.module
    slot = facts.slots.of(offer.tools)
    if slot is None or not any(Kind.CALL in kinds or Kind.CALLS in kinds for kinds in facts.all_known().values()):
        return False
    here = module.scope_of[offer.request].function
    given = [ex.argument(call, key) for call in module.nodes_of(cst.Call) for key in KEYWORDS]
    given += [ex.dict_items(node).get(key) for node in module.nodes_of(cst.Dict) for key in KEYWORDS]
    members = ((node.value, ex.member(node.targets[0].target)) for node in module.nodes_of(cst.Assign))
    given += [value for value, pair in members if pair is not None and pair[1] in KEYWORDS]
    written, maker = ex.source(offer.tools, 200), facts.slots.of(ex.receiver(offer.tools))
    return any(
        value is not None
        and (facts.slots.of(value) == slot or (maker is not None and ex.source(value, 200) == written))
        and (maker is None or facts.slots.of(ex.receiver(value)) == maker)
        and module.scope_of[value].function is not here
        for value in given
    )


def _asked_alike(anatomy: Anatomy) -> dict[cst.Call, frozenset[str]]:
    """Requests by wrappers, where the model has called tools in the reply to it, or to one written in the same words.

    It was offered some then, whatever the wrapper does; with the places at which the calls are in what it gives.
    """
    written: defaultdict[str, list[cst.Call]] = defaultdict(list)
    for call, request in anatomy.facts.calls.items():
        if request.name not in ENDPOINTS and request.keyword != "messages":
            written[ex.source(call, 400)].append(call)
    places: defaultdict[cst.CSTNode, set[str]] = defaultdict(set)
    for whole, names in places_of_calls(anatomy, anatomy.module.top).items() if written else ():
        for given in _given_by(anatomy, whole):
            places[given] |= names
    groups = [(calls, frozenset().union(*(places[one] for one in calls))) for calls in written.values()]
    return {
        call: found
        for calls, found in groups
        if found or any(_has_calls(anatomy, one) for one in calls)
        for call in calls
    }


@kept
def places_of_calls(anatomy: Anatomy, _: Scope) -> dict[Slot, set[str]]:
    """The objects of a file that have tool calls in a part of theirs, and the names of these parts."""
    found: defaultdict[Slot, set[str]] = defaultdict(set)
    for slot, kinds in anatomy.facts.all_known().items():
        if slot[0] == "member" and Kind.CALLS in kinds:
            found[slot[1]].add(slot[2])
    return found


def may_call_tools(anatomy: Anatomy, request: cst.Call) -> bool:
    """Whether a request offers tools, if only sometimes, or somebody reads the calls of its reply."""
    if _tools_of(anatomy, request) is not None or _has_calls(anatomy, request):
        return True
    put = {key for body in _bodies(anatomy, request) for key in anatomy.facts.members(body)}
    sent = anatomy.facts.calls.get(request)
    put |= {key for key, value in sent.body.items() if not handlers.is_neutral(value)} if sent is not None else set()
    return not put.isdisjoint(KEYWORDS)


def _bodies(anatomy: Anatomy, request: cst.Call) -> Iterator[Slot]:
    """What a request gets, as it is called there, and in the function of this file that has put it together."""
    slots = anatomy.facts.slots
    for sent in (slots.of(arg.value) for arg in request.args):
        if sent is not None:
            yield sent
            makers = (
                slots.callee(made)
                for value in anatomy.facts.assigned(sent)
                if isinstance(made := ex.inner(value), cst.Call)
            )
            given = (node.value for maker in makers if maker is not None for node in maker.nodes_of(cst.Return))
            yield from (slot for value in given if value is not None and (slot := slots.of(value)) is not None)


def _has_calls(anatomy: Anatomy, request: cst.Call) -> bool:
    """Whether the calls of a reply are read."""
    shown = anatomy.facts.evidence(request, Kind.REPLY)
    pairs = [ex.member(evidence.root.node) or ex.asked(evidence.root.node) for evidence in shown]
    return any(pair is not None and pair[1] in anatomy.facts.call_attributes for pair in pairs)


def _given_by(anatomy: Anatomy, whole: Slot) -> list[cst.CSTNode]:
    """The calls whose result is, or may be, in a slot."""
    return [whole[1]] if whole[0] == "call" else [ex.inner(value) for value in anatomy.facts.assigned(whole)]


def _tools_of(anatomy: Anatomy, call: cst.Call) -> cst.BaseExpression | None:
    """The tools that a request offers: `tools` of `[each.schema for each in tools] if tools else None`."""
    value = _offered(anatomy, call)
    if isinstance(value, cst.IfExp) and handlers.is_neutral(value.orelse):
        return _asked_for(anatomy, value.test, value.body) or value
    return value


def _offered(anatomy: Anatomy, call: cst.Call) -> cst.BaseExpression | None:
    request = anatomy.facts.calls.get(call)
    gets_body = request is not None and request.body is not None
    for keyword in KEYWORDS:
        value = ex.argument(call, keyword)
        if value is not None:
            return value
        for arg in call.args:
            is_body = gets_body or arg.star == "**" or (arg.keyword is not None and arg.keyword.value in _BODIES)
            value = _always_holds(anatomy, arg.value, keyword) if is_body else None
            if value is not None:
                return value
    if ex.called_name(call) in LANGCHAIN_CALLS:
        return _bound_to(anatomy, ex.receiver(call))
    found = body(anatomy, call)
    bound = [*found[0].facts.slots.bindings(call, found[1])] if found is not None else []
    sent = _sent_as_tools(*found) if found is not None else ()
    named = next((value for slot, value in bound if slot[-1] in KEYWORDS or slot in sent), None)
    return named or next((tools for arg in call.args for tools in _in_options(anatomy, arg.value)), None)


@once(circular=frozenset[Slot]())
def _sent_as_tools(anatomy: Anatomy, function: Scope) -> frozenset[Slot]:
    """The parameters of a function that requests in it offer as tools, whatever they are called."""
    asked = (call for call in function.nodes_of(cst.Call) if call in anatomy.facts.calls)
    offered = (part for call in asked if (tools := _offered(anatomy, call)) for part in ex.alternatives(tools))
    slots = {slot for part in offered if (slot := anatomy.facts.slots.of_name(part)) is not None}
    return frozenset(slot for slot in slots if is_parameter(slot) and slot[1] is function)


def _in_options(anatomy: Anatomy, value: cst.BaseExpression) -> Iterator[cst.BaseExpression]:
    """The tools of an object of the program, or a dict, that a request of its own gets: `Options(tools=tools)`."""
    made = [ex.inner(each) for each in anatomy.facts.values_of(value) or [value]]
    if all(isinstance(each, cst.Dict) or (isinstance(each, cst.Call) and made_class(anatomy, each)) for each in made):
        yield from filter(None, (_always_holds(anatomy, value, keyword) for keyword in KEYWORDS))


def _always_holds(anatomy: Anatomy, spread: cst.BaseExpression, key: str) -> cst.BaseExpression | None:
    """The value of a key in a dict that is made with it, and out of which nothing is taken later; else None.

    Also one that the dict gets wherever there is such a value: `if tools: request["tools"] = tools`.
    """
    slot = anatomy.facts.slots.of(spread) if isinstance(spread, (cst.Name, cst.Attribute)) else None
    if slot is None:
        return given_in(spread, key)
    made = [given_in(value, key) for value in anatomy.facts.assigned(slot)]
    put = anatomy.facts.members(slot).get(key)
    asked = _tested(anatomy, put) if put is not None else None
    if len(made) != 1 or (put is not None and (made[0] is not None or asked is None)):
        return None
    bases = [part.value for part in anatomy.module.nodes_of(cst.Attribute) if part.attr.value in _TAKING]
    taken = any(anatomy.facts.slots.of(base) == slot for base in bases)
    deleted = any(isinstance(part, cst.Subscript) and anatomy.facts.slots.of(part.value) == slot
                  for node in anatomy.module.nodes_of(cst.Del) for part in walk(node))  # fmt: skip
    return None if taken or deleted else made[0] or asked


def given_in(value: cst.BaseExpression, key: str) -> cst.BaseExpression | None:
    """`{"tools": tools}`, `GenerateContentConfig(tools=tools)`."""
    value = ex.inner(value)
    return ex.argument(value, key) if isinstance(value, cst.Call) else ex.dict_items(value).get(key)


def given_to(anatomy: Anatomy, request: cst.Call, key: str) -> Iterator[cst.BaseExpression]:
    """What a request may be given under a key: as a keyword, in a dict that is spread or put into it."""
    facts = anatomy.facts
    direct = ex.argument(request, key)
    if direct is not None:
        yield from (direct, *facts.values_of(direct))
    for arg in request.args:
        slot = facts.slots.of(arg.value)
        made = [arg.value, *facts.assigned(slot)]
        parts = [given_in(value, key) for value in made]
        parts += [facts.members(slot).get(key)] if slot is not None else []
        yield from (each for part in parts if part is not None for each in (part, *facts.values_of(part)))


def _tested(anatomy: Anatomy, value: cst.BaseExpression) -> cst.BaseExpression | None:
    """What the `if` around a statement asks for, where the value that is used there is made of that."""
    statement = anatomy.module.statement(value)
    outer = next((o for o in anatomy.module.ancestors(statement) if isinstance(o, (cst.If, cst.FunctionDef))), None)
    alone = isinstance(outer, cst.If) and outer.orelse is None
    return _asked_for(anatomy, outer.test, value) if alone and isinstance(outer, cst.If) else None


def _asked_for(anatomy: Anatomy, test: cst.BaseExpression, value: cst.BaseExpression) -> cst.BaseExpression | None:
    """`tools` of `if tools is not None` and `[each.schema for each in tools]`: what is used, if it is there."""
    slots = anatomy.facts.slots
    made_of = {slot for part in walk(value) if ex.reads_place(part) and (slot := slots.of(part)) is not None}
    asked = [part for part in walk(test) if ex.reads_place(part) and slots.of(part) in made_of]
    is_there = evaluate(test, lambda each: slots.of(each) in made_of or None)
    return asked[0] if asked and is_there else None


def _carrier(anatomy: Anatomy, call: cst.Call) -> cst.BaseExpression | None:
    """What brings the tools of a request, if any: the replies to all requests with it show whether there are some.

    The chat that goes on, the model that was bound to them, or the options that the request gets as they are. A request
    that names its model asks a client, which has no tools by itself (google-genai, `Models.generate_content`).
    """
    name, options = ex.called_name(call), ex.argument(call, "config")
    of_client = ex.argument(call, "model") is not None
    if is_asked_in_session(anatomy, call) or name in LANGCHAIN_CALLS:
        return ex.receiver(call)
    if name not in _OF_MODEL:
        return None
    if options is not None and _brings_none(anatomy, options):
        return None
    return options if options is not None or of_client else ex.receiver(call)


def _brings_none(anatomy: Anatomy, options: cst.BaseExpression) -> bool:
    """Whether options are seen to be made, and none of those that bring tools is among them, nor is set later."""
    slot = anatomy.facts.slots.of(options)
    made = [ex.inner(value) for value in anatomy.facts.values_of(options) or [options]]
    put = anatomy.facts.members(slot) if slot is not None else {}
    return put.keys().isdisjoint(_BRINGING) and all(map(_is_made_without, made))


def _is_made_without(value: cst.BaseExpression) -> bool:
    """`Config(temperature=0.2)`, `{"temperature": 0.2}`: all that is in it is said there."""
    if isinstance(value, cst.Call):
        named = [arg.keyword.value if arg.keyword is not None else None for arg in value.args]
        return ex.called_name(value)[:1].isupper() and not {None, *_BRINGING}.intersection(named)
    keys = [ex.text(each.key) if isinstance(each, cst.DictElement) else None for each in getattr(value, "elements", ())]
    return isinstance(value, cst.Dict) and not {None, *_BRINGING}.intersection(keys)


def _bound_to(anatomy: Anatomy, model: cst.BaseExpression | None) -> cst.BaseExpression | None:
    """The tools of `model = llm.bind_tools(tools)`."""
    if model is None:
        return None
    made = [model, *anatomy.facts.values_of(model)]
    for value in made:
        value = ex.inner(value)
        if isinstance(value, cst.Call) and ex.called_name(value) == "bind_tools" and value.args:
            return None if _forbidden(anatomy, value) else value.args[0].value
    return None


def _forbidden(anatomy: Anatomy, call: cst.Call) -> bool:
    """Whether a request says which tool may be called, or may say so in what is spread."""
    choices = [choice for keyword in _CHOICES if (choice := ex.argument(call, keyword)) is not None]
    for arg in call.args if not choices else ():
        slot = anatomy.facts.slots.of(arg.value) if arg.star == "**" else None
        parts = [ex.dict_items(value) for value in (arg.value, *anatomy.facts.assigned(slot))]
        choices += [items[keyword] for items in parts for keyword in _CHOICES if keyword in items]
        choices += [put for keyword in _CHOICES if slot for put in anatomy.facts.assigned(("member", slot, keyword))]
    said = [choice for choice in choices if ex.text(ex.dict_items(choice).get("type", choice)) != "auto"]
    return bool(said) and _is_always_said(anatomy, call, said)


def _is_always_said(anatomy: Anatomy, call: cst.Call, said: list[cst.BaseExpression]) -> bool:
    """Whether no way leads to a request but over what is said: not so `if first: request["tool_choice"] = "any"`."""
    function = anatomy.module.scope_of[call].function
    if any(anatomy.module.scope_of[each].function is not function for each in said):
        return True
    graph, goals, over = anatomy.flow(function), *({*anatomy.points(function, nodes)} for nodes in ([call], said))
    return not graph.reaches([graph.entry], goals - over, over, exceptions=False)


def may_withdraw(anatomy: Anatomy, offered: cst.BaseExpression, seen: frozenset[cst.CSTNode] = frozenset()) -> bool:
    """Whether tools, or what is said of their choice, may come to none at all; so does what cannot be read here.

    Where one of several tools is left out, the model may go on and call the others.
    """
    value = ex.inner(offered)
    if value in seen:
        return False
    seen |= {value}
    parts = [*ex.alternatives(value)]
    if len(parts) > 1:
        return any(may_withdraw(anatomy, part, seen) for part in parts)
    if isinstance(value, cst.List):
        starred = (each.value for each in value.elements if isinstance(each, cst.StarredElement))
        return all(isinstance(each, cst.StarredElement) for each in value.elements) and all(
            may_withdraw(anatomy, each, seen) for each in starred
        )
    if isinstance(value, cst.ListComp) and all(_leaves_out_one(test.test) for test in value.for_in.ifs):
        return may_withdraw(anatomy, value.for_in.iter, seen)
    if isinstance(value, cst.BaseString):
        return ex.text(value) == "none"
    found = body(anatomy, value) if isinstance(value, cst.Call) else None
    elsewhere = anatomy.imported_value(ex.dotted(value) or "") if ex.reads_place(value) else None
    there, slot = elsewhere or (anatomy, anatomy.facts.slots.of(value))
    made = found[1].returned if found is not None else there.facts.assigned(slot)
    there = found[0] if found is not None else there
    return not made or any(may_withdraw(there, each, seen) for each in made)


def _leaves_out_one(test: cst.BaseExpression) -> bool:
    """`tool is not SEARCH`, `tool.name != "search"`."""
    return isinstance(test, cst.Comparison) and all(
        isinstance(target.operator, (cst.IsNot, cst.NotEqual)) for target in test.comparisons
    )


@once(circular=True)
def _may_be_none(anatomy: Anatomy, tools: cst.BaseExpression) -> bool:
    """Whether the request may offer nothing: an empty value, a condition, a parameter that need not be given."""
    if handlers.is_neutral(tools) or ex.dotted(tools) in NO_TOOLS or len(list(ex.alternatives(tools))) > 1:
        return True
    if not isinstance(tools, cst.Name):
        return False
    owner = anatomy.module.scope_binding(anatomy.module.scope_of[tools], tools.value)
    if owner is None:
        return False
    if any(param.name.value == tools.value and param.default is not None for param in parameters(owner)):
        return not _given(anatomy, owner, tools.value)
    values = anatomy.facts.values_of(tools)
    return any(handlers.is_neutral(v) and not isinstance(v, (cst.List, cst.Tuple)) for v in values) or any(
        len(list(ex.alternatives(v))) > 1 for v in values
    )


def _given(anatomy: Anatomy, function: Scope, name: str) -> bool:
    """Whether a caller in this file passes something for a parameter, which is no parameter that need not be given."""
    slot = anatomy.facts.slots.parameter(function, name)
    given = (value for value in anatomy.facts.given(slot) if not handlers.is_neutral(value))
    return any(not isinstance(value, cst.Name) or not _may_be_none(anatomy, value) for value in given)


def _are_functions(anatomy: Anatomy, tools: cst.BaseExpression) -> bool:
    """Whether the schemas of functions can be seen, through names and sums of lists."""
    lists, elements, seen = [tools], list[cst.BaseExpression](), set[cst.CSTNode]()
    for found in (ex.inner(each) for each in lists):
        if found in seen:
            continue
        seen.add(found)
        if isinstance(found, cst.BinaryOperation):
            lists += [found.left, found.right]
        elif isinstance(found, cst.List):
            lists += [each.value for each in found.elements if isinstance(each, cst.StarredElement)]
            elements += [each.value for each in found.elements if not isinstance(each, cst.StarredElement)]
        else:
            lists += anatomy.facts.values_of(found)
    return bool(elements) and all(_is_schema(anatomy, element) for element in elements)


def _is_schema(anatomy: Anatomy, element: cst.BaseExpression) -> bool:
    made = [ex.inner(value) for value in (element, *anatomy.facts.values_of(element))]
    keys = (ex.keywords(value) if isinstance(value, cst.Call) else ex.dict_items(value) for value in made)
    return any(not _SCHEMAS.isdisjoint(each) for each in keys)
