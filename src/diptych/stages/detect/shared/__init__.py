"""Code shared by several detectors."""
