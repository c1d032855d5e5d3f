"""The run folder: what is on disk."""
