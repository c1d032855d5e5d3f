"""Lexicons: training, import, files, and links between the words of two texts."""
