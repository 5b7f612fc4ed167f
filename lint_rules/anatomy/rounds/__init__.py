"""Rounds: a model is asked, its tools are run, and round it goes, until something ends it."""
