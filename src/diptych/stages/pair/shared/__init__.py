"""Code that several pairers use."""
