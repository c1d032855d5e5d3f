"""Discovery: from the web to the sites that are worth mining."""
