"""Models that several stages use: lexicons, sentence encoders, URL models, tree ensembles."""
