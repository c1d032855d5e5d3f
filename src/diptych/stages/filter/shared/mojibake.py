"""Texts that were read in the wrong encoding.

Letters beyond ASCII take two bytes or more in UTF-8.  Read as Western European each becomes two or
three characters: a capital with an accent, then mostly a sign that no word goes on with.
"""

from __future__ import annotations

import re

__all__ = ["damage"]

# What bytes 80 to BF are in windows-1252: signs that never follow a letter in a word or behind it,
# and those that may, such as dashes, dots and quotation marks that close.
_SIGNS = (
    "\xa1-\xa9\xac\xae\xaf\xb1-\xb6\xb8\xb9\xbc-\xbf\u0152\u0153\u0160\u0161\u0178\u017d\u017e"
    "\u0192\u02c6\u02dc\u2020-\u2022\u2030\u20ac\u2122"
)
_USUAL = (
    "\xa0\xaa\xab\xb0\xb7\xba\xbb\u2013\u2014\u2018\u2019\u201a\u201c\u201d\u201e\u2026\u2039\u203a"
)
_ANY = _SIGNS + _USUAL
_BROKEN = re.compile(
    "|".join(
        [
            f"[\xc2\xc3][{_SIGNS}\xaa\xab\xb0\xb7\xba\xad]",
            f"(?<![A-Z\xc0-\xde])[\xc2\xc3][{_ANY}]",
            "(?<=[a-z])[\xc2\xc3](?![^\\W\\d_])",  # the sign was a blank
            "\\b\xc3(?= )",
            f"[\xc4-\xdf](?![\xa9\xae\u2122])[{_SIGNS}\xad]",
            f"(?:[\xc2-\xdf][{_ANY}]){{2}}",
            f"[\xe0-\xef][{_SIGNS}][{_ANY}]|[\xe0-\xef][{_ANY}][{_SIGNS}]",
            "\xe2\u20ac|\xf0\u0178",
        ]
    )
)
_SUSPECT = re.compile(f"[\xc2\xc3\ufffd]|[\xc4-\xf4][{_ANY}\xad]")


def damage(text: str) -> int:
    r"""How much of a text was read in the wrong encoding, and how much could not be read at all.

    A letter in the wrong encoding counts twice: no text has it by chance.

    >>> damage("Il a \u00c3\u00a9t\u00c3\u00a9 r\u00c3\u00a9uni"), damage("\ufffdcole")
    (6, 1)
    >>> damage("Il a été réuni «\u00e9»"), damage("NÃO, «PÂ» e SÃ!")
    (0, 0)
    """
    if text.isascii() or not _SUSPECT.search(text):
        return 0
    return 2 * len(_BROKEN.findall(text)) + text.count("\ufffd")
