"""Exporting: file formats for the corpus."""
