"""The steps of the pipeline, one file per step; `pipeline.py` runs them in order."""
