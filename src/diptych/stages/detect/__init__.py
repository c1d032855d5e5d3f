"""Detectors: tests if a site is bilingual, from few of its pages."""
