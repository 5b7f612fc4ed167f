"""Where things stand: what one rule alone asks lies in its folder, and everything below the rules serves several.

Asked of modules by what they import, and of functions by the names that they say.
"""

from __future__ import annotations

import ast
from collections import Counter, defaultdict
from pathlib import Path

ROOT = Path(__file__).parent.parent
RULES = "lint_rules.rules."
SHARED = {RULES + name for name in ("brought", "catalogue", "draft")}
BELOW = ("lint_rules.anatomy.", "lint_rules.obligations.", "lint_rules.program.", "lint_rules.repairs.")

MOST_LINES = 60
"""Of a room: so many may be for one rule, as a part of an idea that others share."""

Function = tuple[str, str]
"""The module of a function, and its name there: `Class.method` of a method."""


def modules() -> dict[str, set[str]]:
    """The modules of looplint, and which of them each imports."""
    paths = {_name(path): path for path in (ROOT / "lint_rules").rglob("*.py")}
    imports: dict[str, set[str]] = {}
    for name, path in paths.items():
        nodes = (n for n in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(n, ast.ImportFrom) and n.module)
        named = [(node.module, f"{node.module}.{alias.name}") for node in nodes for alias in node.names]
        imports[name] = {inner if inner in paths else outer for outer, inner in named} & paths.keys()  # type: ignore[misc]
    return imports


def _name(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


def owner(module: str) -> str | None:
    """The rule whose file or folder a module is, or stands in."""
    if not module.startswith(RULES) or module in SHARED:
        return None
    return ".".join(module.split(".")[:3])


def test_what_one_rule_asks_stands_with_it() -> None:
    imports = modules()
    served: defaultdict[str, set[str]] = defaultdict(set)
    for rule in {owner(module) for module in imports} - {None}:
        seen, left = set[str](), {m for m in imports if owner(m) == rule}
        while left:
            seen |= left
            left = {below for module in left for below in imports[module]} - seen
        for module in seen:
            served[module].add(str(rule))
    assert len(served) > 200
    lonely = {module: rules for module, rules in served.items() if module.startswith(BELOW) and len(rules) == 1}
    assert lonely == {}, "move these to the folder of the only rule that they serve"


def test_no_rule_asks_another() -> None:
    imports = modules()
    asked = [
        (m, below) for m in imports for below in imports[m] if owner(below) and owner(m) not in {None, owner(below)}
    ]
    assert asked == []
    assert any(owner(m) and owner(m) != m for m in imports), "no rule has a folder: this test looks at nothing"


def functions() -> dict[Function, ast.FunctionDef]:
    """The functions and methods of looplint."""
    found: dict[Function, ast.FunctionDef] = {}
    for path in (ROOT / "lint_rules").rglob("*.py"):
        for node in ast.parse(path.read_text("utf-8")).body:
            if isinstance(node, ast.FunctionDef):
                found[_name(path), node.name] = node
            for method in node.body if isinstance(node, ast.ClassDef) else ():
                if isinstance(method, ast.FunctionDef):
                    found[_name(path), f"{node.name}.{method.name}"] = method  # type: ignore[attr-defined]
    return found


def test_no_room_is_for_one_rule_in_secret() -> None:
    """A name is asked of whatever bears it: where several functions do, all of them are."""
    asked, called = functions(), defaultdict[str, set[Function]](set)
    for module, name in asked:
        outer, _, last = name.rpartition(".")
        called[outer if last.startswith("__") else last].add((module, name))  # who makes an object asks its class
    below = {each: _asked_by(each, node, called) for each, node in asked.items()}
    served: defaultdict[Function, set[str]] = defaultdict(set)
    for rule in {owner(module) for module, _ in asked} - {None}:
        seen, left = set[Function](), {each for each in asked if owner(each[0]) == rule}
        while left:
            seen |= left
            left = {other for each in left for other in below[each]} - seen
        for each in seen:
            served[each].add(str(rule))
    lines: Counter[tuple[str, str]] = Counter()
    for (module, name), rules in served.items():
        if module.startswith(BELOW) and len(rules) == 1:
            node = asked[module, name]
            lines[module, next(iter(rules))] += node.end_lineno - node.lineno + 1  # type: ignore[operator]
    assert {each: count for each, count in lines.items() if count > MOST_LINES} == {}


def _asked_by(function: Function, node: ast.FunctionDef, called: dict[str, set[Function]]) -> set[Function]:
    """What a function may ask: private names in its own module only, of rules what belongs to the same one."""
    module, _ = function
    names = {
        n.attr if isinstance(n, ast.Attribute) else n.id
        for n in ast.walk(node)
        if isinstance(n, (ast.Attribute, ast.Name))
    }
    return {
        each
        for name in names
        for each in called.get(name, ())
        if (each[0] == module or not name.startswith("_")) and (owner(each[0]) in {None, owner(module)})
    }
