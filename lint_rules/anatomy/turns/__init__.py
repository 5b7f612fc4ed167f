"""Turns: what outlives one, who runs several at once, and what gets lost at the end of one."""
