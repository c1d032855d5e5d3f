"""Detection of texts that were decoded with the wrong character encoding, using `ftfy`."""

from __future__ import annotations

import re

# A capitalised word before a closing quote, such as \u201cAMANH\xc3\u201d in Portuguese, is no
# error.
_CAPITALS = re.compile("(?<=[A-Z\xc0-\xde])[\xc2\xc3](?=[\xbb\u2013\u2014\u2019\u201d\u2026])")


def damage(text: str) -> int:
    r"""Estimate the number of wrongly decoded characters in a text.

    A suspect sequence counts twice; it counts once if it is the only such sequence and `ftfy`
    cannot repair it, because it may be correct, as in Swedish ”Ändra”.  A replacement character
    counts once.

    >>> damage("Il a \u00c3\u00a9t\u00c3\u00a9 r\u00c3\u00a9uni"), damage("\ufffdcole")
    (6, 1)
    >>> damage("Il a été réuni «\u00e9»"), damage("NÃO, «PÂ» e “AMANHÃ”"), damage("Se ”Ändra”")
    (0, 0, 1)
    """
    unread = text.count("\ufffd")
    from ftfy import fix_encoding
    from ftfy.badness import badness

    found = badness(_CAPITALS.sub("", text))
    is_alone = found == 1 and fix_encoding(text) == text
    return (found if is_alone else 2 * found) + unread
