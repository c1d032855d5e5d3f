"""The pairer `union` and its parts."""
