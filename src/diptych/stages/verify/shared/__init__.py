"""Code that several verifiers use."""
