"""The crawl policy `hybrid` and its parts."""
