"""Code shared by several filters."""
