"""Filters, which score segment pairs and decide which ones to keep."""
