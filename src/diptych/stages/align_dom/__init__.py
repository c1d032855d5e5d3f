"""Tree aligners, which find the corresponding blocks of two pages."""
