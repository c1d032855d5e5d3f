"""The command `train`: models trained on labelled data."""
