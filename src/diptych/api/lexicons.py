"""Lexicons that the user gives: reading them, and their names in `run.toml`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from diptych.errors import ConfigError, option_name

if TYPE_CHECKING:
    from diptych.learn.lexicon.lexicon import Lexicon


def lexicon_name(lexicon: Lexicon, langs: Sequence[str]) -> str:
    """The name under which `run.toml` lists a lexicon: its two languages and a digest.

    Raises `ConfigError` unless both languages of the lexicon are among `langs`.
    """
    from hashlib import blake2b

    from diptych.learn.lexicon.lexicon import lexicon_of
    from diptych.types import lang_pairs

    own = lexicon.left_lang, lexicon.right_lang
    if not any(lexicon_of(pair, [lexicon]) for pair in lang_pairs(langs)):
        raise ConfigError(
            f"a lexicon for {','.join(own)} cannot be used with"
            f" {option_name('langs')} {','.join(langs)}"
        )
    return f"{'-'.join(own)}:{blake2b(lexicon.to_bytes(), digest_size=8).hexdigest()}"
