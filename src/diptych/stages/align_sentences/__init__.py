"""Sentence aligners: they find the corresponding sentences of two texts."""
