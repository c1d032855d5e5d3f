"""Small models of URLs: what they are trained on, how they are trained, and how they answer."""
