"""What a Python file says, without knowing what an agent is: tree, scopes, imports, control flow, positions."""
