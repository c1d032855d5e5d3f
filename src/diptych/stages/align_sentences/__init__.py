"""Aligning sentences: which sentences of two texts correspond."""
