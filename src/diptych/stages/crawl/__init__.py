"""Crawl policies, which choose the links to follow and their order."""
