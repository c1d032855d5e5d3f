"""Diptych mines parallel text from the web."""

from diptych._version import VERSION as __version__

__all__ = ["__version__"]
