"""Parse HTTP responses: pages (text, links, languages, flags), robots.txt files and sitemaps."""
