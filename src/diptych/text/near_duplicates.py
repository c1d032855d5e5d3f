"""Keys for detecting near-duplicate segments: hashes that ignore case, punctuation and numbers."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from diptych.kernels.lines import as_lines
from diptych.text.digests import signed_hash

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_KNOWN = 0x2200  # characters of texts that are normalised in one call; most texts have no others

_DROPPED = frozenset({"P", "Z", "C"})  # punctuation, spaces, controls; symbols (+, €) are kept
_KEPT_PUNCTUATION = frozenset("#%&@")  # significant, although punctuation to Unicode: C#
_NUMBERS = re.compile(r"(?<!\w)\d+(?!\w)(?: \d+(?!\w))*")


class Keys(NamedTuple):
    """Hashes of a segment and of its left and right texts; all hashes depend on both languages."""

    same: int
    left: int
    right: int


class _Table(dict[int, str]):
    """A table for `str.translate` that computes the replacement of each character only once."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        kind = unicodedata.category(character)
        found = character
        if kind == "Nd":
            found = str(unicodedata.digit(character))
        elif kind == "Cf":  # soft hyphens and joiners
            found = ""
        elif kind[0] in _DROPPED and character not in _KEPT_PUNCTUATION:
            found = " "
        self[code] = found
        return found


_TABLE = _Table()


def skeleton(text: str) -> str:
    """Normalise a text: fold case, remove punctuation, and replace separate numbers with 0.

    >>> skeleton("  Chapter 12: The “Alps”."), skeleton("CHAPTER 3 - the Alps")
    ('chapter 0 the alps', 'chapter 0 the alps')
    >>> skeleton("Learn C++ on MP3"), skeleton("?!")
    ('learn c++ on mp3', '?!')
    """
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text)
    bare = " ".join(text.casefold().translate(_TABLE).split())
    return _NUMBERS.sub("0", bare) or text


def skeletons(texts: Sequence[str]) -> list[str]:
    """Normalise texts as `skeleton` does, in one call.

    >>> skeletons(["Chapter 12: The “Alps”.", "中文!", "?!"])
    ['chapter 0 the alps', '中文', '?!']
    """
    from diptych.kernels.skeletons import skeleton_lines

    joined = as_lines(texts)
    if not joined.isascii():
        joined = unicodedata.normalize("NFKC", joined)
    found = skeleton_lines(joined.casefold(), _entries())
    if len(found) != len(texts):
        return [skeleton(text) for text in texts]
    return [bare or skeleton(text) for bare, text in zip(found, texts, strict=True)]


@cache
def _entries() -> NDArray[np.uint32]:
    """The skeletons of the first characters of Unicode, as `skeleton_lines` requires them."""
    import numpy as np

    from diptych.kernels.skeletons import DROPPED, WORD

    made = [_TABLE[point] for point in range(_KNOWN)]
    return np.array([
        DROPPED if not each else ord(each) | (WORD if each.isalnum() else 0) for each in made
    ], np.uint32)  # fmt: skip


def segment_keys(left: str, right: str, left_lang: str, right_lang: str) -> Keys:
    """Compute the keys of a segment; near-duplicates have equal keys.

    >>> one, other = (segment_keys(f"Page {n}.", f"Seite {n}.", "en", "de") for n in (1, 22))
    >>> one == other, one == segment_keys("Page 1.", "Seite 1.", "en", "nl")
    (True, False)
    >>> turned = segment_keys("Seite 3", "Page 3", "de", "en")
    >>> (turned.same, turned.left, turned.right) == (one.same, one.right, one.left)
    True
    """
    return _keys(skeleton(left), skeleton(right), left_lang, right_lang)


def keys_of_segments(
    segments: Sequence[tuple[str, str]], left_lang: str, right_lang: str
) -> list[Keys]:
    """Compute the keys of segments as `segment_keys` does, in one call."""
    bare = skeletons([text for segment in segments for text in segment])
    both = zip(bare[::2], bare[1::2], strict=True)
    return [_keys(left, right, left_lang, right_lang) for left, right in both]


def _keys(left: str, right: str, left_lang: str, right_lang: str) -> Keys:
    ours, theirs = f"{left_lang}\n{left}", f"{right_lang}\n{right}"
    return Keys(
        text_key("\n".join(sorted((ours, theirs)))),
        text_key(f"{ours}\n\n{right_lang}"),
        text_key(f"{theirs}\n\n{left_lang}"),
    )


def text_key(text: str) -> int:
    """A signed 64-bit hash of a text, which fits into an SQLite integer."""
    return signed_hash(text.encode("utf-8", "replace"))
