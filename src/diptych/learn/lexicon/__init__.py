"""Lexicons: training, import, file format, and links between the words of two texts."""
