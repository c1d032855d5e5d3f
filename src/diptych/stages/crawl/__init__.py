"""Crawl policies, which select the links of a page to follow and set their priorities."""
