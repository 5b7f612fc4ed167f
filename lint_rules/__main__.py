"""`python -m lint_rules`."""

from lint_rules.cli import main

if __name__ == "__main__":  # processes started by looplint import this module, too
    raise SystemExit(main())
