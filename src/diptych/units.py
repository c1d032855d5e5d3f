"""The data types of a corpus, for exporting, merging and rebuilding.

All are named tuples, because creating a million named tuples takes only a few seconds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from diptych.types import Block, Url

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["DocumentPair", "Piece", "Repeats", "Side", "Text", "Unit"]


class Side(NamedTuple):
    """The text of a unit in one language, and its location on the web and in the archive."""

    lang: str
    text: str
    url: Url
    path: str
    """DOM paths of the blocks that contain the text, separated by spaces"""
    at: str
    """character range in each block of the path, such as `0-54 0-12`"""
    fetched_at: float
    digest: str
    """digest of the page's body, `sha1:...` in base 32"""
    warc: str
    """name of the WARC file that holds the page"""
    offset: int
    """byte offset of the page's record in that file"""


class Unit(NamedTuple):
    """A line of the corpus: one text in two or more languages, with its metadata."""

    sides: tuple[Side, ...]
    """sides in the user's order of languages; each language occurs at most once"""
    score: float
    """quality score, from 0 to 1"""
    alignment: float
    """confidence of the sentence alignment"""
    verified: float
    """the verifier's score for the page pair"""
    evidence: str
    """names of the evidence for the page pair, joined by +"""
    flags: tuple[str, ...] = ()
    """notes for the user: `machine:google`, `licence:CC-BY-4.0`, `noai`, `email`"""
    copies: int = 1
    """total number of occurrences, including near-duplicates"""
    run: str = ""
    """signature of the run that found the unit"""
    first_seen: float = 0.0
    """time of the mining or update that first found it; 0 if unknown"""
    last_seen: float = 0.0
    """last time when its pages were known to have it; 0 if unknown"""


class Piece(NamedTuple):
    """A segment of a document pair, given as character ranges in the blocks of both pages."""

    left: tuple[tuple[int, int, int], ...]
    """block index, start offset and end offset of each range; empty without a counterpart"""
    right: tuple[tuple[int, int, int], ...]
    score: float
    accept: bool
    reason: str = ""


class Text(NamedTuple):
    """The whole text of a page: its blocks in order, and its location."""

    lang: str
    url: Url
    title: str
    blocks: tuple[Block, ...]
    fetched_at: float
    digest: str
    warc: str
    offset: int


class DocumentPair(NamedTuple):
    """Two pages that are translations of each other, with their whole text."""

    left: Text
    right: Text
    verified: float
    evidence: str
    flags: tuple[str, ...]
    pieces: tuple[Piece, ...]
    """pieces in the order of the left page"""
    run: str = ""


class Repeats(NamedTuple):
    """For each segment of a run, the number of segments in the run that have the same text."""

    same: NDArray[np.int64]
    """segments with the same left and right side"""
    left: NDArray[np.int64]
    """segments with the same left side and any right side"""
    right: NDArray[np.int64]
