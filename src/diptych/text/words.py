"""Words of any script, by the dictionary and rules of Unicode (ICU) where it is installed."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache

from diptych.text.langs import primary

__all__ = ["words"]

_WORD = re.compile(r"\w+(?:['\u2019]\w+)*")  # as ICU: an apostrophe inside a word belongs to it

_Segmenter = Callable[[str, str], Iterator[str]]


def words(text: str, lang: str) -> list[str]:
    """The words of a text in order: pieces with a letter or a digit in them, not punctuation.

    >>> words("L'école n'a que 3,5 élèves !", "fr")
    ["L'école", "n'a", 'que', '3,5', 'élèves']
    """
    segmenter = _segmenter()
    if segmenter is None:
        return _WORD.findall(text)
    return [piece for piece in segmenter(_whole(text), primary(lang) or "en") if _has_word(piece)]


def _has_word(piece: str) -> bool:
    return piece[0].isalnum() or (len(piece) > 1 and any(map(str.isalnum, piece)))


@cache
def _segmenter() -> _Segmenter | None:
    """ICU's word breaker, or nothing where it is not installed."""
    try:
        from icu4py.breakers import WordBreaker
    except ImportError:
        return None
    return lambda text, lang: iter(WordBreaker(text, lang))


def _whole(text: str) -> str:
    """The text without halves of surrogate pairs, which are no characters."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")
