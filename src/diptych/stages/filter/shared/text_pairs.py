"""Properties of two texts that are the sides of a segment; they depend on nothing else."""

from __future__ import annotations

import re

from diptych.language.switchers import name_different_languages
from diptych.stages.filter.shared.copies import copy_counts

COLUMNS = 7
"""number of properties: copied, translated and plain words (`CopyCounts`); whether the sides name
two different languages; whether they are identical; addresses on one side; whether both are
excerpts"""
_ADDRESS = re.compile(r"(?:https?://|www\.)[^\s<>\"']+|[\w.+-]+@[\w-]+(?:\.[\w-]+)+", re.ASCII)
_MAY_BE_ADDRESS = re.compile(r"://|@|www\.")
_CUTS = ("…", "...")
_AFTER_CUT = " ])»”\"'"  # characters that may follow the ellipsis of an excerpt


def read_pair(left: str, right: str, *, langs: tuple[str, str]) -> tuple[int, ...]:
    """Return the properties of two texts, in the order that `COLUMNS` describes."""
    return (
        *copy_counts(left, right),
        name_different_languages(left, right, langs),
        are_identical(left, right),
        addresses_apart(left, right),
        are_excerpts(left, right),
    )


def are_identical(left: str, right: str) -> bool:
    """True if two texts are equal, ignoring case and all characters other than letters.

    >>> are_identical("Version 2.0", "VERSION 3"), are_identical("1", "2"), are_identical("1", "1")
    (True, False, True)
    """
    if left == right:
        return True
    if left[:1].isalpha() and right[:1].isalpha() and left[:1].lower() != right[:1].lower():
        return False  # fast path for most segments
    return _letters(left) == _letters(right) != ""


def _letters(text: str) -> str:
    return "".join(filter(str.isalpha, text.casefold()))


def addresses_apart(left: str, right: str) -> int:
    """The number of URLs and e-mail addresses that only one of two texts has.

    >>> addresses_apart("See www.a.org.", "Voir www.a.org"), addresses_apart("See a@b.org", "Voir")
    (0, 1)
    """
    if not _MAY_BE_ADDRESS.search(left) and not _MAY_BE_ADDRESS.search(right):
        return 0
    ours, theirs = (
        {address.rstrip(".,;:)") for address in _ADDRESS.findall(text)} for text in (left, right)
    )
    return len(ours ^ theirs)


def are_excerpts(left: str, right: str) -> bool:
    """True if both texts end with an ellipsis, often in the middle of a sentence.

    >>> are_excerpts("And then […]", "Et puis..."), are_excerpts("And then…", "Et puis")
    (True, False)
    """
    return left.rstrip(_AFTER_CUT).endswith(_CUTS) and right.rstrip(_AFTER_CUT).endswith(_CUTS)
