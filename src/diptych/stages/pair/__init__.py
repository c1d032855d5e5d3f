"""Pairers: which pages of a site may be translations of each other."""
