"""URL models: the language of a page, and the probability that two pages are parallel."""
