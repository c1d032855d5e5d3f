"""Aligning trees: which pieces of two pages correspond."""
