"""Detectors, which decide from a few pages whether a site is bilingual."""
