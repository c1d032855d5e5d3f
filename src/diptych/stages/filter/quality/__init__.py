"""The filters `quality` and `quality_encoder` and their parts."""
