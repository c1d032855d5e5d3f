"""URL queue, robots.txt, politeness, and the state machines for crawling and searching."""
