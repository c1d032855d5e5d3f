"""Properties of two texts that are the sides of a segment; they depend on nothing else."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from diptych.kernels.text_hints import PairHint, pair_hints
from diptych.language.switchers import MAX_NAME, name_different_languages
from diptych.stages.filter.shared.copies import copy_counts

COLUMNS = 7
"""number of properties: copied, translated and plain words (`CopyCounts`); whether the sides name
two different languages; whether they are identical; addresses on one side; whether both are
excerpts"""
_SHARED, _ALIKE = int(PairHint.SHARED), int(PairHint.ALIKE)
_ADDRESSES = int(PairHint.LEFT_ADDRESS | PairHint.RIGHT_ADDRESS)
_ADDRESS = re.compile(r"(?:https?://|www\.)[^\s<>\"']+|[\w.+-]+@[\w-]+(?:\.[\w-]+)+", re.ASCII)


def read_pairs(
    lefts: Sequence[str], rights: Sequence[str], langs: tuple[str, str]
) -> NDArray[np.float64]:
    """Return the properties of pairs of texts, a row each, in the order that `COLUMNS` describes.

    >>> found = read_pairs(["QField in Bern", "English"], ["QField à Bern", "Suomi"], ("en", "fr"))
    >>> found.astype(int).tolist()
    [[2, 1, 0, 0, 0, 0, 0], [0, 0, 0, 1, 0, 0, 0]]
    """
    hints = pair_hints(lefts, rights)
    rows = np.zeros((len(lefts), COLUMNS))
    rows[:, 6] = hints & int(PairHint.EXCERPTS) > 0
    has_copies = (hints & _SHARED > 0) | (hints & _ADDRESSES == _ADDRESSES)
    for at in np.flatnonzero(has_copies).tolist():
        rows[at, :3] = copy_counts(lefts[at], rights[at])
    for at, (left, right) in enumerate(zip(lefts, rights, strict=True)):
        if len(left) <= MAX_NAME >= len(right) and name_different_languages(left, right, langs):
            rows[at, 3] = 1.0
    for column, hint, read in ((4, _ALIKE, are_identical), (5, _ADDRESSES, addresses_apart)):
        for at in np.flatnonzero(hints & hint).tolist():
            rows[at, column] = read(lefts[at], rights[at])
    return rows


def are_identical(left: str, right: str) -> bool:
    """True if two texts are equal, ignoring case and all characters other than letters.

    >>> are_identical("Version 2.0", "VERSION 3"), are_identical("1", "2"), are_identical("1", "1")
    (True, False, True)
    """
    if left == right:
        return True
    return _letters(left) == _letters(right) != ""


def _letters(text: str) -> str:
    return "".join(filter(str.isalpha, text.casefold()))


def addresses_apart(left: str, right: str) -> int:
    """The number of URLs and e-mail addresses that only one of two texts has.

    >>> addresses_apart("See www.a.org.", "Voir www.a.org"), addresses_apart("See a@b.org", "Voir")
    (0, 1)
    """
    ours, theirs = (
        {address.rstrip(".,;:)") for address in _ADDRESS.findall(text)} for text in (left, right)
    )
    return len(ours ^ theirs)
