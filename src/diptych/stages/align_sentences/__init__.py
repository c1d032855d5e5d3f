"""Sentence aligners: which sentences of two texts correspond."""
