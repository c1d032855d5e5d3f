"""Models of URLs: the language of a page, and whether two pages are parallel."""
