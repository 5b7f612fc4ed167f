"""What a failed parse leaves behind when its error is swallowed: a neutral value that goes on, or nothing at all."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from functools import partial

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.program import handlers
from lint_rules.anatomy.program.handlers import Ending, Handling
from lint_rules.anatomy.values.kinds import Kind
from lint_rules.anatomy.values.known import sources
from lint_rules.anatomy.values.slots import is_parameter
from lint_rules.rules.ignored_json_error import outside
from lint_rules.rules.ignored_json_error.parse_attempts import is_tried_otherwise
from lint_rules.rules.ignored_json_error.uses import flows_on, is_tested, uses_after
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.mentions import names_in
from lint_rules.syntax.module import Scope, SourceModule
from lint_rules.syntax.reaching import Definition
from lint_rules.syntax.truth import evaluate
from lint_rules.syntax.walk import walk

# -- a value in its place ---------------------------------------------------------------------------------------


def value_instead(anatomy: Anatomy, call: cst.Call, handling: Handling, function: Scope) -> cst.BaseExpression | None:
    """The neutral value that goes on in place of the failed one; None where there is none, or it is tested or shown."""
    if handling.ending is Ending.DROPS:
        return _returned_after(anatomy, handling) or _emptied_after(anatomy, call, handling, function)
    if handling.ending is Ending.TELLS:
        made = _made_anyway(anatomy, call, handling) or _own_dict(anatomy, call, handling, function)
        made = made or _text_itself(anatomy, call, handling)
        return made or _named_by_callers(anatomy, call, handling, function)
    neutral, target = handling.neutral, handling.target
    if neutral is None:
        return None
    if target is None:
        is_none = isinstance(neutral, cst.Name)
        if not _hands_back(anatomy, call, function):
            return None
        return _replaced_by_callers(anatomy, function) if is_none else neutral
    return neutral if _goes_on(anatomy, call, handling, target, neutral) else None


def _goes_on(
    anatomy: Anatomy, call: cst.Call, handling: Handling, target: cst.BaseExpression, instead: cst.BaseExpression
) -> bool:
    """Whether what a handler puts into a place is handed on: a name behind it, where no test tells it from what was
    parsed; a part of something goes where that goes, but for the messages of a past that is rendered."""
    if not isinstance(target, cst.Name):
        around = (outer.iter for outer in anatomy.module.ancestors(call) if isinstance(outer, cst.For))
        return not any(map(anatomy.is_history, around))
    function = anatomy.module.scope_of[call].function
    uses = uses_after(anatomy.module, target.value, handling.guard, function.node)
    if any(is_tested(anatomy.module, use, instead) for use in uses):
        return False
    flowing = [use for use in uses if flows_on(anatomy.module, use)]
    read = outside.reads_reply(anatomy, call)
    return any(read or not _is_sent_back(anatomy, use) for use in flowing)


def _made_anyway(anatomy: Anatomy, call: cst.Call, handling: Handling) -> cst.BaseExpression | None:
    """The `{}` of a handler that does no more than make what is made of the parse: `calls.append(Call(name, {}))`."""
    module, guard = anatomy.module, handling.guard
    around = [guard.body, *([guard.orelse] if isinstance(guard, cst.Try) and guard.orelse is not None else [])]
    for made in walk(handling.handler.body):
        parts = _parts(made)
        if not any(map(handlers.is_neutral, parts.values())) or not _is_all(module, made, handling):
            continue
        for twin in (node for block in around for node in walk(block) if type(node) is type(made)):
            theirs = _parts(twin)
            if theirs.keys() == parts.keys():
                differing = [key for key, part in parts.items() if ex.source(part, 400) != ex.source(theirs[key], 400)]
                if len(differing) == 1 and _is_parsed(anatomy, call, theirs[differing[0]]):
                    return parts[differing[0]] if handlers.is_neutral(parts[differing[0]]) else None
    return None


def _parts(node: cst.CSTNode) -> dict[str, cst.BaseExpression]:
    """What a dict or an object is made of, by key, keyword or position."""
    if isinstance(node, cst.Dict):
        return ex.dict_items(node)
    if not isinstance(node, cst.Call) or handlers.is_logging(node):
        return {}
    return {
        ex.source(node.func): node.func,
        **{str(n): a for n, a in enumerate(ex.positional(node))},
        **ex.keywords(node),
    }


def _is_all(module: SourceModule, made: cst.CSTNode, handling: Handling) -> bool:
    """Whether the statement of `made` is the only one of a handler that is more than a log, and no answer."""
    line = _only_line(handling)
    return isinstance(line, (cst.Expr, cst.Assign)) and module.inside(made, line)


def _only_line(handling: Handling) -> cst.CSTNode | None:
    """The one statement of a handler that is no log, but for a `continue`."""
    lines = [line for line in _lines(handling.handler.body) if not (_is_log(line) or isinstance(line, cst.Continue))]
    return lines[0] if len(lines) == 1 else None


def _is_parsed(anatomy: Anatomy, call: cst.Call, value: cst.BaseExpression) -> bool:
    """Whether a value is what `call` gave, by its name or itself."""
    return any(part is call or (isinstance(part, cst.Name) and part.value in _names(anatomy, call))
               for part in ex.alternatives(value))  # fmt: skip


def _own_dict(anatomy: Anatomy, call: cst.Call, handling: Handling, function: Scope) -> cst.BaseExpression | None:
    """`args = {"raw": text}`: what no tool has asked for goes on where it is run, and nobody looks for the key.

    Where the rounds are not of this file, no file around it does. Of a function that gives it back, as what it has
    parsed, also `return {"raw": text}`: without a word, it is no answer.
    """
    line = _only_line(handling)
    if isinstance(line, cst.Return) and isinstance(line.value, cst.Dict) and _hands_back(anatomy, call, function):
        keys = ex.dict_items(line.value).keys()
        given = ex.source(call.args[0].value, 400)
        is_text = bool(keys) and all(ex.source(part, 400) == given for part in ex.dict_items(line.value).values())
        return line.value if is_text and not _is_read_as_such(anatomy, keys) else None
    bound = anatomy.module.statement(call)
    if not (isinstance(line, cst.Assign) and isinstance(bound, cst.Assign) and isinstance(line.value, cst.Dict)):
        return None
    target, keys = line.targets[0].target, ex.dict_items(line.value).keys()
    if not any(ex.source(target) == ex.source(each) for each in ex.targets(bound)):
        return None
    if call not in ex.alternatives(bound.value):
        return None  # it is what came of the call: `done = run(json.loads(text))`
    if not keys or _is_read_as_such(anatomy, keys):
        return None
    return line.value if _goes_on(anatomy, call, handling, target, line.value) else None


def _text_itself(anatomy: Anatomy, call: cst.Call, handling: Handling) -> cst.BaseExpression | None:
    """`args = text`: what is no JSON goes on in the place of what it was to say, and nobody asks what it is."""
    line = _only_line(handling)
    target = line.targets[0].target if isinstance(line, cst.Assign) else None
    if not isinstance(line, cst.Assign) or not isinstance(target, cst.Name):
        return None
    if ex.source(line.value, 400) not in {ex.source(part, 400) for part in ex.alternatives(call.args[0].value)}:
        return None
    names = {*_names(anatomy, call)}
    filled = (node for node in walk(handling.guard.body) if isinstance(node, cst.Assign) and call not in walk(node))
    read = {
        n for each in filled if names & names_in(each.value) for t in each.targets for n in ex.target_names(t.target)
    }
    if target.value not in names | read or not _goes_on(anatomy, call, handling, target, line.value):
        return None
    uses = uses_after(anatomy.module, target.value, handling.guard, anatomy.module.scope_of[call].function.node)
    return line.value if any(_is_worked_with(anatomy.module, use) for use in uses) else None


def _is_worked_with(module: SourceModule, use: cst.Name) -> bool:
    """Whether something comes of a call that gets a value, as such: what is told of an event, or shown, is no run."""
    given = module.parent[use]
    call = module.parent[given] if isinstance(given, cst.Arg) else None
    return isinstance(call, cst.Call) and not module.is_statement(call) and flows_on(module, use)


def _is_read_as_such(anatomy: Anatomy, keys: Collection[str]) -> bool:
    """Whether something reads one of some keys: in the file, or around it, where the rounds are of another one."""
    return _is_asked_for(anatomy, keys) or (not anatomy.rounds and any(map(anatomy.names, keys)))


def _is_asked_for(anatomy: Anatomy, keys: Collection[str]) -> bool:
    """Whether something in the file is read, or tested, by one of some keys."""
    module = anatomy.module
    for node in (*module.nodes_of(cst.Subscript), *module.nodes_of(cst.Call)):
        pair = ex.member(node)
        if pair is not None and pair[1] in keys and not isinstance(module.parent[node], cst.AssignTarget):
            return True
    return any(ex.text(test.left) in keys for test in module.nodes_of(cst.Comparison))


def _returned_after(anatomy: Anatomy, handling: Handling) -> cst.BaseExpression | None:
    """`try: return json.loads(x)` / `except: pass` / `return {}`: what comes right after takes the value's place."""
    if not any(isinstance(n, cst.Return) for n in walk(handling.guard.body)):
        return None
    following = next(iter(_after(anatomy, handling.guard)), None)
    if isinstance(following, cst.SimpleStatementLine) and isinstance(following.body[0], cst.Return):
        value = following.body[0].value
        if value is not None and handlers.is_neutral(value) and not isinstance(value, cst.Name):
            return value
    return None


def _emptied_after(anatomy: Anatomy, call: cst.Call, handling: Handling, function: Scope) -> cst.BaseExpression | None:
    """`if not isinstance(args, dict): args = {}`: the text that is left in the name gives way to what says nothing."""
    module, given = anatomy.module, call.args[0].value
    if not isinstance(given, cst.Name) or given.value not in _names(anatomy, call):
        return None
    for use in uses_after(module, given.value, handling.guard, function.node):
        branch = _if_no_instance(module, use)
        value = _only_set_to(branch.body, given.value) if branch is not None else None
        if branch is not None and value is not None:
            later = uses_after(module, given.value, branch, function.node)
            return value if any(flows_on(module, other) for other in later) else None
    return None


def _if_no_instance(module: SourceModule, use: cst.Name) -> cst.If | None:
    """The `if` that asks whether a value is no instance of a type."""
    asked = module.parent[module.parent[use]]
    denied = module.parent[asked] if isinstance(asked, cst.Call) and ex.called_name(asked) == "isinstance" else None
    branch = module.parent[denied] if isinstance(denied, cst.UnaryOperation) else None
    return branch if isinstance(branch, cst.If) and isinstance(denied, cst.UnaryOperation) else None


def _only_set_to(body: cst.BaseSuite, name: str) -> cst.BaseExpression | None:
    """The neutral value that a block gives a name, if it does no more, but for a log."""
    found = None
    for node in _lines(body):
        if (
            isinstance(node, cst.Assign)
            and ex.dotted(node.targets[0].target) == name
            and handlers.is_neutral(node.value)
        ):
            found = node.value
        elif not _is_log(node):
            return None
    return found


def _is_log(line: cst.CSTNode) -> bool:
    return isinstance(line, cst.Expr) and isinstance(line.value, cst.Call) and handlers.is_logging(line.value)


def _lines(body: cst.BaseSuite) -> list[cst.CSTNode]:
    """The statements of a block, one by one."""
    lines: list[cst.CSTNode] = []
    for line in body.body:
        lines += line.body if isinstance(line, cst.SimpleStatementLine) else [line]
    return lines


def _after(anatomy: Anatomy, node: cst.CSTNode) -> list[cst.CSTNode]:
    block = anatomy.module.parent[node]
    body: list[cst.CSTNode] = list(block.body) if isinstance(block, (cst.IndentedBlock, cst.Module)) else []
    return body[body.index(node) + 1 :] if node in body else []


def _hands_back(anatomy: Anatomy, call: cst.Call, function: Scope) -> bool:
    """Whether the function gives back what it parsed: a title or a hint that is made of it may well be empty."""
    statement = anatomy.module.statement(call)
    names: set[str] = set()
    if isinstance(statement, (cst.Assign, cst.AnnAssign)):
        targets = ex.targets(statement)
        names = {name for target in targets for name in ex.target_names(target)}
    for given in function.returned:
        for whole in ex.several(given):
            for part in (each for one in ex.alternatives(whole) for each in (one, *sources(one))):
                if part is call or (isinstance(part, cst.Name) and part.value in names):
                    return True
    return isinstance(statement, cst.Return)


def _replaced_by_callers(anatomy: Anatomy, function: Scope) -> cst.BaseExpression | None:
    """The `{}` of `parse(text) or {}`: a None that says "failed" is taken for "no arguments"."""
    for site in anatomy.calls.sites[function]:
        reads = _reads(anatomy.module, site.node)
        chosen = [_otherwise(anatomy.module, value) for value in (site.node, *reads)]
        instead = next((value for value in chosen if handlers.is_neutral(value) and value is not None), None)
        if instead is not None and not any(_fails(anatomy.module, value) for value in reads):
            return instead
    return None


def _named_by_callers(
    anatomy: Anatomy, call: cst.Call, handling: Handling, function: Scope
) -> cst.BaseExpression | None:
    """The `{}` of `parse(text, default={})`, where a handler gives back the parameter that it comes by."""
    line, slots = _only_line(handling), anatomy.facts.slots
    returned = slots.of(line.value) if isinstance(line, cst.Return) and line.value is not None else None
    parsed = slots.of(call.args[0].value)
    if returned is None or parsed is None or not is_parameter(returned) or not _hands_back(anatomy, call, function):
        return None
    for site in anatomy.calls.sites[function]:
        given = dict(slots.bindings(site.node, function))
        instead, text = given.get(returned), given.get(parsed)
        if instead is not None and text is not None and handlers.is_neutral(instead):
            if Kind.ARGUMENTS_TEXT in anatomy.facts.kinds(text) and not isinstance(instead, cst.Name):
                return instead
    return None


def _reads(module: SourceModule, site: cst.Call) -> list[cst.Name]:
    """Where the name is read that the value of a call is bound to."""
    statement = module.statement(site)
    if not isinstance(statement, cst.Assign) or ex.inner(statement.value) is not site:
        return []
    function = module.scope_of[site].function.node
    names = ex.target_names(statement.targets[0].target)
    return [use for name in names for use in uses_after(module, name, statement, function)]


def _otherwise(module: SourceModule, value: cst.CSTNode) -> cst.BaseExpression | None:
    """What is taken where a value says nothing: the right of `value or right`, of `value if test else right`."""
    choice = module.parent.get(value)
    if isinstance(choice, cst.BooleanOperation) and isinstance(choice.operator, cst.Or):
        return choice.right if choice.left is value else None
    return choice.orelse if isinstance(choice, cst.IfExp) and choice.body is value else None


def _fails(module: SourceModule, use: cst.Name) -> bool:
    """Whether a test asks if the parse has failed, and more hangs on it than what takes the place of the value."""
    for outer in module.ancestors(use):
        if isinstance(outer, (cst.If, cst.While, cst.IfExp)):
            tested = module.inside(use, outer.test)
            return tested and not (isinstance(outer, cst.IfExp) and handlers.is_neutral(outer.orelse))
        if isinstance(outer, (cst.BaseSmallStatement, cst.BaseCompoundStatement)):
            return False
    return False


def _is_sent_back(anatomy: Anatomy, use: cst.Name) -> bool:
    """Whether a value goes into a `tool_use` block: a past call put into another provider's form, that runs nothing."""
    return any(
        ex.text(items["type"]) == "tool_use"
        for outer in anatomy.module.ancestors(use)
        if isinstance(outer, cst.Dict) and "type" in (items := ex.dict_items(outer))
    )


# -- nothing ----------------------------------------------------------------------------------------------------


def is_dropped(anatomy: Anatomy, call: cst.Call, handling: Handling) -> bool:
    """Whether the call that a model wrote is lost with the error: nothing else is tried, and it would be used."""
    return (
        (handling.ending is Ending.DROPS or _is_unread(anatomy, call, handling))
        and not _ends_in_error(anatomy, call, handling)
        and not is_tried_otherwise(anatomy, call, handling)
        and is_put_to_use(anatomy, call)
    )


def _is_unread(anatomy: Anatomy, call: cst.Call, handling: Handling) -> bool:
    """`arguments = {}` and `continue`: whether nobody reads the neutral value that a handler puts into a name.

    Or no more of it than a test, which leads to the next call.
    """
    target, function = handling.target, anatomy.module.scope_of[call].function
    if handling.ending is not Ending.NEUTRAL or not isinstance(target, cst.Name):
        return False
    unread = not uses_after(anatomy.module, target.value, handling.guard, function.node)
    return unread or _is_passed_over(anatomy, target.value, call, handling.guard)


def _ends_in_error(anatomy: Anatomy, call: cst.Call, handling: Handling) -> bool:
    """Whether a function that gives back what it parses tells of it in the end, if it makes nothing else of the text.

    It raises, or gives words in the place beside it: `return {}, "no JSON"`.
    """
    function = anatomy.module.scope_of[handling.guard].function
    given = [node for node in function.nodes_of(cst.Return) if not handlers.is_neutral(node.value)]
    ends = anatomy.points(function, [*function.nodes_of(cst.Raise), *given])
    graph = anatomy.flow(function)
    start = graph.at(handling.handler)
    return (
        bool(ends)
        and _hands_back(anatomy, call, function)
        and graph.reaches(start, ends, exceptions=False)
        and not graph.reaches(start, graph.exit, anatomy.points(function, given), exceptions=False)
    )


def is_left_out(anatomy: Anatomy, call: cst.Call, handling: Handling, function: Scope) -> bool:
    """`[... for call in calls if parse(call.arguments) is not None]`: callers pass over the calls that failed."""
    if not gives_nothing(handling):
        return False
    sites = [site.node for site in anatomy.calls.sites[function]]
    kept = [_keeps_calls(anatomy, site) for site in sites] if _hands_back(anatomy, call, function) else []
    return (True in kept and False not in kept) or (bool(sites) and all(passes_over(anatomy, site) for site in sites))


def gives_nothing(handling: Handling) -> bool:
    """Whether a handler returns a value that says nothing."""
    return handling.ending is Ending.NEUTRAL and handling.target is None


def passes_over(anatomy: Anatomy, site: cst.Call) -> bool:
    """`done = run(call)`, `if done is None: continue`: in a loop over what is handed to it, the next one comes at once.

    Or `if done is not None: ...` ends the loop's body.
    """
    statement = anatomy.module.statement(site)
    bound = isinstance(statement, cst.Assign) and ex.inner(statement.value) is site
    return bound and any(_is_passed_over(anatomy, name, site, statement) for name in _names(anatomy, site))


def _is_passed_over(anatomy: Anatomy, name: str, made: cst.Call, behind: cst.CSTNode) -> bool:
    """Whether the first test behind a statement that tells by a name that a call has failed leads to the next element.

    In a loop whose elements the call is handed, or parts of them.
    """
    module, function = anatomy.module, anatomy.module.scope_of[made].function
    loop = next((outer for outer in module.ancestors(made) if isinstance(outer, cst.For)), None)
    if loop is None or names_in(made).isdisjoint(ex.target_names(loop.target)):
        return False
    failed = partial(handlers.of_nothing, lambda part: ex.dotted(part) == name)
    later = (each for each in module.nodes_inside(loop.body, function, cst.If) if module.before(behind, each))
    tested = ((branch, evaluate(branch.test, failed)) for branch in later)
    return next((_skips(branch, taken, loop) for branch, taken in tested if taken is not None), False)


def _skips(branch: cst.If, taken: bool | None, loop: cst.For) -> bool:
    """Whether a branch that is taken, or not, leads to the next element of a loop, with no more than a log."""
    if taken is False:
        return branch.orelse is None and loop.body.body[-1] is branch
    *before, last = _lines(branch.body)
    return bool(taken) and branch.orelse is None and isinstance(last, cst.Continue) and all(map(_is_log, before))


def _keeps_calls(anatomy: Anatomy, site: cst.Call) -> bool | None:
    """Whether a list of tool calls takes those that a call can read, or those that it cannot; None for other calls."""
    outer = next((outer for outer in anatomy.module.ancestors(site) if isinstance(outer, cst.CompIf)), None)
    loop = anatomy.module.parent[outer] if outer is not None else None
    if outer is None or not isinstance(loop, cst.CompFor) or Kind.CALLS not in anatomy.facts.kinds(loop.iter):
        return None
    failed = evaluate(outer.test, partial(handlers.of_nothing, lambda part: part is site))
    return not failed if failed is not None else None


def held_instead(anatomy: Anatomy, call: cst.Call, handling: Handling) -> list[Definition]:
    """What the name held before that the value was to get, if the way of the error leads to where it is put to use.

    The statement that parses is among them where the call before it left its arguments. None where the way leads by.
    """
    function = anatomy.module.scope_of[call].function
    flow, reaching, parse = anatomy.flow(function), anatomy.reaching(function), anatomy.points(function, [call])
    handler = handling.handler
    failed = flow.within(walk(handler.body)) if isinstance(handler, cst.ExceptHandler) else parse
    for name in _names(anatomy, call) if handling.ending is Ending.DROPS else ():
        uses = anatomy.points(function, [use for use in _put_to_use(anatomy, call) if use.value == name])
        bound = {definition.point for definition in reaching.definitions if definition.name == name}
        if flow.reaches(failed, uses, bound):
            return list(dict.fromkeys(held for point in parse for held in reaching.at(point, name)))
    return []


def is_put_to_use(anatomy: Anatomy, call: cst.Call) -> bool:
    """Whether what is parsed, if it gets a name, is run, stored or given back."""
    return not _names(anatomy, call) or any(_put_to_use(anatomy, call))


def _put_to_use(anatomy: Anatomy, call: cst.Call) -> Iterator[cst.Name]:
    """Where a parsed value is run or stored; one that is only looked into (a search, a test) loses no call."""
    module, names = anatomy.module, _names(anatomy, call)
    for use in module.scope_of[call].function.nodes:
        if isinstance(use, cst.Name) and use.value in names and not isinstance(module.parent[use], cst.AssignTarget):
            compared = any(isinstance(outer, cst.Comparison) for outer in module.ancestors(use))
            if not compared and flows_on(module, use):
                yield use


def _names(anatomy: Anatomy, call: cst.Call) -> list[str]:
    """The names that a parsed value is bound to."""
    statement = anatomy.module.statement(call)
    if not isinstance(statement, (cst.Assign, cst.AnnAssign)):
        return []
    return [name for target in ex.targets(statement) for name in ex.target_names(target)]
