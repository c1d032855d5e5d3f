"""Reader of lexicon files."""

from __future__ import annotations

from pathlib import Path

from diptych.errors import ConfigError
from diptych.learn.lexicon.lexicon import MAX_BYTES, Lexicon

__all__ = ["read_lexicon"]


def read_lexicon(path: Path) -> Lexicon:
    """A lexicon from a file; a `ConfigError` says what is wrong with another."""
    try:
        if path.stat().st_size > MAX_BYTES:
            raise ConfigError(f"{path} is too large for a lexicon of Diptych")
        return Lexicon.from_bytes(path.read_bytes())
    except OSError as error:
        raise ConfigError(f"cannot read {path}: {error.strerror}") from error
    except ConfigError as error:
        if str(path) in str(error):
            raise
        message = f"{path}: {error}; make one: diptych lexicon import FILE --langs en,fr"
        raise ConfigError(message) from error
