"""Code shared by several discovery policies."""
