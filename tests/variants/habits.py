"""What people add to a program without changing what it does: they trim texts, log, time, check, try again.

A habit is added wherever it fits. None of them mends a bug or makes one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import libcst as cst

from .edits import Edits, Lot, expression
from .moves import requests_in
from .project import Files, Function, Node, Project, Source, dotted, text_of, walk

Habit = Callable[[Project, Source, Edits, Lot], None]
LOGGER = "import logging\nlogger = logging.getLogger(__name__)"


def habits(files: Files, seed: int, outside: frozenset[str]) -> Files | None:
    """Three habits that are drawn by lot from those that fit."""
    lot, left, made, added = Lot(files, seed, "habits"), [*HABITS], files, 0
    while left and added < 3:
        found = with_habit(left.pop(lot.number() % len(left)), made, seed)
        if found is not None:
            made, added = found, added + 1
    return made if added else None


def with_habit(add: Habit, files: Files, seed: int) -> Files | None:
    """The files with a habit added to each; None where it fits nowhere."""
    project = Project(files)
    found = dict(files)
    for path, source in project.sources.items():
        edits = Edits(source)
        add(project, source, edits, Lot(files, seed, add.__name__))
        if edits.changes:
            found[path] = edits.code()
    return found if found != files else None


# -- places -------------------------------------------------------------------------------------------------------

WITHIN_STATEMENT = (cst.Lambda, cst.CompFor, cst.IfExp, cst.BooleanOperation)


def line_of(source: Source, node: Node) -> cst.SimpleStatementLine | None:
    """The line that does nothing but what a node is part of, always, and once."""
    for above in source.up(node):
        if isinstance(above, WITHIN_STATEMENT) or hasattr(above, "for_in"):
            return None
        if isinstance(above, cst.SimpleStatementLine):
            is_alone = len(above.body) == 1 and isinstance(source.parent[above], (cst.IndentedBlock, cst.Module))
            return above if is_alone else None
        if isinstance(above, cst.BaseCompoundStatement):
            return None
    return None


def function_of(source: Source, node: Node) -> Function | None:
    return next((above for above in source.up(node) if isinstance(above, cst.FunctionDef)), None)


def asking_lines(project: Project, source: Source) -> Iterator[tuple[cst.SimpleStatementLine, cst.Call]]:
    """The lines that send a request, each with it; not those of a module."""
    for one in requests_in(project, source):
        line = line_of(source, one.call)
        if line is not None and function_of(source, line) is not None:
            yield line, one.call


def statement_of(line: cst.SimpleStatementLine) -> cst.BaseSmallStatement:
    return line.body[0]


def target_of(line: cst.SimpleStatementLine) -> str | None:
    """The name that a line binds, if that is all it does."""
    made = statement_of(line)
    targets = [each.target for each in made.targets] if isinstance(made, cst.Assign) else []
    return targets[0].value if len(targets) == 1 and isinstance(targets[0], cst.Name) else None


def lines(code: str) -> list[cst.BaseStatement]:
    return list(cst.parse_module(code).body)


def block(*body: cst.BaseStatement) -> cst.IndentedBlock:
    return cst.IndentedBlock([*body])


def behind(line: cst.SimpleStatementLine, code: str) -> cst.FlattenSentinel:
    return cst.FlattenSentinel([line, *lines(code)])


def needs(edits: Edits, head: str) -> None:
    if head not in edits.head:
        edits.head.append(head)


def messages_of_replies(source: Source) -> set[str]:
    """The names that are bound to the message of a reply of chat completions, and to nothing else."""
    found, other = set[str](), set[str]()
    for node in source.all(cst.AssignTarget):
        made = source.parent[node]
        if isinstance(node.target, cst.Name) and isinstance(made, cst.Assign):
            (found if is_reply_message(made.value) else other).add(node.target.value)
    return found - other


def is_reply_message(node: Node) -> bool:
    """`….choices[0].message`"""
    whole = node.value if isinstance(node, cst.Attribute) and node.attr.value == "message" else None
    return (
        isinstance(whole, cst.Subscript)
        and isinstance(whole.value, cst.Attribute)
        and whole.value.attr.value == "choices"
    )


def texts_in(source: Source) -> Iterator[cst.Attribute]:
    """Where the text of a reply of chat completions is read."""
    names = messages_of_replies(source)
    for node in source.all(cst.Attribute):
        base = node.value
        is_message = is_reply_message(base) or (isinstance(base, cst.Name) and base.value in names)
        above = source.parent[node]
        is_read = not isinstance(above, (cst.AssignTarget, cst.Attribute, cst.BooleanOperation, cst.AugAssign))
        if node.attr.value == "content" and is_message and is_read:
            yield node


# -- habits of reading --------------------------------------------------------------------------------------------


def texts_trimmed(project: Project, source: Source, edits: Edits, lot: Lot) -> None:
    """`(message.content or "").strip()`"""
    for node in texts_in(source):
        edits.put(node, lambda made: expression('({x} or "").strip()', x=made))


def calls_by_getattr(project: Project, source: Source, edits: Edits, lot: Lot) -> None:
    """`getattr(message, "tool_calls", None)`"""
    for node in source.all(cst.Attribute):
        above = source.parent[node]
        if node.attr.value == "tool_calls" and not isinstance(above, (cst.AssignTarget, cst.AugAssign, cst.Attribute)):
            edits.put(node, lambda made: expression('getattr({x}, "tool_calls", None)', x=made.value))


def reply_in_steps(project: Project, source: Source, edits: Edits, lot: Lot) -> None:
    """`response = request(…)`, `choice = response.choices[0]`, `message = choice.message`"""
    for line, call in asking_lines(project, source):
        outer = call
        while isinstance(above := source.parent[outer], cst.Await):
            outer = above
        message = next((node for node in source.up(outer) if is_reply_message(node)), None)
        if message is None or not any(node is outer for node in walk(message)):
            continue
        response, choice = lot.name("response", "completion"), lot.name("choice", "first")
        edits.put(message, lambda made, choice=choice: cst.Attribute(cst.Name(choice), cst.Name("message")))
        head = cst.Module([]).code_for_node(outer)

        def steps(made: Node, head: str = head, response: str = response, choice: str = choice) -> cst.FlattenSentinel:
            return cst.FlattenSentinel([*lines(f"{response} = {head}\n{choice} = {response}.choices[0]\n"), made])

        edits.put(line, steps)


def arguments_checked(project: Project, source: Source, edits: Edits, lot: Lot) -> None:
    """`arguments = call.function.arguments`, `if isinstance(arguments, str): arguments = json.loads(arguments)`"""
    for call in source.all(cst.Call):
        line = line_of(source, call)
        if dotted(call.func) != "json.loads" or line is None or len(call.args) != 1 or not target_of(line):
            continue
        if statement_of(line).value is call:
            name = target_of(line)
            given = cst.Module([]).code_for_node(call.args[0].value)
            code = f"{name} = {given}\nif isinstance({name}, str):\n    {name} = json.loads({name})\n"
            edits.put(line, lambda made, code=code: cst.FlattenSentinel(lines(code)))


# -- habits around a request --------------------------------------------------------------------------------------


def errors_logged(project: Project, source: Source, edits: Edits, lot: Lot) -> None:
    """`try: response = request(…)`, `except Exception: logger.exception(…); raise`"""
    for line, _ in asking_lines(project, source):
        handler = "try:\n    pass\nexcept Exception:\n    logger.exception('the request failed')\n    raise\n"
        made = lines(handler)[0]
        edits.put(line, lambda it, made=made: made.with_changes(body=block(it)))
        needs(edits, LOGGER)


def tried_again(project: Project, source: Source, edits: Edits, lot: Lot) -> None:
    """`for attempt in range(3): try: response = request(…); break`, `except ConnectionError: …`"""
    for line, _ in asking_lines(project, source):
        if target_of(line) is None:
            continue
        name = lot.name("attempt", "trial")
        code = (
            f"for {name} in range(3):\n    try:\n        pass\n        break\n    except ConnectionError:\n"
            f"        if {name} == 2:\n            raise\n        time.sleep(2**{name})\n"
        )
        loop = lines(code)[0]
        tried = loop.body.body[0]

        def again(made: Node, loop: Node = loop, tried: Node = tried) -> Node:
            body = tried.with_changes(body=block(made, *lines("break\n")))
            return loop.with_changes(body=block(body))

        edits.put(line, again)
        needs(edits, "import time")


def tokens_counted(project: Project, source: Source, edits: Edits, lot: Lot) -> None:
    """`usage = getattr(response, "usage", None)`, and a log of it"""
    for line, call in asking_lines(project, source):
        name = target_of(line)
        value = statement_of(line).value if name else None
        if name and call in (value, getattr(value, "expression", None)):
            code = (
                f"usage = getattr({name}, 'usage', None)\nif usage is not None:\n    logger.info('tokens: %s', usage)\n"
            )
            edits.put(line, lambda made, code=code: behind(made, code))
            needs(edits, LOGGER)


def answer_checked(project: Project, source: Source, edits: Edits, lot: Lot) -> None:
    """`if not response: raise RuntimeError(…)`"""
    for line, _ in asking_lines(project, source):
        if name := target_of(line):
            edits.put(
                line, lambda made, name=name: behind(made, f"if not {name}:\n    raise RuntimeError('no answer')\n")
            )


def parameters_first(project: Project, source: Source, edits: Edits, lot: Lot) -> None:
    """`parameters = {"model": …, "messages": …}`, `request(**parameters)`"""
    for line, call in asking_lines(project, source):
        if any(arg.star for arg in call.args):
            continue
        name = lot.name("parameters", "options", "request")
        code = cst.Module([]).code_for_node
        given = ", ".join(f'"{arg.keyword.value}": {code(arg.value)}' for arg in call.args)
        edits.put(call, lambda made, name=name: made.with_changes(args=[cst.Arg(cst.Name(name), star="**")]))
        first = f"{name} = {{{given}}}\n"
        edits.put(line, lambda made, first=first: cst.FlattenSentinel([*lines(first), made]))


def history_copied(project: Project, source: Source, edits: Edits, lot: Lot) -> None:
    """`messages=list(history)`"""
    for one in requests_in(project, source):
        for arg in one.call.args:
            is_place = isinstance(arg.value, (cst.Name, cst.Attribute))
            if arg.keyword is not None and arg.keyword.value == "messages" and is_place:
                edits.put(arg.value, lambda made: expression("list({x})", x=made))


def history_cast(project: Project, source: Source, edits: Edits, lot: Lot) -> None:
    """`messages=cast("list[Any]", history)`"""
    for one in requests_in(project, source):
        for arg in one.call.args:
            is_place = isinstance(arg.value, (cst.Name, cst.Attribute))
            if arg.keyword is not None and arg.keyword.value == "messages" and is_place:
                edits.put(arg.value, lambda made: expression('cast("list[Any]", {x})', x=made))
                needs(edits, "from typing import cast")


def spans_opened(project: Project, source: Source, edits: Edits, lot: Lot) -> None:
    """`with nullcontext(): response = request(…)`"""
    for line, _ in asking_lines(project, source):
        made = lines("with nullcontext('a span'):\n    pass\n")[0]
        edits.put(line, lambda it, made=made: made.with_changes(body=block(it)))
        needs(edits, "from contextlib import nullcontext")


# -- habits of writing messages -----------------------------------------------------------------------------------


def roles_as_constants(project: Project, source: Source, edits: Edits, lot: Lot) -> None:
    """`{"role": TOOL, …}`"""
    for element in source.all(cst.DictElement):
        role = text_of(element.value)
        if text_of(element.key) == "role" and role and role.isidentifier():
            name = f"ROLE_OF_{role.upper()}"
            edits.put(element.value, lambda made, name=name: cst.Name(name))
            needs(edits, f'{name} = "{role}"')


def results_as_text(project: Project, source: Source, edits: Edits, lot: Lot) -> None:
    """`{"role": "tool", "content": str(result)}`"""
    for node in source.all(cst.Dict):
        parts = {text_of(it.key): it.value for it in node.elements if isinstance(it, cst.DictElement)}
        value = parts.get("content")
        if text_of(parts.get("role")) == "tool" and isinstance(value, (cst.Name, cst.Call)):
            edits.put(value, lambda made: expression("str({x})", x=made))


def messages_dumped(project: Project, source: Source, edits: Edits, lot: Lot) -> None:
    """`history.append(message.model_dump(exclude_none=True))`"""
    names = messages_of_replies(source)
    for call in source.all(cst.Call):
        given = call.args[0].value if len(call.args) == 1 else None
        is_append = isinstance(call.func, cst.Attribute) and call.func.attr.value == "append"
        if is_append and isinstance(given, cst.Name) and given.value in names:
            edits.put(given, lambda made: expression("{x}.model_dump(exclude_none=True)", x=made))


# -- habits around a function -------------------------------------------------------------------------------------


def own_functions(source: Source) -> Iterator[cst.FunctionDef]:
    return (one for one in source.all(cst.FunctionDef) if isinstance(one.body, cst.IndentedBlock))


def with_body(made: cst.FunctionDef, change: Callable[[list[cst.BaseStatement]], list[cst.BaseStatement]]) -> Node:
    """The function with its statements changed; a docstring stays where it is."""
    body = list(made.body.body)
    first = body[0].body[0] if isinstance(body[0], cst.SimpleStatementLine) else None
    cut = int(isinstance(first, cst.Expr) and isinstance(first.value, (cst.SimpleString, cst.ConcatenatedString)))
    rest = body[cut:]
    return made.with_changes(body=made.body.with_changes(body=[*body[:cut], *(change(rest) if rest else [])]))


def work_timed(project: Project, source: Source, edits: Edits, lot: Lot) -> None:
    """`started = time.monotonic()`, `try: …`, `finally: logger.debug(…)`"""

    def timed(rest: list[cst.BaseStatement]) -> list[cst.BaseStatement]:
        took = "logger.debug('took %s', time.monotonic() - started)"
        head, tried = lines(f"started = time.monotonic()\ntry:\n    pass\nfinally:\n    {took}\n")
        return [head, tried.with_changes(body=block(*rest))]

    for function in own_functions(source):
        if any(one.call in walk(function) for one in requests_in(project, source)):
            edits.put(function, lambda made: with_body(made, timed))
            needs(edits, "import time")
            needs(edits, LOGGER)


def told_when_asked(project: Project, source: Source, edits: Edits, lot: Lot) -> None:
    """`def run(…, verbose=False)`, `if verbose: print(…)`"""
    for function in own_functions(source):
        params = function.params
        is_plain = not (params.star_kwarg or params.kwonly_params or isinstance(params.star_arg, cst.Param))
        if not is_plain or function.decorators or function.name.value.startswith("__"):
            continue
        told = lines(f"if verbose:\n    print('{function.name.value} begins')\n")
        edits.put(
            function,
            lambda made, told=told: with_body(
                made.with_changes(
                    params=made.params.with_changes(
                        star_arg=cst.ParamStar(),
                        kwonly_params=[cst.Param(cst.Name("verbose"), default=cst.Name("False"), equal=EQUAL)],
                    )
                ),
                lambda rest: [*told, *rest],
            ),
        )


EQUAL = cst.AssignEqual(cst.SimpleWhitespace(""), cst.SimpleWhitespace(""))


def values_logged(project: Project, source: Source, edits: Edits, lot: Lot) -> None:
    """`logger.debug("name: %r", name)` behind what binds a name"""
    for made in source.all(cst.Assign):
        line = line_of(source, made.value)
        if line is not None and function_of(source, line) is not None and (name := target_of(line)):
            code = f"logger.debug('{name}: %r', {name})\n"
            edits.put(line, lambda it, code=code: behind(it, code))
            needs(edits, LOGGER)


HABITS: tuple[Habit, ...] = (
    texts_trimmed,
    calls_by_getattr,
    reply_in_steps,
    arguments_checked,
    errors_logged,
    tried_again,
    tokens_counted,
    answer_checked,
    parameters_first,
    history_copied,
    history_cast,
    spans_opened,
    roles_as_constants,
    results_as_text,
    messages_dumped,
    work_timed,
    told_when_asked,
    values_logged,
)
