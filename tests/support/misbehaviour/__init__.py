"""Servers that misbehave: one table of what they do, and of what must become of their pages."""
