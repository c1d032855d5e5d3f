"""Verifiers: tell by their content if two pages are translations of each other."""
