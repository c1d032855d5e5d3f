"""Code shared by several sentence aligners."""
