"""Languages: codes, names, scripts, marks in URLs and language identification."""
