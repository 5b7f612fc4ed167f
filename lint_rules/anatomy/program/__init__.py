"""What runs what: calls between functions, handlers of errors, locks, what is started at the same time."""
