"""Diptych from Python; the command line uses the same functions."""
