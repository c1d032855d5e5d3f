"""Documents of a run in Python: page pairs with the whole text of both pages, and their alignment.

The fields are those of the format docs (`docs/strategies/docs.md`).
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from diptych.units import DocumentPair, Piece, Text


class TextBlock(NamedTuple):
    """A block of a page: a heading, a paragraph, a list item, a table cell and so on."""

    text: str
    """text of the block"""
    path: str
    """DOM path of its element"""
    kind: str
    """`title`, `description`, `heading`, `paragraph`, `list_item`, `table_cell`, `caption`,
    `quotation`, `code`, `button`, `label`, `link` or `image`"""
    level: int
    """of a heading: 1 to 6; else: how deeply its list item is nested, 0 outside lists"""
    number: int
    """number of its list item in an ordered list, 0 elsewhere"""
    row: int
    """row of its table cell, counted from 1; 0 outside tables"""
    column: int
    """number of its table cell in the row, counted from 1; 0 outside tables"""
    region: str
    """`head`, `header`, `nav`, `main`, `article`, `aside`, `footer`, or `body` if the page does not
    say"""


class PageText(NamedTuple):
    """The whole text of a page: its blocks in reading order."""

    lang: str
    """language code"""
    url: str
    """URL of the page"""
    title: str
    """title of the page"""
    blocks: tuple[TextBlock, ...]
    """all blocks, in reading order"""
    fetched: datetime
    """time of the download"""
    digest: str
    """digest of the body of the page"""
    warc: str
    """WARC file that holds the page"""
    offset: int
    """offset of the page's record in the WARC file"""

    def markdown(self, *regions: str) -> str:
        """The text with the marks of Markdown for headings, lists and tables.

        If regions are named, the text is only of these: `markdown("main", "article")`.
        """
        from diptych.page.markdown import markdown
        from diptych.types import Block

        return markdown([Block(block.text, block.path) for block in self.blocks], regions)


class AlignedText(NamedTuple):
    """A segment of a document; `left` or `right` is empty if it has no counterpart."""

    left: str
    """text in the first language"""
    right: str
    """text in the second language"""
    left_at: tuple[tuple[int, int, int], ...]
    """index of the block, start and end of each stretch of the left text"""
    right_at: tuple[tuple[int, int, int], ...]
    score: float
    """probability that the texts are good translations of each other"""
    accept: bool
    """True if the segment is in the corpus"""
    reason: str
    """why it is not; `duplicate`: the same translation is in the corpus from another place"""


class Document(NamedTuple):
    """Two pages that are translations of each other, with their whole text."""

    id: str
    """hash of the languages, URLs and digests of the pages; the same in every run"""
    left: PageText
    """page in the first language"""
    right: PageText
    """page in the second language"""
    verified: float
    """score of the verifier for the two pages"""
    evidence: str
    """kinds of evidence for the page pair, joined by +"""
    flags: tuple[str, ...]
    """facts about the pages, such as `noai`"""
    segments: tuple[AlignedText, ...]
    """segments in the order of the left page"""
    run: str
    """signature of the run"""


def document_of(pair: DocumentPair) -> Document:
    """Convert a page pair of a corpus to a document."""
    from diptych.stages.export.docs import document_id

    return Document(
        document_id(pair), _page(pair.left), _page(pair.right), pair.verified, pair.evidence,
        pair.flags, tuple(_segment(pair, piece) for piece in pair.pieces), pair.run,
    )  # fmt: skip


def utc_time(seconds: float) -> datetime:
    """The time that is some seconds after the epoch, without fractions of a second."""
    return datetime.fromtimestamp(int(seconds), UTC)


def _page(text: Text) -> PageText:
    from diptych.page.outline import places

    blocks = tuple(
        TextBlock(
            block.text, block.path, place.kind.value, place.level, place.number, place.row,
            place.column, place.region.value,
        )
        for block, place in zip(text.blocks, places(text.blocks), strict=True)
    )  # fmt: skip
    return PageText(
        text.lang, text.url, text.title, blocks, utc_time(text.fetched_at), text.digest, text.warc,
        text.offset,
    )  # fmt: skip


def _segment(pair: DocumentPair, piece: Piece) -> AlignedText:
    return AlignedText(
        _said(pair.left, piece.left), _said(pair.right, piece.right), piece.left, piece.right,
        piece.score, piece.accept, piece.reason,
    )  # fmt: skip


def _said(text: Text, stretches: Sequence[tuple[int, int, int]]) -> str:
    return " ".join(text.blocks[index].text[start:end] for index, start, end in stretches)
