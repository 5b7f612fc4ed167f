"""One file a rule, or a folder: page and question in `__init__`, what no other rule asks beside it, repairs in `fixes`.

What a second rule asks goes down into the core. `catalogue` lists the rules without importing any (they import libcst).
"""
