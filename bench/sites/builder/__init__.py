"""Builder of multilingual sites with known page pairs, from manuals that Debian packages ship."""
