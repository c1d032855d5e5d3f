"""From the answer of a server to a page: text, links, languages, flags, robots.txt, sitemaps."""
