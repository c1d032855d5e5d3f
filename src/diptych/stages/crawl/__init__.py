"""Crawl policies: they select the links of a page to follow, and their priorities."""
