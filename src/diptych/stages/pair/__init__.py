"""Pairers: they propose pages of a site that may be translations of each other."""
