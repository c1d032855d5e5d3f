"""Corpora: read from runs and files, merged, rebuilt, n-way rows, personal data."""
