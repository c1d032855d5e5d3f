"""Long tests of reliability.  `python -m tools.torture` runs all of them, one after the other.

Each module with a function `main` is such a test.  It writes its table for docs/reliability.md with
`tools.torture.results.keep`, and its exit code is not 0 if anything failed.
"""
