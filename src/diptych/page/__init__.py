"""From an HTTP response to a page: text, links, languages, flags, robots.txt, sitemaps."""
