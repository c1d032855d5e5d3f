"""Corpora: read from runs and files, merged, rebuilt, joined into n-way rows, and redacted."""
