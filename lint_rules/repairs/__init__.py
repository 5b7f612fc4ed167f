"""What repairs are made of: `edits`, how they get at a name of the standard library (`imports`), what is mended alike.

How the findings of one rule are repaired stands in its folder (`fixes`): that says what to change, and changes nothing.
"""
