"""Code that several crawl policies share."""
