"""Code shared by several crawl policies."""
