from collections.abc import Sequence

from lint_rules.flake8_plugin import AgentLoopPlugin as AgentLoopPlugin

def main(argv: Sequence[str] | None = None) -> int: ...
