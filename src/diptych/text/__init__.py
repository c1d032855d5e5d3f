"""Pure helpers on what the web sends: bytes, characters, markup, links, languages, sentences."""
