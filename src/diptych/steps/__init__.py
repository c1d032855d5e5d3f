"""The steps of the pipeline, a file a step."""
