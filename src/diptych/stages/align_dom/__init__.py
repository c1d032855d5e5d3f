"""Tree aligners: they find the corresponding blocks of two pages."""
