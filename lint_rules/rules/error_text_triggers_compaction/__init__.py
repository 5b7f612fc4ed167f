"""# error-text-triggers-compaction (AGL705)

## What it does
Reports a history that is cut because the text of an error has a word like "token", "context" or "length" in it.

## Why is this bad
An invalid API token, an expired token, a "context deadline exceeded", a wrong content length: all of them have such a
word in their text. None of them gets better with a shorter history, and what is cut is lost for good. With retries,
the history is halved again and again, until nothing is left of it.

## Symptoms
- an expired API token makes the agent forget the chat
- the history gets shorter with each retry

## Example
```python
def ask(client, history):
    while True:
        try:
            return client.chat.completions.create(model="gpt-5", messages=history)
        except Exception as exc:
            if "token" not in str(exc).lower():
                raise
            half = len(history) // 2
            history[:] = [history[0], *history[half:]]
```

## Use instead
```python
def ask(client, history):
    while True:
        try:
            return client.chat.completions.create(model="gpt-5", messages=history)
        except BadRequestError as exc:
            if exc.code != "context_length_exceeded":
                raise
            half = len(history) // 2
            history[:] = [history[0], *history[half:]]
```

## How it decides
In an `except` block, or in a function of the project that gets the error from there, one of these words is looked for
in the error's text (`str(exc)`, `exc.message`, names for it), also by a pattern (`re.search`): token, tokens, context,
length, limit, size, long, large. And in that block a message history is cut, summarised or replaced: by position, by a
function of the project that does so, or by one of a library that is named for it (compress, compact, trim, truncate,
shorten, summarize). Silent where a whole phrase is looked for ("maximum context length", "context_length_exceeded"),
where two words must come together, and where an error code or a type is tested.

## Known problems
Words that come from settings are not read.

## Fix safety
There is no fix: what the error of a full context looks like depends on the provider.

## References
- OpenAI API reference, errors: the code `context_length_exceeded`
- Anthropic API reference, errors: `invalid_request_error` with "prompt is too long", `request_too_large`
"""

from __future__ import annotations

from collections.abc import Iterator

from lint_rules.anatomy.agent import Anatomy
from lint_rules.rules.draft import Draft, Note
from lint_rules.rules.error_text_triggers_compaction.by_word import cuts_by_word

_HELP = (
    "test the error's type or code (`context_length_exceeded`), or the provider's whole phrase, and raise all others"
)


def check(anatomy: Anatomy) -> Iterator[Draft]:
    for found in cuts_by_word(anatomy):
        message = (
            f'a history is cut because an error\'s text has "{found.word}" in it: another error, such as an invalid'
            " API token or a timeout, costs the user stored messages, and the request fails all the same"
        )
        yield Draft(found.test, message, _HELP, (Note(found.cut, "the history is cut here"),))
