"""Fixes applied to one file: to a fixed point, without touching anything else, and never for the worse."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import libcst as cst
import pytest
from sampling import sample

from lint_rules import check, fix
from lint_rules.fix import Fixed
from lint_rules.options import Wish
from lint_rules.repairs import edits, imports
from lint_rules.repairs.edits import Edits, Fix
from lint_rules.repairs.imports import Import
from lint_rules.rules.catalogue import BY_NAME, RULES, Rule
from lint_rules.rules.stale_history_snapshot import fixes as stale_history_snapshot
from lint_rules.syntax.module import SourceModule

FIXTURES = Path(__file__).parent.parent / "fixtures"
OPTIONS = check.Options(frozenset({"AGL101", "AGL201", "AGL301", "AGL401", "AGL501"}))
ANY = Wish(unsafe=True, display=True)
BAD = sorted(path for path in FIXTURES.glob("*/bad_*.py") if not path.name.endswith(".fixed.py"))
FIXED = sorted(FIXTURES.glob("*/bad_*.fixed.py"))
REPAIRS = Path(fix.__file__).parent / "repairs"
FIXABLE = [rule for rule in RULES if (REPAIRS / f"{rule.name.replace('-', '_')}.py").exists()]
MENDED = [path for path in BAD if path.parent.name in {rule.name.replace("-", "_") for rule in FIXABLE}]
"""Programs of rules that have a fix."""

STALE = """\
def run(client, history, tools, execute):
    request = list(history)
    for _ in range(20):
        message = client.chat.completions.create(model="gpt-5", messages=request, tools=tools).choices[0].message
        history.append(message)
        if not message.tool_calls:
            return message.content
        for call in message.tool_calls:
            history.append({"role": "tool", "tool_call_id": call.id, "content": execute(call)})
    raise RuntimeError("too many rounds")
"""
SHALLOW = """\
def shorten(message: dict):
    slim = dict(message)
    for call in slim.get("tool_calls", ()):
        call["function"]["arguments"] = call["function"]["arguments"][:80]
    return slim
"""
KNOWN = (
    SHALLOW
    + """

def ask(client, history):
    history.append({"role": "user", "content": "go"})
    client.chat.completions.create(model="gpt-5", messages=history)
    return [shorten(message) for message in history]
"""
)


def name(path: Path) -> str:
    return f"{path.parent.name}/{path.stem}"


def of_folder(path: Path) -> check.Options:
    """The rule that a fixture is about."""
    return check.Options(frozenset({BY_NAME[path.parent.name.replace("_", "-")].code}))


def fixed(source: str | bytes, wish: Wish = ANY, options: check.Options = OPTIONS) -> Fixed:
    return fix.fix_source(source.encode() if isinstance(source, str) else source, "agent.py", options, wish)


def rewritten(source: str) -> str:
    result = fixed(source)
    assert result.applied
    return result.source.decode()


def codes(result: Fixed) -> list[str]:
    return [finding.code for finding in result.report.findings]


# -- every fixture ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", FIXED, ids=name)
def test_fixture_is_fixed_as_stored(path: Path) -> None:
    source = path.with_name(path.name.replace(".fixed", "")).read_bytes()
    assert fixed(source, options=of_folder(path)).source.decode() == path.read_text(encoding="utf-8")


@pytest.mark.parametrize("path", sample(MENDED, 8, "promise"), ids=name)
def test_fixes_of_a_fixture_hold_what_they_promise(path: Path) -> None:
    source, options = path.read_bytes(), of_folder(path)
    before = check.check_source(source, "agent.py", options)
    offered = [finding for finding in before.findings if finding.fix is not None]
    result = fixed(source, options=options)
    assert not result.dropped
    assert bool(result.applied) == bool(offered)
    assert len(codes(result)) <= len(before.findings) - len(result.applied)
    assert result.report == check.check_source(result.source, "agent.py", options)
    ast.parse(result.source, feature_version=(3, 10))
    if result.applied:
        again = fixed(result.source, options=options)
        assert (again.source, again.applied) == (result.source, ())


@pytest.mark.parametrize("path", sample(BAD, 8, "all rules"), ids=name)
def test_the_fixes_of_all_rules_leave_nothing_to_fix(path: Path) -> None:
    """Those of one rule may let through what those of another stood in the way of."""
    options = check.Options(frozenset(rule.code for rule in FIXABLE))
    result = fixed(path.read_bytes(), options=options)
    if result.applied:
        again = fixed(result.source, options=options)
        assert (again.source, again.applied, again.dropped) == (result.source, (), result.dropped)


@pytest.mark.parametrize("rule", FIXABLE, ids=lambda rule: rule.name)
def test_every_rule_with_fixes_proves_two_of_them_by_running(rule: Rule) -> None:
    folder = FIXTURES / rule.name.replace("-", "_")
    stored = [path.stem for path in FIXED if path.parent == folder]
    assert len(stored) >= 2
    scenario = (folder / "scenario.py").read_text(encoding="utf-8")
    for stem in stored:
        assert stem in scenario or ".fixed" in scenario.replace("bad_", "")


# -- which fixes are applied --------------------------------------------------------------------------------------


def test_safe_fixes_are_applied_unsafe_ones_only_on_demand() -> None:
    both = STALE + "\n\n" + SHALLOW
    safe = fixed(both, Wish())
    assert [applied.code for applied in safe.applied] == ["AGL301"]
    assert codes(safe) == ["AGL201"]
    assert codes(fixed(both)) == []


def test_a_rule_that_may_not_fix_does_not() -> None:
    result = fixed(STALE + "\n\n" + SHALLOW, Wish(unsafe=True, codes=frozenset({"AGL201"})))
    assert [applied.code for applied in result.applied] == ["AGL201"]
    assert codes(result) == ["AGL301"]


def test_a_suppressed_finding_is_not_fixed() -> None:
    source = STALE.replace("list(history)", "list(history)  # noqa: AGL301").encode()
    result = fixed(source)
    assert (result.source, result.applied, result.report.suppressed) == (source, (), 1)


def test_two_findings_with_one_cure() -> None:
    source = SHALLOW.replace("    return", '        call["function"]["name"] = "x"\n    return')
    result = fixed(source)
    assert (len(result.applied), codes(result)) == (1, [])
    assert result.source.count(b"deepcopy") == 1


def test_two_fixes_in_one_function() -> None:
    source = STALE + "\n\n" + STALE.replace("def run", "def again")
    result = fixed(source)
    assert len(result.applied) == 2
    assert result.source.decode() == (
        fixed(STALE).source.decode() + "\n\n" + fixed(STALE).source.decode().replace("def run", "def again")
    )


def test_fixes_at_one_place_follow_each_other() -> None:
    module = SourceModule("x = [dict(m)]\ny = 1\n", "agent.py")
    line, other = module.tree.body
    call = next(node for node in module.scope_of if isinstance(node, cst.Call))
    moved = Edits(changed={module.tree: list}, claimed=frozenset({line}))
    inside = Edits(replaced={call: cst.Name("z")})
    beside = Edits(replaced={other: cst.Pass()})
    assert moved.overlaps(inside, module)
    assert inside.overlaps(moved, module)
    assert inside.overlaps(inside, module)
    assert moved.overlaps(Edits(changed={module.tree: list}), module)
    assert not inside.overlaps(beside, module)
    assert not beside.overlaps(moved, module)


# -- fixes that go wrong ------------------------------------------------------------------------------------------

Build = Callable[[cst.Module], Edits]


def spoil(monkeypatch: pytest.MonkeyPatch, build: Callable[[Any], Edits]) -> None:
    """Put another fix in the place of the one for AGL301."""
    from lint_rules.rules import stale_history_snapshot as rule

    def repair(anatomy: Any, stale: Any) -> Fix:
        return Fix("spoil", "safe", lambda: build(anatomy.module.tree))

    monkeypatch.setattr(rule, "repair", repair)


def appended(text: str) -> Callable[[cst.Module], Edits]:
    return lambda tree: Edits(changed={tree: lambda body: [*body, *cst.parse_module(text).body]})


def broken(tree: cst.Module) -> Edits:
    return Edits(changed={tree: lambda body: [*body, cst.SimpleStatementLine([cst.Expr(cst.Name("class"))])]})


def impossible(tree: cst.Module) -> Edits:
    raise ZeroDivisionError("by zero")


@pytest.mark.parametrize(
    ("build", "reason"),
    [
        (broken, "its result does not parse (invalid syntax"),
        (appended(STALE), "its result has one more AGL301, in line 12: each round sends the same copy"),
        (appended("x = 1\n"), "its result still has AGL301"),
        (appended(SHALLOW), "its result has one more AGL201, in line 14: "),
        (impossible, "it could not be made (ZeroDivisionError: by zero"),
    ],
    ids=["no Python", "the finding again", "the old finding stays", "a new finding", "an error"],
)
def test_a_fix_that_goes_wrong_is_dropped_and_told(
    monkeypatch: pytest.MonkeyPatch, build: Callable[[Any], Edits], reason: str
) -> None:
    spoil(monkeypatch, build)
    result = fixed(STALE)
    assert result.source == STALE.encode()
    assert not result.applied
    [dropped] = result.dropped
    assert (dropped.code, dropped.line) == ("AGL301", 2)
    assert dropped.reason.startswith(reason)


def test_a_bad_fix_costs_no_good_one(monkeypatch: pytest.MonkeyPatch) -> None:
    spoil(monkeypatch, broken)
    result = fixed(STALE + "\n\n" + SHALLOW)
    assert [applied.code for applied in result.applied] == ["AGL201"]
    assert [dropped.code for dropped in result.dropped] == ["AGL301"]
    assert codes(result) == ["AGL301"]


def change_edits(monkeypatch: pytest.MonkeyPatch, changed: Callable[[cst.Module, int, Edits], Edits]) -> None:
    """Let the fixes of AGL301 edit something else: `changed` gets the tree, the finding's line and the real edits."""
    from lint_rules.rules import stale_history_snapshot as rule

    def repair(anatomy: Any, stale: Any) -> Fix | None:
        made = stale_history_snapshot.repair(anatomy, stale)
        assert made is not None
        line = anatomy.module.positions.span(stale.node).line
        return Fix(made.title, made.applicability, lambda: changed(anatomy.module.tree, line, made.build()))

    monkeypatch.setattr(rule, "repair", repair)


def many(number: int) -> str:
    """So many findings, whose lines all read the same."""
    return "\n\n".join(STALE.replace("def run", f"def run{n}") for n in range(number))


def test_there_are_as_many_rounds_as_it_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    """All fixes change one block, so that a round takes one of them."""
    change_edits(monkeypatch, lambda tree, _, real: Edits({}, {**real.changed, tree: list}, real.claimed))
    result = fixed(many(14))
    assert (len(result.applied), codes(result)) == (14, [])


def test_what_stands_in_the_way_of_a_bad_fix_only_is_applied(monkeypatch: pytest.MonkeyPatch) -> None:
    bad = broken(cst.Module([])).changed.popitem()[1]
    change_edits(monkeypatch, lambda tree, line, real: Edits({}, {**real.changed, tree: bad if line == 2 else list}))
    result = fixed(many(2))
    assert (len(result.applied), [dropped.line for dropped in result.dropped]) == (1, [2])
    assert [finding.span.line for finding in result.report.findings] == [2]


def test_many_bad_fixes_cost_no_good_one(monkeypatch: pytest.MonkeyPatch) -> None:
    bad = {12 * number + 2 for number in (1, 4, 7)}
    change_edits(monkeypatch, lambda tree, line, real: broken(tree) if line in bad else real)
    result = fixed(many(9))
    assert (len(result.applied), len(result.dropped)) == (6, 3)
    assert {dropped.line for dropped in result.dropped} == {finding.span.line for finding in result.report.findings}


def test_what_was_refused_before_another_fix_is_tried_after_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first breaks the program as long as there is the second finding: that must not be the last word on it."""

    def changed(tree: cst.Module, line: int, real: Edits) -> Edits:
        if line == 2 and "request = list(history)\n    for" in tree.code.partition("def run1")[2]:
            return broken(tree)
        return real

    change_edits(monkeypatch, changed)
    result = fixed(many(2))
    assert (len(result.applied), result.dropped, codes(result)) == (2, (), [])


def test_what_cannot_be_analysed_is_left_alone() -> None:
    result = fixed("messages = (\n")
    assert (result.source, codes(result)) == (b"messages = (\n", ["AGL000"])


# -- bytes --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "source",
    [
        b"\xef\xbb\xbf" + STALE.encode(),
        STALE.replace("\n", "\r\n").encode(),
        STALE.rstrip("\n").encode(),
        ("# -*- coding: latin-1 -*-\n" + STALE.replace("too many", "tr\xe8s")).encode("latin-1"),
        ("\x0c\n" + STALE).encode(),
        STALE.replace("    ", "\t").encode(),
        STALE.replace("    ", "  ").encode(),
        STALE.replace('"', "'").encode(),
        (STALE + "# the end, without a line end").encode(),
        STALE.replace("history.append(message)\n", "history.append(message)\r\n").encode(),
    ],
    ids=["BOM", "CRLF", "no last newline", "latin-1", "form feed", "tabs", "two spaces", "quotes", "comment", "mixed"],
)
def test_all_other_bytes_stay(source: bytes) -> None:
    result = fixed(source)
    assert result.applied
    lines = source.splitlines(keepends=True)
    after = result.source.splitlines(keepends=True)
    [moved] = [line for line in lines if b"list(history)" in line]
    [there] = [line for line in after if b"list(history)" in line]
    lines.remove(moved)
    after.remove(there)
    assert after == lines
    assert there.strip(b" \t") == moved.strip(b" \t")
    assert after[after.index(next(line for line in after if b"for _" in line)) :] != []


def test_a_file_that_libcst_cannot_write_back_is_left_alone() -> None:
    source = STALE.replace("\n", "\r").encode()
    assert cst.parse_module(source).bytes != source, "then this test needs another example"
    result = fixed(source)
    assert result.source == source


# -- the snapshot -------------------------------------------------------------------------------------------------


def test_comments_move_with_the_snapshot_and_empty_lines_stay() -> None:
    before, loop = "    request = list(history)\n", "    for _ in range(20):\n"
    source = STALE.replace(before, "    x = 1\n\n    # what we send\n    request = list(history)  # a copy\n")
    assert rewritten(source) == STALE.replace(before, "    x = 1\n\n").replace(
        loop, loop + "        # what we send\n        request = list(history)  # a copy\n"
    )


@pytest.mark.parametrize(
    "change",
    [
        ("    for _", "    history.append({'role': 'user', 'content': 'go'})\n    for _"),
        ("    for _", "    print(len(request))\n    for _"),
        ("    for _", "    request[0] = SYSTEM\n    for _"),
        (
            "    request = list(history)\n",
            "    if tools:\n        request = list(history)\n    else:\n        request = []\n",
        ),
        ("    request = list(history)\n", "    request = list(history); print()\n"),
    ],
    ids=["grown in between", "read in between", "changed in between", "conditional", "two on a line"],
)
def test_a_snapshot_that_cannot_move_has_no_fix(change: tuple[str, str]) -> None:
    found = check.check_source(STALE.replace(*change).encode(), "agent.py", OPTIONS).findings
    assert all(finding.fix is None for finding in found)


@pytest.mark.parametrize(
    ("change", "applicability"),
    [
        (("list(history)", "history.copy()"), "safe"),
        (("list(history)", "history[-limit:]"), "safe"),
        (("list(history)", "[dict(m) for m in history]"), "safe"),
        (("list(history)", "[render(m) for m in history]"), "unsafe"),
        (('    raise RuntimeError("too many rounds")', "    return request"), "unsafe"),
    ],
)
def test_how_far_a_moved_snapshot_can_be_trusted(change: tuple[str, str], applicability: str) -> None:
    source = STALE.replace(*change)
    [finding] = check.check_source(source.encode(), "agent.py", OPTIONS).findings
    assert finding.fix is not None
    assert finding.fix.applicability == applicability


# -- deep copies and their import ---------------------------------------------------------------------------------


DOC = '"""Doc."""\n\n'
FUTURE = "from __future__ import annotations\n\n"
SHEBANG = "#!/usr/bin/env python\n# About.\n\n"


@pytest.mark.parametrize(
    ("head", "after"),
    [
        ("", "import copy\n\n\n"),
        ("x = 1\n\n\n", "import copy\n\nx = 1\n\n\n"),
        (DOC + "\n", DOC + "import copy\n\n\n"),
        (DOC + FUTURE + "\n", DOC + FUTURE + "import copy\n\n\n"),
        (DOC + FUTURE + "import json\n\n", DOC + FUTURE + "import copy\nimport json\n\n"),
        ("import json\nimport os\n\n", "import copy\nimport json\nimport os\n\n"),
        ("import abc\nimport json\n\n", "import abc\nimport copy\nimport json\n\n"),
        ("import abc\n\nimport openai\n\n", "import abc\nimport copy\n\nimport openai\n\n"),
        ("from typing import Any\n\n", "import copy\nfrom typing import Any\n\n"),
        ("import openai\n\n", "import copy\n\nimport openai\n\n"),
        (SHEBANG + "import json\n\n", SHEBANG + "import copy\nimport json\n\n"),
    ],
)
def test_an_import_goes_where_it_belongs(head: str, after: str) -> None:
    assert rewritten(head + SHALLOW) == after + SHALLOW.replace("dict(message)", "copy.deepcopy(message)")


@pytest.mark.parametrize(
    ("head", "call"),
    [
        ("import copy\n\n", "copy.deepcopy(message)"),
        ("import copy as cp\n\n", "cp.deepcopy(message)"),
        ("from copy import deepcopy\n\n", "deepcopy(message)"),
        ("from copy import deepcopy as clone\n\n", "clone(message)"),
    ],
)
def test_an_import_that_is_there_is_used(head: str, call: str) -> None:
    assert rewritten(head + SHALLOW) == head + SHALLOW.replace("dict(message)", call)


def test_a_name_is_added_to_an_import_that_is_there() -> None:
    result = rewritten("from copy import copy\n\n" + SHALLOW)
    assert result == "from copy import copy, deepcopy\n\n" + SHALLOW.replace("dict(message)", "deepcopy(message)")


def test_a_name_that_means_something_else_is_not_used() -> None:
    result = rewritten("copy = 1\n\n\n" + SHALLOW)
    assert "from copy import deepcopy\n" in result
    assert "slim = deepcopy(message)" in result


def test_no_fix_when_no_name_is_free() -> None:
    source = "copy = deepcopy = 1\n\n\n" + SHALLOW
    [finding] = check.check_source(source.encode(), "agent.py", OPTIONS).findings
    assert finding.fix is None


def test_an_import_under_a_condition_does_not_count() -> None:
    result = rewritten("try:\n    import copy as cp\nexcept ImportError:\n    pass\n\n\n" + SHALLOW)
    assert "slim = copy.deepcopy(message)" in result
    assert re.match("import copy\n", result)


@pytest.mark.parametrize(
    ("shallow", "deep"),
    [
        ("{**message}", "copy.deepcopy(message)"),
        ('{**message, "a": 1}', '{**copy.deepcopy(message), "a": 1}'),
        ("message.copy()", "copy.deepcopy(message)"),
        ("copy.copy(message)", "copy.deepcopy(message)"),
        ("dict(message)", "copy.deepcopy(message)"),
        ("dict(message, a=1)", "dict(copy.deepcopy(message), a=1)"),
        ("dict(message, a=copy.deepcopy(b))", "dict(copy.deepcopy(message), a=copy.deepcopy(b))"),
        ('{**message, "a": copy.deepcopy(b)}', '{**copy.deepcopy(message), "a": copy.deepcopy(b)}'),
    ],
)
def test_shapes_of_copies(shallow: str, deep: str) -> None:
    source = "import copy\nimport json\n\n\n" + KNOWN.replace("dict(message)", shallow)
    assert rewritten(source) == source.replace(f"slim = {shallow}", f"slim = {deep}")


@pytest.mark.parametrize(
    "deep",
    [
        "copy.deepcopy(dict(message))",
        "dict(copy.deepcopy(message))",
        "message.model_copy(deep=True).model_copy()",
        "dict(json.loads(json.dumps(message)))",
        "dict(message.model_dump())",
    ],
)
def test_what_is_deep_is_not_copied_again(deep: str) -> None:
    source = "import copy\nimport json\n\n\n" + KNOWN.replace("dict(message)", deep)
    result = fixed(source)
    assert (result.source.decode(), result.applied, result.dropped) == (source, (), ())


@pytest.mark.parametrize(
    ("shallow", "deep"),
    [
        ("[dict(m) for m in history]", "[copy.deepcopy(dict(m)) for m in history]"),
        ("[dict(m) for m in history if m.get('content')]", "[copy.deepcopy(m) for m in history if m.get('content')]"),
        ("[{**m} for m in history]", "[copy.deepcopy(m) for m in history]"),
        ("list(history)", "[copy.deepcopy(message) for message in history]"),
        ("list(history.messages)", "[copy.deepcopy(message) for message in history.messages]"),
    ],
)
def test_what_is_a_dict_is_copied_once(shallow: str, deep: str) -> None:
    """What is not known to be one must become one: a message of an SDK, say."""
    source = f"import copy\n\n\ndef slim(history):\n    messages = {shallow}\n    for message in messages:\n"
    source += '        for call in message.get("tool_calls", ()):\n            call["function"]["arguments"] = ""\n'
    source += "    return messages\n"
    source += (
        "\n\ndef ask(client, history):\n    reply = client.chat.completions.create(model='m', messages=slim(history))"
    )
    source += "\n    history.append(reply.choices[0].message)\n"
    wanted = source.replace(f"= {shallow}", f"= {deep}")
    assert fixed(source).source.decode() == wanted


def test_the_name_of_a_type_stands_for_it() -> None:
    named = "import copy\n\nEntry = dict[str, object]\n\n\n" + KNOWN.replace("message: dict", "message: Entry")
    assert "slim = copy.deepcopy(message)\n" in rewritten(named)


# -- edits --------------------------------------------------------------------------------------------------------


def test_imports_are_added_once() -> None:
    tree = cst.parse_module("import json\n")
    wanted = Import("copy")
    new = edits.apply(tree, [Edits(imports=frozenset({wanted})), Edits(imports=frozenset({wanted}))])
    assert new.code == "import copy\nimport json\n"


def test_a_name_is_not_added_to_an_import_in_parentheses() -> None:
    tree = cst.parse_module("from copy import (\n    copy,\n)\n")
    new = imports.add_imports(tree, [Import("copy", "deepcopy")])
    assert new.code.startswith("from copy import (\n    copy,\n)\n")
    assert "from copy import deepcopy\n" in new.code
