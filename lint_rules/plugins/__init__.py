"""Rules of other packages: which packages bring some, and what such a rule may ask."""
