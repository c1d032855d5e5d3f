"""Steps of the pipeline, one file each, in the order of `pipeline.py`."""
