"""Dotted names as text: what the index of a file and the gate, which has no libcst, both ask for."""

from __future__ import annotations

from collections.abc import Mapping


def resolved(name: str, imported: Mapping[str, str]) -> str:
    """A dotted name with its first part replaced by what was imported under it: `c()` by `litellm.completion()`."""
    first, _, rest = name.partition(".")
    head = first.removesuffix("()")
    full = imported.get(head)
    if full is None:
        return name
    full += first[len(head) :]
    return f"{full}.{rest}" if rest else full
