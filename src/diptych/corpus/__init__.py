"""Corpora: reading from runs and files, merging, rebuilding, n-way rows, personal data."""
