"""Filters: scores of segment pairs, and decisions to keep them."""
