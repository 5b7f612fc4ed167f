from lint_rules.api import *  # noqa: F403
