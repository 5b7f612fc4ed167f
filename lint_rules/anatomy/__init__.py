"""What the parts of an agent are, found in one file with evidence. Knows no rules."""
