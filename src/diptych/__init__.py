"""Diptych mines parallel text from the web."""

from diptych._version import VERSION as __version__
from diptych.api import align

__all__ = ["__version__", "align"]
