"""Benchmarks, one per published table or question; `results/NAME.json` is of `tasks/NAME.py`."""
