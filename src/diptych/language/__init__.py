"""Languages: codes, names, scripts, marks in URLs, language identification."""
