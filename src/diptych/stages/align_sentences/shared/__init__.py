"""Code that several sentence aligners use."""
