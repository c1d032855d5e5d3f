"""Models that several stages use: lexicons, sentence encoders, models of URLs, tree ensembles."""
