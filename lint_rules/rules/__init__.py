"""One file a rule. `catalogue` lists them without importing any (rules import libcst)."""
