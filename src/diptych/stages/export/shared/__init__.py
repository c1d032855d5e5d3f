"""Code that several exporters use."""
