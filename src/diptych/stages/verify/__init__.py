"""Verifiers: they decide by content if two pages are translations of each other."""
