"""Code that several crawl policies use."""
