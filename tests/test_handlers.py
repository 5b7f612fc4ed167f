"""How handlers end, of what they do with the error."""

from __future__ import annotations

import libcst as cst
import pytest

from lint_rules.anatomy.program.handlers import Ending, handle
from lint_rules.syntax.module import SourceModule


@pytest.mark.parametrize(
    ("body", "ending"),
    [
        ("raise", Ending.RERAISES),
        ("log.error(e); raise", Ending.RERAISES),
        ("raise RuntimeError(str(e)) from e", Ending.RAISES),
        ("with lock:\n    log.error(e)\n    raise", Ending.RERAISES),
        ("try: raise\nfinally: log.error(e)", Ending.RERAISES),
        ("return str(e)", Ending.TELLS),
        ("x = {}", Ending.NEUTRAL),
        ("log.error(e)", Ending.DROPS),
        # What is raised under a condition is raised sometimes: what happens else counts.
        ("if last: raise", Ending.DROPS),
        ("if last:\n    raise RuntimeError(str(e)) from e", Ending.DROPS),
        ("if last: raise\nx = {}", Ending.NEUTRAL),
        ("if strict: raise\ntell(e)", Ending.TELLS),
        ("if last:\n    raise\nelse:\n    log.error(e)", Ending.DROPS),
        ("if last:\n    raise\nelif other:\n    raise ValueError\nelse:\n    raise Exception(e)", Ending.RERAISES),
        ("if last:\n    raise\nelif other:\n    raise ValueError", Ending.DROPS),
    ],
)
def test_endings(body: str, ending: Ending) -> None:
    indented = "".join(f"    {line}\n" for line in body.splitlines())
    module = SourceModule(f"try:\n    x = json.loads(text)\nexcept ValueError as e:\n{indented}", "a.py")
    guard, *_ = module.nodes_of(cst.Try)
    assert handle(module, guard, guard.handlers[0]).ending is ending


@pytest.mark.parametrize(
    ("body", "after", "ending"),
    [
        ("text = f'failed: {str(e)}'\nlog.error(text)", "", Ending.DROPS),
        ("text = describe(e)\nconsole.print(Panel(text))\nx = {}", "", Ending.NEUTRAL),
        # What anybody else reads is told, and so is what outlives the function.
        ("text = describe(e)\nlog.error(text)\ntell(text)", "", Ending.TELLS),
        ("text = describe(e)\nlog.error(text)", "answer(text)", Ending.TELLS),
        ("self.text = describe(e)\nlog.error(self.text)", "", Ending.TELLS),
        ("global text\ntext = describe(e)\nlog.error(text)", "", Ending.TELLS),
    ],
)
def test_what_only_a_log_reads_is_not_told(body: str, after: str, ending: Ending) -> None:
    indented = "".join(f"        {line}\n" for line in body.splitlines())
    source = (
        f"def run(self):\n    try:\n        x = json.loads(raw)\n    except ValueError as e:\n{indented}    {after}\n"
    )
    module = SourceModule(source, "a.py")
    guard, *_ = module.nodes_of(cst.Try)
    assert handle(module, guard, guard.handlers[0]).ending is ending
