"""Crawl policies: which links of a page to follow, and how eagerly."""
