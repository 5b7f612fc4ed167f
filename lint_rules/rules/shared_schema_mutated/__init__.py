"""# shared-schema-mutated (AGL203)

## What it does
Reports stores into the schema of a tool that others hold too: the schema is only named anew (`schema =
tool.inputSchema`) or copied one level deep (`{**tool.tool_spec}`), and then edited for one request, one provider or one
display. The same for tools and parts of a request that are kept for all requests.

## Why is this bad
The tool keeps the edit. The next agent, the next request and another provider get a schema that nobody wrote: strict
mode where it was not asked for, shortened descriptions, `additionalProperties` that an API refuses. Which schema is
sent depends on what ran before.

## Symptoms
- a tool's schema is another one from run to run
- it works with one provider until another one was used
- tool descriptions get shorter by themselves

## Example
```python
def to_openai(tool):
    schema = tool.inputSchema
    schema["additionalProperties"] = False
    return {"type": "function", "function": {"name": tool.name, "parameters": schema}}
```

## Use instead
```python
import copy


def to_openai(tool):
    schema = copy.deepcopy(tool.inputSchema)
    schema["additionalProperties"] = False
    return {"type": "function", "function": {"name": tool.name, "parameters": schema}}
```

## How it decides
A schema is known by the name under which a tool keeps it: `inputSchema` (MCP), `input_schema` (Anthropic),
`params_json_schema` (OpenAI Agents), `tool_spec`, `parameters` of a tool or function, and the like; or by what the
function does with it, whatever it is called: it stands in the definition of a tool, or becomes one (`schema["type"] =
"function"`). The tool must come from elsewhere: a parameter, an element of one, an attribute. Names, shallow copies and
loops are followed on the control-flow graph; a deep copy, or a new dict for the nested part, ends it. A function whose
name or docstring says that it edits (`set_...`, `add_...`, "in place") is silent, and so is one that edits tools it has
made.

Of a list of tools that a request offers, and of what a request is made of (`body.update(COMMON)`, `{**self.options,
"messages": messages}`), an edit counts that stays in a part which an attribute or a global keeps; also in a function of
the file that hands these over, or gives them. Silent is what each request sets anew, what is put there only where a
test has looked for it, and what an object learns: into a list of its own, or into what it keeps, only the same constant
that is put there again and again counts, or what hangs on a parameter of the call.

## Known problems
Schemas that a method returns (`tool.get_schema()`) are taken for new ones, tools that one without arguments returns
(`registry.all()`) for those that its object keeps. A function of another file that edits the schema it gets is not
seen, and options that another file hands over are not followed.

## Fix safety
There is no fix: where the copy belongs, and how deep it has to be, depends on the edit.

## References
- Python documentation, `copy`: shallow copies share the nested objects
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.messages.given import says_so
from lint_rules.anatomy.values.sharing import SharedStore
from lint_rules.rules.draft import Draft, Note
from lint_rules.rules.shared_schema_mutated.schemas import SchemaStores
from lint_rules.syntax import expressions as ex

_HELP = "edit a copy of your own: `copy.deepcopy(...)`"


def check(anatomy: Anatomy) -> Iterator[Draft]:
    found: dict[object, list[SharedStore]] = {}  # one schema is one defect, however often it is stored into
    claimed: set[cst.CSTNode] = set()
    shared = SchemaStores(anatomy)
    for store in shared.found():
        if store.node not in claimed:
            claimed.add(store.node)
            found.setdefault(_place(anatomy, store), []).append(store)
    for stores in found.values():
        stores.sort(key=lambda store: anatomy.module.order[store.node])
        function = anatomy.module.scope_of[stores[0].node].function
        if not says_so(function):
            yield _draft(anatomy, stores, shared.what(stores[0]) in {"tools", "request"})


def _place(anatomy: Anatomy, store: SharedStore) -> object:
    """What is edited: the copy that was made, or else the schema in this function that is named as it is."""
    if store.copy.node is not store.copy.source:
        return store.copy.node
    return anatomy.module.scope_of[store.node].function, ex.source(store.copy.source)


def _draft(anatomy: Anatomy, stores: list[SharedStore], is_sent: bool) -> Draft:
    copy = stores[0].copy
    source, target = ex.source(copy.source, 40), ex.source(stores[0].target, 40)
    whose = f"`{source}`" if is_sent else f"the tool's own `{source}`"
    harm = "is sent with the edit" if is_sent else "that offers the tool sends the edited schema"
    if ex.source(stores[0].target).startswith(ex.source(copy.source)):
        message = f"this edits {whose}: every later request {harm}"
    else:
        how = "is" if copy.fresh == 0 else "is shared with"
        message = f"`{target}` {how} {whose}: every later request {harm}"
    notes = [] if copy.node is copy.source else [Note(copy.node, f"this copies `{source}` one level deep")]
    if copy.node is copy.source and not anatomy.module.inside(copy.node, stores[0].node):
        notes = [Note(copy.node, "taken here, not copied")]
    notes += [Note(store.node, "edited here, too") for store in stores[1:3]]
    return Draft(stores[0].node, message, _HELP, tuple(notes))
