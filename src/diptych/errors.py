"""Every error Diptych raises on purpose.

    DiptychError            what the user can mend; the command line prints one line and ends with 2
    +-- ConfigError         a language, URL, strategy, parameter or option that cannot be
    +-- StoreError          a run folder that cannot be opened, read or written
    +-- ArchiveError        a WARC that cannot be read
    +-- SourceError         a source of links or of candidates that cannot be read
    +-- CorpusError         a corpus file that cannot be read

Faults of the web are not here: they are values (`types.Failure`), counted and shown.
"""

from __future__ import annotations

__all__ = [
    "ArchiveError",
    "ConfigError",
    "CorpusError",
    "DiptychError",
    "SourceError",
    "StoreError",
]


class DiptychError(Exception):
    """The root: its message says what is wrong, what is allowed and what to do."""


class ConfigError(DiptychError):
    """Raised by `recipes`, `registry` and `cli` for what the user asked."""


class StoreError(DiptychError):
    """Raised by `store` when a run folder is foreign, in use, unwritable or of another schema."""


class ArchiveError(DiptychError):
    """Raised by `warc` for a file that is no WARC, or is cut off where it must not be."""


class SourceError(DiptychError):
    """Raised by `discover` for a web graph, WAT, link table or index that cannot be read."""


class CorpusError(DiptychError):
    """Raised by `corpusfiles` and `rebuilding` for a corpus that is none, or is cut off."""
