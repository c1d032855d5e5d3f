"""The queue of URLs, robots.txt and politeness, and the state machines of crawl and search."""
