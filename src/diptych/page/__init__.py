"""An answer of a server becomes a page."""
