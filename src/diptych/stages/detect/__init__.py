"""Detectors: whether a site is bilingual."""
