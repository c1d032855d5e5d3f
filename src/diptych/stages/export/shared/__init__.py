"""Code shared by several exporters."""
