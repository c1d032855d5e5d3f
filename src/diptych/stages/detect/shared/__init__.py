"""Code that several detectors use."""
