"""Sentence aligners, which find the corresponding sentences of two texts."""
