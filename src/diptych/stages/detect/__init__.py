"""Detectors, which test from a few pages whether a site is bilingual."""
