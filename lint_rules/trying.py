"""How the author of a rule tries it: on a text, in one line of a test."""

from __future__ import annotations

from collections.abc import Iterable

from lint_rules.finding import NOT_ANALYSED, Finding
from lint_rules.rules.catalogue import Rule, bringing


def check(source: str, select: Rule | Iterable[Rule], *, path: str = "agent.py") -> list[Finding]:
    """What rules find in the text of a file, in order of place, without what its `# noqa` comments hide.

    The package of the rules need not be installed, nor does the file at `path` exist; modules that the text imports are
    not looked for. Raises RuntimeError where the text cannot be analysed, or a rule fails.
    """
    from lint_rules.check import check_source
    from lint_rules.options import Options

    rules = _rules(select)
    with bringing(rules):
        found = check_source(source.encode(), path, Options(frozenset(rule.code for rule in rules))).findings
    _raise_for(found)
    return list(found)


def fix(source: str, select: Rule | Iterable[Rule], *, path: str = "agent.py") -> str:
    """The text of a file with all fixes of rules, safe and unsafe: what `check --fix --unsafe-fixes` makes of it.

    Raises RuntimeError as `check` does, and where a fix is refused.
    """
    from lint_rules.fix import fix_source
    from lint_rules.options import Options, Wish

    rules = _rules(select)
    with bringing(rules):
        fixed = fix_source(source.encode(), path, Options(frozenset(rule.code for rule in rules)), Wish(unsafe=True))
    _raise_for(fixed.report.findings)
    for dropped in fixed.dropped:
        raise RuntimeError(f"line {dropped.line}: {dropped.code} is not fixed: {dropped.reason}")
    return fixed.source.decode()


def _rules(select: Rule | Iterable[Rule]) -> tuple[Rule, ...]:
    return (select,) if isinstance(select, Rule) else tuple(select)


def _raise_for(found: Iterable[Finding]) -> None:
    for finding in found:
        if finding.code == NOT_ANALYSED:
            raise RuntimeError(f"{finding.path}:{finding.span.line}: {finding.message}")
