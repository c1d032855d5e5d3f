"""Detectors: they test if a site is bilingual, from a few of its pages."""
