"""Filters: they score segment pairs and decide which to keep."""
