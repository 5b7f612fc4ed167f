"""One project: its modules, classes and functions, and what expressions may be. Knows no agents."""
