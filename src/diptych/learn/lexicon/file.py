"""Reader of lexicon files."""

from __future__ import annotations

from pathlib import Path

from diptych.files import read_file
from diptych.learn.lexicon.lexicon import MAX_BYTES, Lexicon

_ADVICE = "make one: diptych lexicon import FILE --langs en,fr"


def read_lexicon(path: Path) -> Lexicon:
    """A lexicon from a file; a `ConfigError` says what is wrong with another."""
    return Lexicon.from_bytes(read_file(path, MAX_BYTES, _ADVICE), str(path), _ADVICE)
