"""Code shared by several pairers."""
