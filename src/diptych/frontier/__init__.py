"""URLs and hosts of a crawl or a search, and both state machines."""
