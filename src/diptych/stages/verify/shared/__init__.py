"""Code shared by several verifiers."""
