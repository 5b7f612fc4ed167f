"""Tool dispatch: how a parsed value shows, by what is done with it, that a model wrote it as a tool call."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from lint_rules.anatomy import vocabulary as words
from lint_rules.anatomy.values.facts import Facts
from lint_rules.anatomy.values.kinds import Evidence
from lint_rules.anatomy.values.said import origins
from lint_rules.anatomy.values.slots import Slot
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.memo import kept
from lint_rules.syntax.module import Scope, parameters

_TOOL_KEYS = frozenset({"name", "tool", "tool_name", "action", "function", "function_name"})
_ARGUMENT_KEYS = frozenset({"arguments", "args", "parameters", "params", "input", "action_input", "kwargs"})
_REQUESTED = _TOOL_KEYS | _ARGUMENT_KEYS


def reads_tool_request(facts: Facts, call: cst.Call) -> bool:
    """Whether a parsed value is read as a request: for calls, or by a tool's name and by arguments or its look-up.

    There, or where it goes to, in lists and through functions of the file.
    """
    statement = facts.module.statement(call)
    bound = facts.slots.of(statement.targets[0].target) if isinstance(statement, cst.Assign) else None
    return not _requested(facts, facts.module.top).isdisjoint({facts.slots.of(call), bound} - {None})


@kept
def _requested(facts: Facts, top: Scope) -> frozenset[Slot]:
    """The places of a module from which comes what is read as a request to run a tool."""
    return origins(facts, _requests(facts))


def _requests(facts: Facts) -> Iterator[cst.BaseExpression]:
    read: dict[Slot, dict[str, cst.BaseExpression]] = {}
    asked = _REQUESTED | facts.call_attributes
    for node in facts.module.nodes_of(cst.Attribute, cst.Subscript, cst.Call):
        pair = ex.member(node)
        slot = facts.slots.of(pair[0]) if pair is not None and pair[1] in asked else None
        if slot is not None and pair is not None:
            read.setdefault(slot, {}).setdefault(pair[1], pair[0])
            if pair[1] in _TOOL_KEYS and _selects(facts, node, facts.module.scope_of[node].function):
                read[slot][""] = pair[0]
    yield from _keys_of_tools(facts)
    for parts in (ex.made_of(node) for node in facts.module.nodes_of(cst.Dict, cst.Call)):
        tools, given = (_wholes(facts, parts, keys) for keys in (_TOOL_KEYS, _ARGUMENT_KEYS))
        yield from (whole for slot, whole in tools.items() if slot in given)
    for keys in read.values():
        named = not _TOOL_KEYS.isdisjoint(keys) and ("" in keys or not _ARGUMENT_KEYS.isdisjoint(keys))
        if named or not facts.call_attributes.isdisjoint(keys):
            yield next(iter(keys.values()))


def _wholes(facts: Facts, parts: dict[str, cst.BaseExpression], keys: frozenset[str]) -> dict[Slot, cst.BaseExpression]:
    """What values under some keys are members of: `step` of `{"name": step.tool, "args": step.given or {}}`."""
    told = (ex.member(part) for key in keys & parts.keys() for part in ex.alternatives(parts[key]))
    return {slot: pair[0] for pair in told if pair is not None and (slot := facts.slots.of(pair[0])) is not None}


def _keys_of_tools(facts: Facts) -> Iterator[cst.BaseExpression]:
    """The keys by which functions are looked up that are called: `TABLE[step["do"]](...)`."""
    for call in facts.module.nodes_of(cst.Call):
        yield from (key for _, key in _picks(facts, call.func))


def _picks(facts: Facts, func: cst.BaseExpression) -> Iterator[tuple[cst.BaseExpression, cst.BaseExpression]]:
    """The tables out of which something is picked that a name or an expression stands for, and the keys.

    `TABLE[name]`, `self.tools.get(name)`, `getattr(toolbox, name)`.
    """
    for picked in (func, *facts.assigned(facts.slots.of_name(func))):
        for part in map(ex.inner, ex.alternatives(picked)):
            if isinstance(part, cst.Subscript) and (key := ex.index(part)) is not None:
                yield part.value, key
            elif isinstance(part, cst.Call) and ex.called_name(part) in {"get", "getattr"} and part.args:
                base, given = ex.receiver(part), ex.positional(part)
                if (base or given[1:]) and given:
                    yield (base, given[0]) if base is not None else (given[0], given[1])


def makes_call_with(facts: Facts, call: cst.Call, function: Scope) -> bool:
    """Whether a parsed value becomes the arguments of a call that is put together here, with a name from elsewhere.

    `{"name": found.group(1), "arguments": json.loads(found.group(2))}`: what is parsed stands where a tool is named, or
    beside something else out of one match; or it goes to a function that a table has.
    """
    statement = facts.module.statement(call)
    target = statement.targets[0].target if isinstance(statement, cst.Assign) else None
    bound = facts.slots.of(target)
    made = [ex.made_of(node) for node in function.nodes_of(cst.Dict, cst.Call)]
    for parts in (*made, _put_beside(facts, target, function)):
        alike = {key: [*ex.alternatives(value)] for key, value in parts.items()}
        parsed = {k for k, v in alike.items() if any(_is_parsed(facts, part, call, bound) for part in v)}
        if parsed:
            named = any(_is_apart(facts, parts[key], bound) for key in _TOOL_KEYS & parts.keys())
            match = _matches(facts, call.args[0].value, function)
            others = (value for key, value in parts.items() if key not in parsed and not _is_same(facts, value, call))
            beside = (_matches(facts, value, function) for value in others)
            return (named and not parsed.isdisjoint(_ARGUMENT_KEYS)) or not all(map(match.isdisjoint, beside))
    return False


def _is_same(facts: Facts, value: cst.BaseExpression, call: cst.Call) -> bool:
    """Whether a value is the text itself that a call parses: nothing else has come with it."""
    return facts.slots.of_name(value) is not None and facts.slots.of(value) == facts.slots.of(call.args[0].value)


def _put_beside(facts: Facts, target: cst.BaseExpression | None, function: Scope) -> dict[str, cst.BaseExpression]:
    """What an object or a dict gets, of which a place is a part: `wish["args"]`, `self.input`."""
    whole = ex.member(target) if target is not None else None
    if whole is None:
        return {}
    made = {key: value for shown in facts.values_of(whole[0]) for key, value in ex.dict_items(shown).items()}
    for line in function.nodes_of(cst.Assign):
        for each in ex.targets(line):
            pair = ex.member(each)
            if pair is not None and ex.dotted(pair[0]) == ex.dotted(whole[0]):
                made[pair[1]] = line.value
    return made


def _is_parsed(facts: Facts, value: cst.BaseExpression, call: cst.Call, bound: Slot | None) -> bool:
    return value is call or (bound is not None and facts.slots.of(value) == bound)


def _matches(facts: Facts, value: cst.BaseExpression, function: Scope) -> set[Slot | cst.CSTNode | None]:
    """The matches of which a text is one part: `m` of `m.group(1)`, the loop of `for name, text in re.findall(...)`."""
    found: set[Slot | cst.CSTNode | None] = set()
    slot = facts.slots.of_name(value)
    for part in [value, *facts.assigned(slot)]:
        base = ex.receiver(part)
        while isinstance(base, cst.Call):  # `m.group(1).strip()`
            base = ex.receiver(base)
        found.add(facts.slots.of(base))
    tuples = (loop for loop in function.nodes_of(cst.For) if isinstance(loop.target, cst.Tuple))
    found.update(loop for loop in tuples if slot is not None and slot[2] in ex.target_names(loop.target))
    return found - {None}


def _is_apart(facts: Facts, name: cst.BaseExpression, parsed: Slot | None) -> bool:
    """Whether a name is no constant, and not read of what was parsed."""
    pair = ex.member(name)
    return ex.text(name) is None and (pair is None or parsed is None or facts.slots.of(pair[0]) != parsed)


def _selects(facts: Facts, node: cst.CSTNode, function: Scope) -> bool:
    """Whether a value, or the name it is assigned to, chooses what is done: `tools[name]`, `name == "read"`."""
    parent = facts.module.parent.get(node)
    if _chooses(facts, node):
        return True
    names = set(ex.target_names(parent.targets[0].target)) if isinstance(parent, cst.Assign) else set()
    return bool(names) and any(
        isinstance(use, cst.Name) and use.value in names and _chooses(facts, use) for use in function.nodes
    )


def _chooses(facts: Facts, node: cst.CSTNode) -> bool:
    parent = facts.module.parent.get(node)
    if isinstance(parent, cst.Comparison) and len(parent.comparisons) == 1:
        left, operator, right = ex.compared(parent)
        return left is node and isinstance(operator, cst.Equal) and isinstance(right, cst.BaseString)
    return isinstance(parent, cst.Index)


def runs_tool_with(facts: Facts, call: cst.Call, function: Scope) -> Evidence | None:
    """Whether text that a function got is parsed and handed to a tool that another parameter names.

    `TOOLS[tool_name](**json.loads(text))`, `registry.call(function_name, args)`: the text is a call's arguments.
    """
    names = {part.value for part in ex.alternatives(call.args[0].value) if type(part) is cst.Name}
    own = _got(function) if names else set()
    if names.isdisjoint(own):
        return None
    named = own & words.TOOL_NAMES
    for user in _users(facts, call, function):
        passed = {arg.value.value for arg in user.args if isinstance(arg.value, cst.Name)}
        func = user.func.value if isinstance(user.func, cst.Attribute) else user.func
        if passed & named or any(_is_tool(table, key, own) for table, key in _picks(facts, func)):
            return Evidence("is parsed into the arguments of the tool that is run here", user)
    return None


def _got(function: Scope) -> set[str]:
    """The names of what a function got: its parameters, and parts unpacked from something."""
    got = {param.name.value for param in parameters(function)}
    targets = [node.targets[0].target for node in function.nodes_of(cst.Assign)]
    targets += [node.target for node in function.nodes_of(cst.For)]
    got.update(name for target in targets if type(target) is cst.Tuple for name in ex.target_names(target))
    return got


def _users(facts: Facts, call: cst.Call, function: Scope) -> Iterator[cst.Call]:
    """The calls that get the parsed value: directly, or by the name it is assigned to."""
    names: set[Slot] = set()
    for outer in facts.module.ancestors(call):
        if isinstance(outer, cst.Call):
            yield outer
        elif isinstance(outer, (cst.Assign, cst.AnnAssign)):
            targets = ex.targets(outer)
            names.update(slot for t in targets if (slot := facts.slots.of(t)) is not None)
        if isinstance(outer, (cst.BaseSmallStatement, cst.BaseCompoundStatement)):
            break
    for node in function.nodes:
        if isinstance(node, cst.Call) and any(facts.slots.of(arg.value) in names for arg in node.args):
            yield node


def _is_tool(table: cst.BaseExpression, key: cst.BaseExpression, own: set[str]) -> bool:
    """Whether what is picked out of a table of tools is named by something that a function got."""
    what = ex.source(table, 80).lower()
    named = isinstance(key, cst.Name) and key.value in own
    return named and ("tool" in what or "function" in what or ex.dotted(key) in words.TOOL_NAMES)
