"""How a rule's finding is repaired: one file a rule, named like it. A repair says what to change, and changes nothing.

`edits` holds what repairs are made of, `imports` how a repair gets at a name of the standard library.
"""
