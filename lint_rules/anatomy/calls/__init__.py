"""Tool calls: where they are, how one is picked, run, answered, or left without an answer."""
