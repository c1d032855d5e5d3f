"""The tree aligner `domtree` and its parts (Shi et al. 2006)."""
