"""Verifying page pairs: whether two pages are translations of each other, by their content."""
