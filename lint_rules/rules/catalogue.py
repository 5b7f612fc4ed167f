"""Which rules there are. Cheap to import: a rule's own module is loaded when the rule runs or is explained.

`RULES`, `BY_CODE` and `BY_NAME` are looplint's own. What holds of all that are installed, `rules()` and its kin tell.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import ModuleType
from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from lint_rules.anatomy.agent import Anatomy
    from lint_rules.plugins.agent import Agent
    from lint_rules.rules.draft import Draft

Group = Literal["correctness", "suspicious", "opt-in"]


class Rule(NamedTuple):
    """A rule's entry: its code (letters and three digits), its name (kebab-case), its group and one-line summary.

    The groups: "correctness" is wrong wherever it is found, "suspicious" as a rule; "opt-in" runs if it is selected.

    `asks` is the question of a rule that another package brings: a function that gets the agent of one file, and
    yields a `Draft` for each problem. Its docstring is the rule's page, in Markdown. A rule of looplint's own has none,
    but a module of its name.
    """

    code: str
    name: str
    group: Group
    summary: str
    asks: Callable[[Agent], Iterable[Draft]] | None = None
    package: str = ""
    """Who brings it, with the version; looplint fills it in. Empty for its own rules."""

    @property
    def default(self) -> bool:
        """Whether the rule runs without being selected."""
        return self.group != "opt-in"

    @property
    def module(self) -> str:
        return self.asks.__module__ if self.asks is not None else f"{__package__}.{self.name.replace('-', '_')}"

    def check(self, anatomy: Anatomy) -> Iterator[Draft]:
        """Ask the rule's question of one file. Imports the rule's module on first use."""
        if self.asks is None:
            from lint_rules.syntax.testing import in_test

            yield from (draft for draft in self.load().check(anatomy) if not in_test(anatomy.module, draft.node))
        else:
            from dataclasses import replace

            from lint_rules.plugins.agent import Agent

            for draft in self.asks(Agent(anatomy)):  # code that does not stand in the file so is not fixed
                yield replace(draft, fix=None) if anatomy.module.altered else draft

    def load(self) -> ModuleType:
        """Imports the rule's module, which else is done at its first check."""
        return importlib.import_module(self.module)

    @property
    def repairs(self) -> bool:
        """Whether its findings may have a fix. Imports the rule's module."""
        return self.asks is not None or hasattr(self.load(), "repair")

    def page(self) -> str:
        """The rule's page, in Markdown."""
        if self.asks is None:
            return self.load().__doc__ or ""
        from inspect import getdoc

        text = getdoc(self.asks) or f"Reports that {self.summary}."
        return f"# {self.name} ({self.code})\n\n{text}\n\nThis rule is part of {self.package or 'another package'}.\n"


RULES: tuple[Rule, ...] = (
    Rule(
        "AGL101",
        "unlocked-history-append",
        "correctness",
        "a history that concurrent code shares is changed without the lock",
    ),
    Rule(
        "AGL102",
        "overlapping-turns",
        "correctness",
        "a turn can start while another one on the same history still runs",
    ),
    Rule(
        "AGL103",
        "cross-session-history",
        "correctness",
        "one history for all users: a global, a kept object, a class attribute, a default argument",
    ),
    Rule(
        "AGL104",
        "run-state-on-shared-agent",
        "suspicious",
        "state of one run is kept on an agent or a tool that other runs share",
    ),
    Rule(
        "AGL201",
        "shallow-message-copy",
        "correctness",
        "a store into a nested part of a shallow copy changes the original message",
    ),
    Rule(
        "AGL202",
        "caller-history-mutated",
        "suspicious",
        "a function that prepares a request edits the messages of its caller",
    ),
    Rule(
        "AGL203",
        "shared-schema-mutated",
        "suspicious",
        "a tool's schema is edited for one request through an alias or a shallow copy",
    ),
    Rule(
        "AGL301",
        "stale-history-snapshot",
        "correctness",
        "a copy of the history made before the round loop is sent in each round",
    ),
    Rule(
        "AGL302",
        "unbounded-rounds",
        "suspicious",
        "nothing but the model's own reply ends the loop of rounds",
    ),
    Rule(
        "AGL303",
        "silent-round-exhaustion",
        "suspicious",
        "a loop that runs out of rounds returns like one that got an answer",
    ),
    Rule(
        "AGL304",
        "warn-only-repeat",
        "suspicious",
        "a repeat of tool calls is noticed, and only a log learns of it",
    ),
    Rule(
        "AGL305",
        "single-repeat-stop",
        "suspicious",
        "one repeat of the last tool calls ends the run",
    ),
    Rule(
        "AGL306",
        "continue-skips-execution",
        "correctness",
        "a `continue` of the round loop drops the reply and its tool calls over a check of something else",
    ),
    Rule(
        "AGL307",
        "shared-guard-state",
        "suspicious",
        "a repeat or failure guard keeps its state from turn to turn",
    ),
    Rule(
        "AGL308",
        "stop-without-answer",
        "suspicious",
        "a stop in a round gives the text of a reply that asks for tools as the answer",
    ),
    Rule(
        "AGL309",
        "swallowed-llm-error",
        "suspicious",
        "an error of the request passes for the end of the model's work, or for its answer",
    ),
    Rule(
        "AGL401",
        "first-tool-only-comparison",
        "correctness",
        "a repeat is decided by the first tool call of each round only",
    ),
    Rule(
        "AGL402",
        "first-tool-only-execution",
        "correctness",
        "one of several stored tool calls is executed or answered, the others are not",
    ),
    Rule(
        "AGL403",
        "json-string-comparison",
        "correctness",
        "tool arguments are compared as text whose keys are not sorted",
    ),
    Rule(
        "AGL404",
        "signature-without-values",
        "correctness",
        "a repeat is decided by names of tools and arguments, without the values",
    ),
    Rule(
        "AGL405",
        "brittle-history-index",
        "suspicious",
        "a message of the history is picked by a fixed place instead of by its role",
    ),
    Rule(
        "AGL406",
        "mixed-argument-forms",
        "correctness",
        "parsed arguments are compared with JSON text, or with a field that is never set",
    ),
    Rule(
        "AGL407",
        "late-bound-tool-call",
        "correctness",
        "a closure made in the loop over tool calls runs later, with the last call",
    ),
    Rule(
        "AGL408",
        "tools-rerun-on-error",
        "correctness",
        "an error of one tool makes all tool calls of the message run again",
    ),
    Rule(
        "AGL409",
        "tool-call-id-collision",
        "correctness",
        "tool calls are told apart by something that two of them can have in common",
    ),
    Rule(
        "AGL410",
        "ignored-tool-calls",
        "suspicious",
        "a reply to a request that offered tools is read for its text only",
    ),
    Rule(
        "AGL501",
        "ignored-json-error",
        "correctness",
        "an error of decoding or encoding tool arguments is ignored",
    ),
    Rule(
        "AGL502",
        "cut-json-arguments",
        "correctness",
        "JSON text is cut by length and then stored or sent",
    ),
    Rule(
        "AGL601",
        "missing-tool-result",
        "correctness",
        "a path on which a stored tool call gets no tool result",
    ),
    Rule(
        "AGL602",
        "orphaned-tool-result",
        "correctness",
        "a history is cut by position, so that a tool result can lose its call",
    ),
    Rule(
        "AGL603",
        "dropped-tool-calls",
        "correctness",
        "results of tool calls are stored in the history without the calls they answer",
    ),
    Rule(
        "AGL604",
        "empty-tool-calls-field",
        "suspicious",
        "an empty `tool_calls` list is sent with messages that have no calls",
    ),
    Rule(
        "AGL605",
        "double-history-append",
        "correctness",
        "one message is stored in the history twice",
    ),
    Rule(
        "AGL606",
        "unsaved-turn-history",
        "suspicious",
        "messages of a turn are lost on the way to the history that the next turn begins with",
    ),
    Rule(
        "AGL607",
        "swallowed-history-error",
        "suspicious",
        "an error of loading or storing a history ends where nobody learns of it",
    ),
    Rule(
        "AGL608",
        "lossy-message-rebuild",
        "correctness",
        "a message is rebuilt without its calls, ids or parts",
    ),
    Rule(
        "AGL609",
        "reordered-tool-result",
        "correctness",
        "something stands between a stored tool call and its result",
    ),
    Rule(
        "AGL610",
        "system-prompt-trimmed",
        "correctness",
        "a cut by position can drop the system message",
    ),
    Rule(
        "AGL611",
        "role-dropped-by-filter",
        "suspicious",
        "messages of some roles vanish from the request, as a chain over roles has no else",
    ),
    Rule(
        "AGL612",
        "membership-dedup",
        "correctness",
        "a message is stored only if an equal one is not in the history yet",
    ),
    Rule(
        "AGL613",
        "split-parallel-tool-results",
        "correctness",
        "one user message for each tool result, where the API wants all of a round in one",
    ),
    Rule(
        "AGL614",
        "signal-before-save",
        "suspicious",
        "done is signalled before what was done is stored",
    ),
    Rule(
        "AGL701",
        "unmarked-truncation",
        "suspicious",
        "a tool result or message is cut to its head, and nothing says so",
    ),
    Rule(
        "AGL702",
        "window-above-limit",
        "correctness",
        "a floor under what is left of a window sends messages on top of it",
    ),
    Rule(
        "AGL703",
        "negative-zero-slice",
        "correctness",
        "`history[-n:]` with an n that may be 0 is the whole history",
    ),
    Rule(
        "AGL704",
        "role-grouped-history",
        "correctness",
        "a history put together by role loses its order and tears calls from results",
    ),
    Rule(
        "AGL705",
        "error-text-triggers-compaction",
        "suspicious",
        "a history is cut because of a word in an error's text",
    ),
    Rule(
        "AGL901",
        "no-repeat-guard",
        "opt-in",
        "nothing notices that the model asks for the same calls again",
    ),
    Rule(
        "AGL902",
        "adjacent-only-repeat-check",
        "opt-in",
        "the only repeat guard remembers one round",
    ),
    Rule(
        "AGL903",
        "volatile-repeat-key",
        "opt-in",
        "a repeat key holds an id, the time or the model's words, and never comes again",
    ),
    Rule(
        "AGL904",
        "unenforced-limit",
        "opt-in",
        "a limit on rounds or cost is kept and never compared",
    ),
    Rule(
        "AGL905",
        "unlimited-by-default",
        "opt-in",
        "the only limit of a round loop is None by default",
    ),
)

BY_CODE = {rule.code: rule for rule in RULES}
BY_NAME = {rule.name: rule for rule in RULES}


_brought: tuple[Rule, ...] | None = None
"""The rules of other packages, as soon as somebody has asked for them."""


def rules() -> tuple[Rule, ...]:
    """All rules, looplint's own first. Imports what other packages bring. Raises PluginError."""
    global _brought
    if _brought is None:
        from lint_rules.rules.brought import brought

        _brought = brought()
    return RULES + _brought


def by_code() -> Mapping[str, Rule]:
    """All rules by code. Raises PluginError."""
    return {rule.code: rule for rule in rules()} if len(rules()) > len(RULES) else BY_CODE


def by_name() -> Mapping[str, Rule]:
    """All rules by name. Raises PluginError."""
    return {rule.name: rule for rule in rules()} if len(rules()) > len(RULES) else BY_NAME


@contextmanager
def bringing(brought: Sequence[Rule]) -> Iterator[None]:
    """These are the rules of other packages meanwhile, whatever is installed."""
    global _brought
    before, _brought = _brought, tuple(brought)
    try:
        yield
    finally:
        _brought = before


def matching(selector: str) -> frozenset[str]:
    """Codes a selector names: a code, a prefix of codes (`AGL1`, `AGL`) or a rule's name. Empty if it names none.

    Raises PluginError.
    """
    named = by_name().get(selector)
    if named is not None:
        return frozenset({named.code})
    return frozenset(code for code in by_code() if selector and code.startswith(selector))
