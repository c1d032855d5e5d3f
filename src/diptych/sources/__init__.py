"""Sources of links and sites: web graphs, WAT files, earlier runs, Common Crawl, and site lists."""
