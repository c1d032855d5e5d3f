"""Multilingual sentence encoders."""
