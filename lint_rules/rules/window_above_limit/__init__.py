"""# window-above-limit (AGL702)

## What it does
Reports a floor under what is left of a window: `max(window - reserved, 5)` as the number of messages that are sent.

## Why is this bad
When the reserved part takes all of the window, the floor sends messages on top of it: the limit is not one, just when
it would be needed. The request is larger than the window that was set, and the API cuts or refuses it.

## Symptoms
- the request is larger than the window that was set
- OpenAI: `This model's maximum context length is 128000 tokens. However, your messages resulted in ... tokens.`
- Anthropic: `prompt is too long: ... tokens > 200000 maximum`

## Example
```python
def request(client, system, notes, history, window=20):
    pinned = [system, *notes]
    room = max(window - len(pinned), 5)
    return client.chat.completions.create(model="gpt-5", messages=pinned + history[-room:])
```

## Use instead
```python
def request(client, system, notes, history, window=20):
    pinned = [system, *notes]
    room = max(window - len(pinned), 0)
    start = max(len(history) - room, 0)
    return client.chat.completions.create(model="gpt-5", messages=pinned + history[start:])
```

## How it decides
The number of messages that a slice of a message history, or of pairs with them, keeps is `max(a - b, k)` with a
constant k of 2 or more, or is set to such a constant where nothing is left (`if room <= 0: room = 5`, `a - b if a > b
else 5`): directly or through local names, callers and functions of the same file. So is what is compared where messages
are picked or dropped one by one while there is room, a number of tokens too. A floor of 1 is not reported: without the
newest message there is no request.

## Known problems
Numbers that an object keeps, and windows that a function of another file applies, are not seen.

## Fix safety
Unsafe: the floor becomes 0, and the slice is counted from the front, as `history[-0:]` would be the whole list. With no
room left, nothing of the history is sent: whether the newest message has to be, only a person can say. There is no fix
where the floor is set by a statement of its own.

## References
- negative-zero-slice (AGL703): why a floor of 0 alone is no cure
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.cuts.cuts import Cut, compares_size, is_length
from lint_rules.rules.draft import Draft, Note
from lint_rules.rules.window_above_limit.fixes import repair
from lint_rules.rules.window_above_limit.floors import Floor, Floors
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.walk import walk

_HELP = "let the number be 0 where nothing is left, and count from the front: `history[max(len(history) - n, 0):]`"


def check(anatomy: Anatomy) -> Iterator[Draft]:
    contents, floors = anatomy.contents, Floors(anatomy)
    seen: set[cst.CSTNode] = set()
    for cut in anatomy.cuts:
        for bound in _bounds(anatomy, cut):
            floor = floors.under(bound)
            if floor is None or floor.node in seen or not (contents.history(cut.base) or contents.counted(cut.base)):
                continue
            seen.add(floor.node)
            yield _draft(anatomy, cut, floor)


def _bounds(anatomy: Anatomy, cut: Cut) -> Iterator[cst.BaseExpression]:
    """How many messages a cut keeps; of one that picks or drops them one by one, what is compared meanwhile."""
    if cut.shape in {"tail", "bounded"} and cut.size is not None:
        yield cut.size
    elif cut.shape == "rest" and cut.size is not None:  # `start = max(len(h) - n, 0)`, and `h[start:]`
        named = anatomy.assigned(cut.size) if isinstance(cut.size, cst.Name) else None
        for part in walk(named or cut.size):
            if isinstance(part, cst.BinaryOperation) and isinstance(part.operator, cst.Subtract):
                yield from [part.right] if is_length(part.left, cut.base) else ()
    loop = anatomy.module.loop_around(cut.node) if cut.shape in {"picked", "shift"} else None
    for test in (node for node in walk(loop) if isinstance(node, cst.Comparison)) if loop is not None else ():
        if compares_size(test):
            yield from (side for side in (test.left, test.comparisons[0].comparator) if isinstance(side, cst.Name))


def _draft(anatomy: Anatomy, cut: Cut, floor: Floor) -> Draft:
    left, least, name = ex.source(floor.left, 40), ex.source(floor.least), ex.source(cut.base, 40)
    counted = cut.shape in {"tail", "bounded", "rest"}
    message = (
        f"where `{left}` leaves no room, {least}{' messages' if counted else ''} of `{name}` are sent all the same:"
        " the request is larger than the window that was set"
    )
    inline = anatomy.module.inside(floor.node, cut.node)
    notes = () if inline else (Note(cut.node, "so many messages are kept here" if counted else "it is cut here"),)
    return Draft(floor.node, message, _HELP, notes, fix=repair(anatomy, cut, floor) if cut.shape == "tail" else None)
