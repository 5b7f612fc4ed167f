from collections.abc import Iterator

from looplint.api import Agent, Draft, Note, Rule


def unredacted(agent: Agent) -> Iterator[Draft]:
    """## What it does
    Reports a tool result that is stored in a history without having passed through `acme.redact`.

    ## Why is this bad
    The history is sent to the provider with each request: whatever a tool read leaves the house.
    """
    for store in agent.stores:
        if not store.is_answer or store.content is None:
            continue
        steps = agent.origins(store.content)
        if any(name == "acme.redact" for step in steps for _, name in agent.calls_in(step)):
            continue
        asks = tuple(Note(ask.node, "and goes to the provider here") for ask in agent.asks)
        yield Draft(
            store.node,
            f"`{agent.text(store.content)}` is stored as a tool wrote it",
            "pass it through `acme.redact` first",
            related=asks[:1],
        )


RULES = [Rule("ACM101", "unredacted-tool-result", "suspicious", "a tool result is stored unredacted", unredacted)]
