"""Verifiers, which decide by content whether two pages are translations of each other."""
