"""Crawl policies: which links of a page to follow, and how eagerly."""

FOLLOWED = frozenset({"a", "area", "frame", "alternate", "refresh", "sitemap"})
"""kinds of links that may lead to a page"""
