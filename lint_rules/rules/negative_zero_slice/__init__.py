"""# negative-zero-slice (AGL703)

## What it does
Reports `history[-n:]` where `n` may be 0 and nobody makes sure that it is not.

## Why is this bad
`history[-0:]` is `history[0:]`: the whole list. When no message should be kept, the model gets all of them, and a
window that is full sends more than ever.

## Symptoms
- the whole history is sent where none was wanted
- OpenAI: `This model's maximum context length is 128000 tokens. However, your messages resulted in ... tokens.`
- Anthropic: `prompt is too long: ... tokens > 200000 maximum`

## Example
```python
def ask(client, history, window, reserved):
    room = max(window - reserved, 0)
    return client.chat.completions.create(model="gpt-5", messages=history[-room:])
```

## Use instead
```python
def ask(client, history, window, reserved):
    room = max(window - reserved, 0)
    return client.chat.completions.create(model="gpt-5", messages=history[max(len(history) - room, 0) :])
```

## How it decides
The list is a message history, or a list of positions in one (`openers[-n]`, the first of the last n turns). The number
is 0 in the code, comes from a difference, a division or `max(..., 0)`, or is a parameter that callers must give (also
one that only `None` switches off), or that is 0 unless they do: through local names, fields and settings, and through
the callers in the same file, where there are any, and what functions of the file give back (how many messages fit).
Silent where a test that every way to the slice goes through asks for zero (`if not n`, `if n <= 0: return []`,
`n or 10`, a conditional expression), for numbers that the code itself tells (literals, constants of the module or of
a class, sums of these), and for fields, settings and parameters with another default.

## Known problems
Settings with another default that a user may set to 0 are not reported.

## Fix safety
Safe: `history[max(len(history) - n, 0):]` is the same list for every number from 1 on, and empty for 0. What comes
before, `history[:-n]` of the same function, is put right with it, or nothing is: one half alone would lose messages or
double them. There is no fix where the list or the number are expressions that should not be evaluated twice or change
between the halves, nor for a single element.

## References
- Python language reference, slicings: a start of `-0` is a start of 0
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.cuts.cuts import negated
from lint_rules.repairs.negative_zero_slice import repair
from lint_rules.rules.draft import Draft, Note
from lint_rules.rules.negative_zero_slice.sizes import Sizes, Zero
from lint_rules.syntax import expressions as ex


def check(anatomy: Anatomy) -> Iterator[Draft]:
    contents, sizes = anatomy.contents, Sizes(anatomy)
    for node in anatomy.module.nodes_of(cst.Subscript):
        found = negated(node)
        if found is None:
            continue
        function = anatomy.module.scope_of[node].function
        single = ex.index(node) is not None
        counted = contents.counted(node.value)
        if counted is None and (single or contents.history(node.value) is None):
            continue
        zero = sizes.zero(found, node, function)
        if zero is not None and f"len({ex.source(node.value)})" not in ex.source(found, 200):
            yield _draft(anatomy, node, found, zero, single)


def _draft(anatomy: Anatomy, node: cst.Subscript, size: cst.BaseExpression, zero: Zero, single: bool) -> Draft:
    name, count = ex.operand(node.value, 40), ex.operand(size, 40)
    named = name if ex.dotted(node.value) is not None else "kept"  # what a call gives is named first, not made twice
    what = f"`{name}[-0]` is the first one" if single else f"`{name}[-0:]` is the whole list"
    harm = (
        "where nothing should be kept as it is, everything is"
        if single
        else "where no message should be taken, all of them are"
    )
    message = f"`{count}` may be 0, and {what}: {harm}"
    cure = (
        f"test for 0 first: `{name}[-{count}] if {count} else ...`"
        if single
        else f"count from the front: `{named}[max(len({named}) - {count}, 0):]`"
    )
    notes = (Note(zero.node, f"`{count}` {zero.reason}"),) if zero.node is not node else ()
    return Draft(node, message, cure, notes, fix=None if single else repair(anatomy, node, size))
