"""# unmarked-truncation (AGL701)

## What it does
Reports a tool result, the content of a stored message, or a part of a request, that is cut to its first characters,
with nothing that says so to the model.

## Why is this bad
The end of an output is where errors, totals and answers stand. The model cannot know that something is missing: it
takes the head for all there is, and concludes that what it looks for is not there. A bare `...` tells it nothing.

## Symptoms
- the agent says that something is not there, although it is
- the model does not see the error at the end of an output

## Example
```python
def answer_calls(messages, calls, execute):
    for call in calls:
        output = execute(call.function.name, call.function.arguments)
        messages.append({"role": "tool", "tool_call_id": call.id, "content": output[:2000]})
```

## Use instead
```python
def answer_calls(messages, calls, execute):
    for call in calls:
        output = execute(call.function.name, call.function.arguments)
        if len(output) > 2000:
            output = f"{output[:1000]}\\n[{len(output) - 2000} characters left out]\\n{output[-1000:]}"
        messages.append({"role": "tool", "tool_call_id": call.id, "content": output})
```

## How it decides
What a message says, wherever it goes, what is put into a request or posted as its `prompt`, and what a tool gives back,
is followed back through names, parts of objects, concatenations, f-strings, `format`, lists that are filled or gone
through, displays, constructors, functions of the same file, and what their callers hand to them; also where a function
of another file says it, asks with it, or hands it on. A function is a tool if a model is told of it by name and
description (a dict, a tuple, a constructor, a decorator, a call, a class, or one that this inherits from and that
leaves to it what is done), if it is offered (`tools=[read]`), run by its name (`TABLE[name](**arguments)`), put into
the table of an object that does so (`@tools.register`), compares names of tools, or gives one of these, or what answers
a call, its result, here or in the files that import it. A head on that way is reported: `text[:n]`, `f"{text:.900}"`,
`file.read(n)` where nothing else is read of it, `decode(tokens[:n])`, and the first lines of a text, a process or what
a function has gathered, joined (`"\\n".join(lines[:n])`, `islice`).
Silent: words in the line next to it, or any of another script there, say that, or how much, is missing (in the rest of
its paragraph, in those next to it, and in the first one, only such as "truncated"; how many there are of several that
are put together says nothing of each); words in these paragraphs, or the key under which it stands, say that it is a
part (names say nothing of what is known by what they hold); words stand behind it only where it was cut; or the same
function keeps the end of the text, too. So are logs, records of requests, titles, user interfaces, other lists
(`results[:5]`), JSON text (AGL502), a hash or an id, what a decoder's error says, the text of an error that was caught,
what the model itself has written to call the tool, a length that was asked for, a place that was looked for in the
text, and a part of a text that stands in the same message as a whole. Nor are fewer than 20 lines, than 100 characters
of what a tool gives back or another message says, and than 201 of anything else, of one of several texts, or where an
error is handled.

## Known problems
A text that is given back through more than two files is not seen. Of who imports a file nothing is known where only
this one is checked.

## Fix safety
Unsafe: a note with the number of missing characters is put behind the head, so the text gets longer than the limit by
that note. There is no fix where something else is put behind it already, or the text should not be evaluated twice.

## References
- Anthropic, "Writing effective tools for agents": tell the agent that a response was truncated, and what to do next
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.messages.heads import Head, is_json
from lint_rules.anatomy.messages.message_texts import MessageText, cut_texts
from lint_rules.rules.draft import Draft, Note
from lint_rules.rules.unmarked_truncation.fixes import repair
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.walk import walk

_HELP = (
    "keep head and tail and say how much is missing between them: "
    '`f"{text[:n]}\\n[{len(text) - 2 * n} characters left out]\\n{text[-n:]}"`'
)


def check(anatomy: Anatomy) -> Iterator[Draft]:
    for text, head in cut_texts(anatomy):
        if not is_json(anatomy.facts, head):
            yield _draft(anatomy, text, head)


def _draft(anatomy: Anatomy, text: MessageText, head: Head) -> Draft:
    name = ex.source(head.text, 40)
    what = "the result of a tool call" if text.answers else "a message"
    if text.asked:
        what = "what a model is asked"
    if text.tool is not None:
        what = f"what the tool `{text.tool}` gives back"
    message = (
        f"{what} is cut to the head of `{name}` and dots: the model cannot know how much is missing"
        if _has_dots(anatomy, head.node)
        else f"{what} is cut to the head of `{name}`: the model cannot know that its end is missing"
    )
    inside = anatomy.module.inside(head.node, text.node)
    notes = () if inside else (Note(text.node, "given back here" if text.tool else f"{what} gets it here"),)
    return Draft(head.node, message, _HELP, notes, fix=repair(anatomy, head))


def _has_dots(anatomy: Anatomy, head: cst.CSTNode) -> bool:
    """`text[:n] + "..."`, `f"{text[:n]}..."`: those of a later line are about something else."""
    inner = head
    for outer in anatomy.module.ancestors(head):
        if isinstance(outer, cst.FormattedString):
            behind = outer.parts[[*outer.parts].index(inner) + 1 :][:1]  # type: ignore[arg-type]
            found = [part.value for part in behind if isinstance(part, cst.FormattedStringText)]
        elif isinstance(outer, cst.BinaryOperation):
            found = [part.value for part in walk(outer) if isinstance(part, cst.SimpleString)]
        elif isinstance(outer, (cst.FormattedStringExpression, cst.Attribute, cst.Call)):  # `text[:n].rstrip() + "..."`
            found = []
        else:
            return False
        lines = (text.replace("\\n", "\n").partition("\n")[0] for text in found)
        if any("..." in line or "…" in line for line in lines):
            return True
        inner = outer
    return False
