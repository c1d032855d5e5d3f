"""Lexicons: how the words of two languages translate each other."""
