"""Exporters, which write a corpus in various file formats."""
