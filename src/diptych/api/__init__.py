"""The Python API; the command line uses the same functions."""
