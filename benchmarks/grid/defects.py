"""One defect of a rule as a change of a right program, with its twin: the same form, and right."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from homes import Home
from parts import Parts, indented
from providers import Provider


@dataclass(frozen=True)
class Defect:
    """`bad` and `good` change the parts of a right program. `fits` tells where the defect exists at all."""

    name: str
    code: str
    bad: Callable[[Parts], None]
    good: Callable[[Parts], None]
    fits: Callable[[Provider, Home], bool] = lambda provider, home: True


def nothing(parts: Parts) -> None:
    """The right program as it is."""


def lasting(provider: Provider, home: Home) -> bool:
    return home.lives


def error_leaves(p: Parts) -> None:
    p.run = [f"out = str(ABLE[{p.called}](**{p.given}))"]


def unknown_skipped(p: Parts) -> None:
    p.run = [f"if {p.called} not in ABLE:", "    continue", *p.run]


def unknown_answered(p: Parts) -> None:
    p.run = [
        f"if {p.called} not in ABLE:",
        *indented(p.answer_with('"no such thing"')),
        "    continue",
        *p.run,
    ]


def only_first(p: Parts) -> None:
    p.loop = ["one = wanted[0]"]


def text_only(p: Parts) -> None:
    p.rounds, p.second_tools = "once", True


def text_of_closed(p: Parts) -> None:
    p.rounds, p.second_tools = "once", False


def newest(p: Parts) -> None:
    p.history = f"{p.history}[-20:]"


def kept_newest(p: Parts) -> None:
    p.begin = [*p.begin, p.home.keep.format(n=20)]


def newest_aligned(p: Parts) -> None:
    p.before = [
        f"shown = {p.history}[-20:]",
        f"while shown and not ({p.provider.question}):",
        "    shown = shown[1:]",
    ]
    p.history = "shown"


def stored_again(p: Parts) -> None:
    p.stop = [*p.store, *p.stop]


def stored_after_stop(p: Parts) -> None:
    p.stop_first = True


def without_calls(p: Parts) -> None:
    p.store = [p.home.put.format(m=p.provider.bare)]


def runs_out(p: Parts) -> None:
    p.end = [*p.close, 'return ""']


def unbounded(p: Parts) -> None:
    p.rounds = "while True:"
    p.end = []


def request_swallowed(p: Parts) -> None:
    p.guarded = True
    p.gone = ["if said is None:", *indented([*p.close, 'return ""'])]


def request_told(p: Parts) -> None:
    p.guarded = True
    p.gone = ["if said is None:", *indented([*p.close, 'return "The model could not be reached."'])]


def cut_out(p: Parts) -> None:
    p.run = [*p.run, "out = out[:2000]"]


def cut_marked(p: Parts) -> None:
    p.run = [*p.run, "if len(out) > 2000:", '    out = out[:2000] + " (cut)"']


def arguments_first(p: Parts, handler: list[str]) -> None:
    """The arguments are read before the tool runs, with a handler of its own."""
    reading = ["try:", f"    given = {p.given}", *handler] if handler else [f"given = {p.given}"]
    p.run = [*reading, *[line.replace(f"**{p.given}", "**given") for line in p.run]]


def empty_arguments(p: Parts) -> None:
    arguments_first(p, ["except json.JSONDecodeError:", "    given = {}"])


def arguments_told(p: Parts) -> None:
    told = indented([*p.answer_with("str(problem)"), "continue"])
    arguments_first(p, ["except json.JSONDecodeError as problem:", *told])


def repeat_stops(p: Parts, mark: str) -> None:
    """A round whose calls have the same mark as those of the one before is the last."""
    p.opening = [*p.opening, "latest = None"]
    circles = indented([*p.close, 'return "It goes in circles."'])
    p.compare = [f"mark = {mark}", "if mark == latest:", *circles, "latest = mark"]


def first_key(p: Parts) -> None:
    repeat_stops(p, f"({p.of('wanted[0]', 'called')}, str({p.of('wanted[0]', 'given')}))")


def all_keys(p: Parts) -> None:
    repeat_stops(p, f"sorted(({p.called}, json.dumps({p.given}, sort_keys=True)) for one in wanted)")


def names_only(p: Parts) -> None:
    repeat_stops(p, f"[{p.called} for one in wanted]")


def cut_off(p: Parts) -> None:
    p.with_reason = True
    p.ends = f'reason != "{p.provider.asks}"'


def with_reason(p: Parts) -> None:
    p.with_reason = True
    p.ends = f'reason != "{p.provider.asks}" and not wanted'


def narrow(p: Parts) -> None:
    p.run = [line.replace("except Exception", "except ValueError") for line in p.run]


def branches(p: Parts) -> None:
    p.run = [
        f"if {p.called} == 'lookup':",
        *indented([f"out = lookup({p.given}.get('city'))", *p.answer_with("out")]),
        f"elif {p.called} == 'note':",
        *indented([f"out = note({p.given}.get('text'))", *p.answer_with("out")]),
    ]
    p.answered = True


def branches_and_rest(p: Parts) -> None:
    p.run = [
        "try:",
        f"    if {p.called} == 'lookup':",
        f"        out = lookup({p.given}.get('city'))",
        f"    elif {p.called} == 'note':",
        f"        out = note({p.given}.get('text'))",
        "    else:",
        '        out = "no such thing"',
        "except Exception as error:",
        '    out = f"failed: {error}"',
    ]


def unguarded_arguments(p: Parts) -> None:
    arguments_first(p, [])


def last_words(p: Parts) -> None:
    p.end = [*p.close, f"return {p.provider.words}"]


def said_so(p: Parts) -> None:
    p.end = [*p.close, 'return "I could not finish this."']


def sent_again(p: Parts) -> None:
    message = p.provider.user.format(text="words")
    p.history = f"{p.history} + [{message}]"
    p.needs_words = True


def question_cut(p: Parts) -> None:
    p.begin = [line.replace("words", "words[:2000]") for line in p.begin]


def question_told(p: Parts) -> None:
    p.begin = ["if len(words) > 2000:", '    return "That is too long, please send less."', *p.begin]


def waiting(p: Parts) -> None:
    """The messages of a turn wait in a list, and are handed over when it ends."""
    home = p.home
    opened = "\n".join([*([home.open] if home.open else []), "fresh = []"])
    p.home = (
        replace(home, held="rows, key")
        if home.close
        else replace(
            home, open=opened, put="fresh.append({m})", put_all="fresh.extend({ms})", every=f"[*{home.every}, *fresh]",
            held=f"{home.held}, fresh", close=home.put_all.format(ms="fresh"), heard="", answered="",
        )
    )  # fmt: skip
    p.__post_init__()


def handed_over_each_round(p: Parts) -> None:
    waiting(p)
    p.before = [*p.close, *([] if "fresh" not in p.home.held else ["fresh.clear()"])]


def tells_why(provider: Provider, home: Home) -> bool:
    return bool(provider.reason) and home.lives


def in_json(provider: Provider, home: Home) -> bool:
    return "json.loads" in provider.given


DEFECTS = (
    Defect("error-leaves", "AGL601", error_leaves, nothing, lasting),
    Defect("unknown-skipped", "AGL601", unknown_skipped, unknown_answered),
    Defect("cut-off", "AGL601", cut_off, with_reason, tells_why),
    Defect("narrow-except", "AGL601", narrow, nothing, lasting),
    Defect("branches", "AGL601", branches, branches_and_rest),
    Defect("arguments-leave", "AGL501", unguarded_arguments, nothing, in_json),
    Defect("first-only", "AGL402", only_first, nothing),
    Defect("text-only", "AGL410", text_only, text_of_closed),
    Defect("newest", "AGL602", newest, newest_aligned),
    Defect("stored-twice", "AGL605", stored_again, nothing),
    Defect("sent-again", "AGL605", sent_again, nothing),
    Defect("answer-not-stored", "AGL606", stored_after_stop, nothing, lasting),
    Defect("turn-lost", "AGL606", waiting, handed_over_each_round),
    Defect("calls-not-stored", "AGL603", without_calls, nothing),
    Defect("runs-out", "AGL303", runs_out, nothing),
    Defect("last-words", "AGL303", last_words, said_so),
    Defect("unbounded", "AGL302", unbounded, nothing),
    Defect("request-swallowed", "AGL309", request_swallowed, request_told),
    Defect("cut-out", "AGL701", cut_out, cut_marked),
    Defect("question-cut", "AGL701", question_cut, question_told),
    Defect("empty-arguments", "AGL501", empty_arguments, arguments_told, in_json),
    Defect("first-key", "AGL401", first_key, all_keys),
    Defect("names-only", "AGL404", names_only, all_keys),
)
