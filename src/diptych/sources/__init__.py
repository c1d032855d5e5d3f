"""Links known without fetching: web graphs, WAT files, earlier runs, Common Crawl."""
