"""The nouns of a corpus, as it is exported, merged and rebuilt.

All are named tuples: a million of them are made in some seconds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from diptych.types import Block, Url

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["DocumentPair", "Piece", "Repeats", "Side", "Text", "Unit"]


class Side(NamedTuple):
    """One language of a unit: its text, and where that was found."""

    lang: str
    text: str
    url: Url
    path: str
    """DOM paths of the blocks it was taken from, with blanks between them"""
    at: str
    """which characters of each of these blocks, as `0-54 0-12`"""
    fetched_at: float
    digest: str
    """of the page's body, as `sha1:...` in base 32"""
    warc: str
    """the file that holds the page"""
    offset: int
    """where its record begins"""


class Unit(NamedTuple):
    """A line of the corpus: one text in two languages or more, with all that is known of it."""

    sides: tuple[Side, ...]
    """in the user's order of languages, each at most once"""
    score: float
    """quality, from 0 to 1"""
    alignment: float
    """confidence of the alignment of its sentences"""
    verified: float
    """score of the verifier for its pages"""
    evidence: str
    """names of what proposed these pages, with + between them"""
    flags: tuple[str, ...] = ()
    """facts for the user: `machine:google`, `licence:CC-BY-4.0`, `noai`, `email`"""
    copies: int = 1
    """number of occurrences in all; near-duplicates count"""
    run: str = ""
    """signature of the run that found it"""


class Piece(NamedTuple):
    """A segment of two documents: the characters of their blocks that it is made of."""

    left: tuple[tuple[int, int, int], ...]
    """block, first character, end; none where nothing corresponds"""
    right: tuple[tuple[int, int, int], ...]
    score: float
    accept: bool
    reason: str = ""


class Text(NamedTuple):
    """A whole page as text: its blocks in order, and where it was found."""

    lang: str
    url: Url
    title: str
    blocks: tuple[Block, ...]
    fetched_at: float
    digest: str
    warc: str
    offset: int


class DocumentPair(NamedTuple):
    """Two pages that are translations of each other, with all their text, aligned or not."""

    left: Text
    right: Text
    verified: float
    evidence: str
    flags: tuple[str, ...]
    pieces: tuple[Piece, ...]
    """in the order of the left page"""
    run: str = ""


class Repeats(NamedTuple):
    """Counts of the texts of some segments in a whole run, one for each segment."""

    same: NDArray[np.int64]
    """this left side with this right side"""
    left: NDArray[np.int64]
    """this left side with whatever right side"""
    right: NDArray[np.int64]
