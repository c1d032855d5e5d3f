"""Queue of URLs, robots.txt and politeness of hosts, and the state machines of crawl and search."""
