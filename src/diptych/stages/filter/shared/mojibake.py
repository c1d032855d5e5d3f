"""Texts that were read in the wrong encoding, as `ftfy` recognises them."""

from __future__ import annotations

import re

from ftfy import fix_encoding
from ftfy.badness import badness

# All that `ftfy` looks for has two characters beyond ASCII side by side, or one of these.
_SUSPECT = re.compile("[^\x00-\x7f]{2}|[\x80-\x9f\xc2\xc3\u0152\u0153]")
# A word in capitals before a closing mark, such as \u201cAMANH\xc3\u201d in Portuguese, is none.
_CAPITALS = re.compile("(?<=[A-Z\xc0-\xde])[\xc2\xc3](?=[\xbb\u2013\u2014\u2019\u201d\u2026])")


def damage(text: str) -> int:
    r"""Count the characters of a text that were read in the wrong encoding, or not at all.

    A strange sequence counts twice, but once if it is alone and cannot be mended: ”Ändra” is
    Swedish.  A replacement character counts once.

    >>> damage("Il a \u00c3\u00a9t\u00c3\u00a9 r\u00c3\u00a9uni"), damage("\ufffdcole")
    (6, 1)
    >>> damage("Il a été réuni «\u00e9»"), damage("NÃO, «PÂ» e “AMANHÃ”"), damage("Se ”Ändra”")
    (0, 0, 1)
    """
    unread = text.count("\ufffd")
    if text.isascii() or not _SUSPECT.search(text):
        return unread
    found = badness(_CAPITALS.sub("", text))
    is_alone = found == 1 and fix_encoding(text) == text
    return (found if is_alone else 2 * found) + unread
