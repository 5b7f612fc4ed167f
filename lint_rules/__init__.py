"""looplint: a linter for agent loops, programs in which a language model calls tools in rounds."""

__version__ = "0.1.0"
