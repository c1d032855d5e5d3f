"""Programs that train the models that are shipped, and write their weights."""
