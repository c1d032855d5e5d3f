"""Crawl policies: which links of a page to follow, and with which priority."""
