"""Where things stand: what one rule alone asks lies in its folder, and everything below the rules serves several."""

from __future__ import annotations

import ast
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).parent.parent
RULES = "lint_rules.rules."
SHARED = {RULES + name for name in ("brought", "catalogue", "draft")}
BELOW = ("lint_rules.anatomy.", "lint_rules.obligations.", "lint_rules.program.", "lint_rules.repairs.")


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
