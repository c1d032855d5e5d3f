"""Locations of segments in the blocks of a page: DOM paths and character offsets.

The left or right text of a segment is located by `path` and `at`.  `path` is a list of DOM paths
separated by spaces, and `at` has the start and end offsets for each path, such as `0-54 0-12`.  The
text consists of these stretches, joined by spaces.  Several blocks of a page may have the same
path; the text or its hash then selects the block.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice, pairwise, product
from typing import NamedTuple

from diptych.reason import Reason
from diptych.types import Block, Decision, SegmentPair
from diptych.units import DocumentPair, Piece, Text

MAX_STRETCHES = 2_000  # of one side; a segment is a few sentences
MAX_ALIKE = 16  # different texts at the same path to try for a stretch
MAX_TEXTS = 256  # texts to try for one side

_AT = re.compile(r"[0-9]{1,9}-[0-9]{1,9}(?: [0-9]{1,9}-[0-9]{1,9})*")


class Stretch(NamedTuple):
    """A range of characters in a block."""

    path: str
    start: int
    end: int


def parse_at(at: str) -> list[tuple[int, int]]:
    """Parse pairs of start and end offsets, or raise ValueError if `at` is malformed.

    >>> parse_at("0-54 3-12")
    [(0, 54), (3, 12)]
    """
    if not at:
        return []
    if not _AT.fullmatch(at):
        raise ValueError(f"not a list of character ranges: {at[:40]!r}")
    spans = [(int(start), int(end)) for start, _, end in (one.partition("-") for one in at.split())]
    if any(start >= end for start, end in spans):
        raise ValueError(f"a character range is empty or reversed: {at[:40]!r}")
    return spans


def format_at(spans: Iterable[tuple[int, int]]) -> str:
    """Format pairs of start and end offsets; the inverse of `parse_at`.

    >>> format_at([(0, 54), (3, 12)])
    '0-54 3-12'
    """
    return " ".join(f"{start}-{end}" for start, end in spans)


def stretches(path: str, at: str) -> list[Stretch]:
    """Combine `path` and `at` into stretches, or raise ValueError if they do not match.

    >>> stretches("/html/body/p[1] /html/body/p[2]", "9-54 0-12")[1]
    Stretch(path='/html/body/p[2]', start=0, end=12)
    """
    spans = parse_at(at)
    # Not `split()`: an element name may contain non-ASCII white space.
    paths = path.split(" ") if path else []
    if len(paths) != len(spans):
        raise ValueError(f"{len(paths)} blocks but {len(spans)} character ranges")
    if len(spans) > MAX_STRETCHES:
        raise ValueError(f"more than {MAX_STRETCHES:,} blocks")
    return [Stretch(path, *span) for path, span in zip(paths, spans, strict=True)]


def by_path(blocks: Iterable[Block]) -> dict[str, list[str]]:
    """Map each DOM path to the texts of its blocks, in page order."""
    found: defaultdict[str, list[str]] = defaultdict(list)
    for block in blocks:
        found[block.path].append(block.text)
    return dict(found)


def texts_at(texts: Mapping[str, Sequence[str]], path: str, at: str) -> Iterator[str]:
    """Yield the possible texts at a location, the most probable first.

    There may be several texts, because several blocks may have the same path.  Nothing is yielded
    if the page has no such location.

    >>> page = by_path([Block("One. Two.", "/p"), Block("Three", "/q"), Block("4", "/q")])
    >>> list(texts_at(page, "/p /q", "5-9 0-1"))
    ['Two. T', 'Two. 4']
    """
    seen: Counter[str] = Counter()
    choices: list[list[str]] = []
    for path_, start, end in stretches(path, at):
        alike = list(_alike(texts.get(path_, ()), start, end))
        # A repeated path means the next of its blocks.
        turn = seen[path_] % max(1, len(alike))
        choices.append(alike[turn:] + alike[:turn])
        seen[path_] += 1
    for chosen in islice(product(*choices), MAX_TEXTS):
        yield " ".join(chosen)


def _alike(texts: Sequence[str], start: int, end: int) -> Iterable[str]:
    """Up to `MAX_ALIKE` distinct texts at the same offsets in several block texts."""
    found = dict.fromkeys(text[start:end] for text in texts if end <= len(text))
    return islice(found, MAX_ALIKE)


class _Places:
    """The blocks of one page, and the locations that are already used by segments."""

    def __init__(self, blocks: Sequence[Block]) -> None:
        self._texts = [block.text for block in blocks]
        self._indices: defaultdict[str, list[int]] = defaultdict(list)
        for index, block in enumerate(blocks):
            self._indices[block.path].append(index)
        self._taken: set[tuple[int, int, int]] = set()

    def take(self, text: str, path: str, at: str) -> tuple[tuple[int, int, int], ...]:
        """Mark the location of a text as used, and return (block, start, end) for each stretch.

        The result is empty if the text is not at this location.
        """
        found: list[tuple[int, int, int]] = []
        begin = 0
        try:
            wanted = stretches(path, at)
        except ValueError:  # the aligner did not record locations
            return ()
        for place, start, end in wanted:
            one = self._find(text[begin : begin + end - start], place, start, end)
            if one is None:
                return ()
            found.append(one)
            begin += end - start + 1
        return tuple(found) if begin == len(text) + 1 else ()

    def _find(self, said: str, path: str, start: int, end: int) -> tuple[int, int, int] | None:
        """The first unused location of the text `said` in blocks with this path.

        If all locations are used, return the first; if the text is not there, return None.
        """
        first: tuple[int, int, int] | None = None
        for index in self._indices.get(path, ()):
            if self._texts[index][start:end] == said:
                place = (index, start, end)
                if place not in self._taken:
                    self._taken.add(place)
                    return place
                first = first or place
        return first


def pieces(
    left: Sequence[Block], right: Sequence[Block], segments: Iterable[tuple[SegmentPair, Decision]]
) -> tuple[Piece, ...]:
    """Convert the segments of a page pair to locations in the blocks of both pages, in order.

    A segment whose text is not at its location is rejected with the reason `no_text`.

    >>> url, page = "http://a.org/", [Block("One. Two.", "/p")]
    >>> seg = SegmentPair("Two.", "", "en", "fr", url, url, "/p", "", 0.0, left_at="5-9")
    >>> pieces(page, [], [(seg, Decision(False, 0.0, "empty"))])
    (Piece(left=((0, 5, 9),), right=(), score=0.0, accept=False, reason='empty'),)
    """
    ours, theirs = _Places(left), _Places(right)
    found: list[Piece] = []
    for seg, decision in segments:
        one = ours.take(seg.left, seg.left_path, seg.left_at)
        other = theirs.take(seg.right, seg.right_path, seg.right_at)
        is_there = bool(one) == bool(seg.left) and bool(other) == bool(seg.right)
        piece = Piece(one, other, decision.score, decision.accept, decision.reason)
        found.append(piece if is_there else _without_text(piece))
    return tuple(found)


def _without_text(piece: Piece) -> Piece:
    return piece._replace(accept=False, reason=Reason.NO_TEXT)


_Triples = tuple[tuple[int, int, int], ...]


def rewritten(document: DocumentPair, change: Callable[[str], str]) -> DocumentPair:
    """Apply `change` to the texts of a document pair, and update the locations of its segments.

    Each stretch is changed separately.  If a change extends beyond one stretch, the whole block is
    changed, and its segments are rejected with the reason `no_text`.
    """
    left, ours = _rewritten(document.left, [piece.left for piece in document.pieces], change)
    right, theirs = _rewritten(document.right, [piece.right for piece in document.pieces], change)
    moved = []
    for piece, one, other in zip(document.pieces, ours, theirs, strict=True):
        is_there = len(one) == len(piece.left) and len(other) == len(piece.right)
        now = piece._replace(left=one, right=other)
        moved.append(now if is_there else _without_text(now))
    return document._replace(left=left, right=right, pieces=tuple(moved))


def _rewritten(
    text: Text, places: Sequence[_Triples], change: Callable[[str], str]
) -> tuple[Text, list[_Triples]]:
    """Apply `change` to the text of a page, and return it with the new locations of its segments.

    `places` contains the old locations of each segment.  The new ones are empty if they cannot be
    determined.
    """
    cuts: defaultdict[int, set[int]] = defaultdict(set)
    for index, start, end in (one for triples in places for one in triples):
        cuts[index] |= {start, end}
    blocks = list(text.blocks)
    moved: dict[int, dict[int, int]] = {}
    for index, block in enumerate(text.blocks):
        said, moved[index] = _changed(block.text, cuts[index], change)
        blocks[index] = block._replace(text=said)
    found = [
        tuple((index, moved[index][start], moved[index][end]) for index, start, end in triples)
        if all(moved[index] for index, _, _ in triples)
        else ()
        for triples in places
    ]
    return text._replace(title=change(text.title), blocks=tuple(blocks)), found


def _changed(text: str, cuts: set[int], change: Callable[[str], str]) -> tuple[str, dict[int, int]]:
    """Change a text part by part, and return it with a mapping from old to new offsets.

    `cuts` are the offsets between the parts.  If the parts cannot be changed separately, the
    whole text is changed, and the mapping is empty.
    """
    whole = change(text)
    if whole == text:
        return text, {cut: cut for cut in cuts}
    said, moved = "", {0: 0}
    for start, end in pairwise(sorted({0, *cuts, len(text)})):
        said += change(text[start:end])
        moved[end] = len(said)
    return (said, moved) if change(said) == said else (whole, {})
