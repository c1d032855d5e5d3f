"""Link sources (back links without fetching): web graphs, WAT files, earlier runs, Common Crawl."""
