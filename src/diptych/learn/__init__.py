"""Models that several stages use: lexicons, sentence encoders, URL models and tree ensembles."""
