"""The detector `predictor` and its parts."""
