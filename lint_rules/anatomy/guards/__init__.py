"""Repeat guards: what they compare, and what becomes of their answer."""
