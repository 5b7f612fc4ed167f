"""Dotted names as text: what the index of a file and the gate, which has no libcst, both ask for."""

from __future__ import annotations

from collections.abc import Collection, Mapping


def resolved(name: str, imported: Mapping[str, str]) -> str:
    """A dotted name with its first part replaced by what was imported under it: `c()` by `litellm.completion()`."""
    first, _, rest = name.partition(".")
    head = first.removesuffix("()")
    full = imported.get(head)
    if full is None:
        return name
    full += first[len(head) :]
    return f"{full}.{rest}" if rest else full


def written(ends: Collection[str], imported: Mapping[str, str]) -> frozenset[str]:
    """The last names by which a file may call what ends in one of these: they, and what they are imported as."""
    return frozenset([*ends, *[name for name, full in imported.items() if full.rpartition(".")[2] in ends]])
