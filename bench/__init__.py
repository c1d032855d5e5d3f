"""Benchmarks of Diptych, run as `python -m bench.tasks.NAME` from the repository."""
