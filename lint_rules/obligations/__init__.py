"""What is owed on the paths of a function: events, the ways between them, and what tests say on these ways."""
