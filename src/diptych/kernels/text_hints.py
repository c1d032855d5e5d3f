"""Hints about texts and pairs of texts in C, so that most texts need no closer look."""

from __future__ import annotations

import ctypes
import re
from collections.abc import Sequence
from enum import IntFlag

import numpy as np
from numpy.typing import NDArray

from diptych.kernels import native, pointer
from diptych.kernels.lines import as_lines

_SEED = hash("hints") % (1 << 64)  # differs between processes, so no page can plan collisions
_MIN_DIGITS = 6
# At signs, spelled ones too: `(at)`, `[ arroba ]`, `(chez)`; and digits that are not ASCII.
_SIGNS = r"@| AT |[(\[{] ?[aAcC\x80-\U0010ffff]|[\u0600-\u1fff\u3000-\U0010ffff]"
# Everything that `ftfy` detects has two adjacent non-ASCII characters, or one of these.
_SUSPECT = "[^\x00-\x7f]{2}|[\x80-\x9f\xc2\xc3\u0152\u0153]"
_CUTS = ("…", "...")
_AFTER_CUT = " ])»”\"'"  # characters that may follow the ellipsis of an excerpt


class TextHint(IntFlag):
    """Hints about the contents of a text."""

    UNREAD = 1
    """replacement characters"""
    SUSPECT = 2
    """characters that were decoded wrongly"""
    PERSONAL = 4
    """personal data"""


class PairHint(IntFlag):
    """Hints about two texts that are compared."""

    SHARED = 1
    """words in common, between white space"""
    LEFT_ADDRESS = 2
    """the left text may have a URL or an e-mail address"""
    RIGHT_ADDRESS = 4
    EXCERPTS = 8
    """both end with an ellipsis"""
    ALIKE = 16
    """the same letters; without this hint, they certainly differ"""


def text_hints(texts: Sequence[str]) -> NDArray[np.uint8]:
    """The hints of each text, as bits.

    >>> text_hints(["Plain text 5", "Tel. 555 55 55", "\ufffdcole"]).tolist()
    [0, 4, 5]
    """
    library = native()
    if library is None:
        return np.array([text_hint_reference(text) for text in texts], np.uint8)
    data, found = as_lines(texts).encode("utf-8", "surrogatepass"), np.zeros(len(texts), np.uint8)
    library.text_hints(data, ctypes.c_int64(len(data)), ctypes.c_int64(len(texts)), pointer(found))
    return found


def pair_hints(lefts: Sequence[str], rights: Sequence[str]) -> NDArray[np.uint8]:
    """The hints of each pair of texts, as bits.

    >>> pair_hints(["Mont Blanc", "a@b.org…"], ["Der Mont", "…"]).tolist()
    [1, 26]
    """
    library = native()
    if len(lefts) != len(rights):
        raise ValueError("both sides must have the same number of texts")
    if library is None:
        both = zip(lefts, rights, strict=True)
        return np.array([pair_hint_reference(*each) for each in both], np.uint8)
    ours, theirs = (as_lines(side).encode("utf-8", "surrogatepass") for side in (lefts, rights))
    found = np.zeros(len(lefts), np.uint8)
    if not library.pair_hints(
        ours, ctypes.c_int64(len(ours)), theirs, ctypes.c_int64(len(theirs)),
        ctypes.c_int64(len(lefts)), ctypes.c_uint64(_SEED), pointer(found),
    ):  # fmt: skip
        raise MemoryError
    return found


def text_hint_reference(text: str) -> int:
    """The hints of a text, in Python."""
    found = TextHint.UNREAD if "\ufffd" in text else TextHint(0)
    if re.search(_SUSPECT, text):
        found |= TextHint.SUSPECT
    if re.search(_SIGNS, text) or len(re.findall("[0-9]", text)) >= _MIN_DIGITS:
        found |= TextHint.PERSONAL
    return found


def pair_hint_reference(left: str, right: str) -> int:
    """The hints of two texts, in Python."""
    found = PairHint(0) if {*left.split()}.isdisjoint(right.split()) else PairHint.SHARED
    for text, hint in ((left, PairHint.LEFT_ADDRESS), (right, PairHint.RIGHT_ADDRESS)):
        if "://" in text or "@" in text or "www." in text:
            found |= hint
    if all(text.rstrip(_AFTER_CUT).endswith(_CUTS) for text in (left, right)):
        found |= PairHint.EXCERPTS
    begin = left[:1] + right[:1]
    is_known = len(begin) == 2 and begin.isascii() and begin.isalpha()
    return found if is_known and begin[0].lower() != begin[1].lower() else found | PairHint.ALIKE
