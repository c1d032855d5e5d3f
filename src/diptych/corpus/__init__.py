"""The lines of a corpus, read from runs and from files."""
