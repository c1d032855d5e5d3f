"""The run folder on disk: run.sqlite, WARC files, run.toml."""
