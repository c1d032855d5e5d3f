"""Code that several discovery policies use."""
