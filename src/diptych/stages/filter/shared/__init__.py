"""Code that several filters use."""
