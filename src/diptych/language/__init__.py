"""Which language something is in: codes, names, marks in URLs, identification."""
