"""Exporters: file formats for the corpus."""
