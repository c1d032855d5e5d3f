"""Turn an HTTP response into a page: text, links, languages, flags, robots.txt, sitemaps."""
