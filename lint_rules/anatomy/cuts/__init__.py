"""Histories that lose messages by position: what is cut off, what is left, where that goes."""
