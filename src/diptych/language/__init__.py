"""Languages: codes, names, scripts, marks in URLs, identification of texts."""
