"""Filtering segment pairs: how good they are, and whether to keep them."""
