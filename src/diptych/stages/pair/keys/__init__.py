"""The pairer `keys` and its parts (Kit & Ng 2007)."""
