"""The table of what each rule cannot do without, and so which rules could find something in a file."""

from __future__ import annotations

from collections.abc import Callable, Collection

from lint_rules.gate.needs import Needs

__all__ = ["NEED_NO_FACTS", "Gate"]


class Gate(Needs):
    """What the forms of a file tell of the rules."""

    def speaking(self, codes: Collection[str]) -> frozenset[str]:
        """Those of the rules that could find something."""
        possible = codes if codes and self.agent else NEED_NO_FACTS.intersection(codes)
        needs = {code: _NEEDS.get(code, Needs.has_agent) for code in possible}
        met = {need: need(self) for need in set(needs.values())}
        return frozenset(code for code, need in needs.items() if met[need])


_NEEDS: dict[str, Callable[[Needs], bool]] = {
    "AGL101": Needs.races,
    "AGL102": Needs.overlaps_turns,
    "AGL103": Needs.shares_history,
    "AGL104": Needs.keeps_run_state,
    "AGL201": Needs.copies_history,
    "AGL202": Needs.changes_history,
    "AGL203": Needs.edits_schemas,
    "AGL301": Needs.copies_history,
    "AGL302": Needs.has_rounds_or_limit,
    "AGL303": Needs.has_rounds,
    "AGL304": Needs.stops_at_repeats,
    "AGL305": Needs.stops_at_repeats,
    "AGL306": Needs.has_rounds,
    "AGL307": Needs.has_rounds,
    "AGL308": Needs.has_rounds,
    "AGL309": Needs.keeps_answers,
    "AGL401": Needs.repeats_calls,
    "AGL402": Needs.takes_one_call,
    "AGL403": Needs.repeats_calls,
    "AGL404": Needs.repeats_calls,
    "AGL405": Needs.picks_messages,
    "AGL406": Needs.repeats_calls,
    "AGL407": Needs.has_calls,
    "AGL408": Needs.runs_calls_again,
    "AGL409": Needs.makes_ids,
    "AGL410": Needs.offers_tools,
    "AGL501": Needs.parses_calls,
    "AGL502": Needs.shortens_texts,
    "AGL601": Needs.answers_calls,
    "AGL602": Needs.cuts_history,
    "AGL603": Needs.drops_calls,
    "AGL604": Needs.stores_calls,
    "AGL605": Needs.grows_history,
    "AGL606": Needs.loses_messages,
    "AGL607": Needs.loses_stored,
    "AGL608": Needs.rebuilds_calls,
    "AGL609": Needs.reorders_answers,
    "AGL610": Needs.cuts_system,
    "AGL611": Needs.tells_roles_apart,
    "AGL612": Needs.tests_membership,
    "AGL613": Needs.splits_answers,
    "AGL614": Needs.signals,
    "AGL701": Needs.shortens_texts,
    "AGL702": Needs.has_floors,
    "AGL703": Needs.takes_tail,
    "AGL704": Needs.joins_roles,
    "AGL705": Needs.reads_errors,
    "AGL901": Needs.has_rounds_of_calls,
    "AGL902": Needs.stops_at_repeats,
    "AGL903": Needs.repeats_calls,
    "AGL904": Needs.has_limits,
    "AGL905": Needs.has_rounds,
}
NEED_NO_FACTS = frozenset(
    {
        "AGL101", "AGL102", "AGL103", "AGL104", "AGL203", "AGL302", "AGL309", "AGL408", "AGL501", "AGL502", "AGL602",
        "AGL605", "AGL606", "AGL607", "AGL610", "AGL701", "AGL702", "AGL703",
    }
)  # fmt: skip
"""The rules that may find something in a file in which no value is known to be part of an agent: other files, or
libraries, make it one, or it needs no more than a schema or JSON for a tool."""
