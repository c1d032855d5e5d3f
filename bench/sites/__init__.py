"""Real multilingual sites with known page pairs: built, served, archived and read."""
