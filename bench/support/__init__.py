"""Data sets, scores and tables that several benchmarks share."""
