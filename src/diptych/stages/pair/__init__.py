"""Pairers, which propose pairs of pages that may be translations of each other."""
