"""Sentence alignment in C: word scores, bead scores and the best path through two texts.

A point (i, j) lies after i left and j right sentences.  Only the points in a band are visited, so
memory grows linearly, not quadratically, with the length of the texts.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from diptych.kernels import beads_reference as reference
from diptych.kernels import native, pointer
from diptych.kernels.ibm1 import Bags, Postings
from diptych.kernels.length_costs import MAX_COST
from diptych.kernels.tables import Table, are_within, ends_of


class Band(NamedTuple):
    """The points (i, j) to visit: for each i, the first j (`low`) and the last j (`high`)."""

    low: NDArray[np.int32]
    high: NDArray[np.int32]

    @classmethod
    def full(cls, left: int, right: int) -> Band:
        """The band of all points of two texts, given their numbers of sentences."""
        return cls(np.zeros(left + 1, np.int32), np.full(left + 1, right, np.int32))

    @classmethod
    def around(cls, points: NDArray[np.int64], left: int, right: int, margin: int) -> Band:
        """The band of points within about `margin` sentences of a path.

        The path is given as rows of (i, j) from (0, 0) to (`left`, `right`).

        >>> Band.around(np.array([[0, 0], [4, 4]]), 4, 4, 1).high.tolist()
        [1, 2, 3, 4, 4]
        """
        rows = np.arange(left + 1)
        at = np.interp(rows, points[:, 0], points[:, 1])
        # Where the path runs along a row, the row includes both ends of that stretch.
        first, last = np.floor(at).astype(np.int64), np.ceil(at).astype(np.int64)
        np.minimum.at(first, points[:, 0], points[:, 1])
        np.maximum.at(last, points[:, 0], points[:, 1])
        low = np.minimum.accumulate((first - margin)[::-1])[::-1]
        high = np.maximum.accumulate(last + margin)
        low[0], high[-1] = 0, right
        low[1:] = np.minimum(low[1:], high[:-1])  # neighbouring rows touch
        return cls(
            np.clip(low, 0, right).astype(np.int32), np.clip(high, 0, right).astype(np.int32)
        )

    @property
    def start(self) -> NDArray[np.int64]:
        """The index of the first point for each i, followed by the total number of points."""
        return ends_of(self.high + 1 - self.low)

    @property
    def right(self) -> int:
        """The number of sentences in the right text."""
        return int(self.high[-1])

    def left_windows(self, most: int) -> Windows:
        """For each left sentence, the right sentences that may be in the same bead.

        A bead has at most `most` sentences on each side.
        """
        count = len(self.low) - 1
        first = np.maximum(np.arange(count) - most + 1, 0)
        return Windows(
            self.low[first], np.minimum(self.high[:count] + most, self.right).astype(np.int32)
        )

    def right_windows(self, most: int) -> Windows:
        """For each right sentence, the left sentences that may be in the same bead.

        A bead has at most `most` sentences on each side.
        """
        rows, columns = len(self.low) - 1, np.arange(self.right)
        low = np.searchsorted(self.high, columns - most + 1, side="left")
        high = np.searchsorted(self.low, columns, side="right") - 1 + most
        return Windows(
            np.minimum(low, rows).astype(np.int32), np.minimum(high, rows).astype(np.int32)
        )


class Windows(NamedTuple):
    """For each sentence, the range `low:high` of sentences in the other text to compare it with."""

    low: NDArray[np.int32]
    high: NDArray[np.int32]

    @property
    def start(self) -> NDArray[np.int64]:
        """The index of the first cell of each window, followed by the number of cells.

        A cell is a sentence of the other text in a window.
        """
        return ends_of(self.high - self.low)


class Moves(NamedTuple):
    """The kinds of beads: their left and right sentence counts and log prior probabilities."""

    left: NDArray[np.int32]
    right: NDArray[np.int32]
    priors: NDArray[np.float64]

    @classmethod
    def of(cls, kinds: Sequence[tuple[int, int]], priors: Sequence[float]) -> Moves:
        """Create moves from (left count, right count) pairs and priors, which need not sum to 1."""
        if any(min(kind) < 0 or not any(kind) for kind in kinds):
            raise ValueError("a bead must have sentences on at least one side")
        counts = np.array(kinds, np.int32).reshape(-1, 2)
        return cls(counts[:, 0].copy(), counts[:, 1].copy(), np.log(np.array(priors, np.float64)))

    @property
    def most(self) -> int:
        """The largest number of sentences on one side of any bead."""
        return int(max(self.left.max(), self.right.max()))


class Lengths(NamedTuple):
    """The total length of the sentences before each point, in each text (Gale & Church 1993)."""

    left: NDArray[np.float64]
    right: NDArray[np.float64]
    variance: float = 6.8


class Path(NamedTuple):
    """The steps of an alignment, in order, and the confidence of each.

    A step is a row of (left index, right index, left count, right count).
    """

    steps: NDArray[np.int32]
    confidence: NDArray[np.float64]


def word_gains(
    rows: Bags,
    links: Table,
    places: Postings,
    words_before: NDArray[np.float64],
    windows: Windows,
    *,
    sizes: int,
    null_share: float,
    loose_before: NDArray[np.float64] | None = None,
) -> NDArray[np.float32]:
    """Compute the log-likelihood ratio of translation versus chance for the words of each row.

    A row is a sentence of one text; a place is a sentence of the other.  The model is IBM Model 1
    mixed with unigrams.  A word of a row occurs by chance with probability `null_share`; otherwise,
    it translates a word of the places.  `links` holds the lift of each pair of a row's word and a
    place's word: how many times more often than by chance the two words co-occur.

    Unknown words of the places are loose: their lift is 1 with any word.  `words_before` and
    `loose_before` are the numbers of all words and of loose words before each place.  The result
    has a layer for each number of adjacent places, from 1 to `sizes`, and a cell for each place of
    each window.
    """
    loose = np.zeros(len(words_before)) if loose_before is None else loose_before
    if len(links.offsets) != rows.size + 1 or not 0 < null_share < 1:
        raise ValueError("links must have one row per word, and null_share must be between 0 and 1")
    _check_places(rows, links, places, windows, min(len(words_before), len(loose)) - 1)
    start = windows.start
    out = np.zeros((sizes, int(start[-1])), np.float32)
    library = native()
    if library is None:
        reference.word_gains(rows, links, places, words_before, loose, windows, null_share, out)
        return out
    room = np.zeros(len(words_before), np.float32)
    products = np.empty((2 * sizes, int((windows.high - windows.low).max(initial=0))))
    library.beads_gains(
        ctypes.c_int64(len(rows)),
        *map(pointer, (rows.offsets, rows.word, rows.count, *links, *places, *windows, start)),
        ctypes.c_int64(out.shape[1]), pointer(words_before), pointer(loose),
        ctypes.c_int32(sizes),
        ctypes.c_double(null_share), pointer(room), pointer(products), pointer(out),
    )  # fmt: skip
    return out


def _check_places(rows: Bags, links: Table, places: Postings, windows: Windows, count: int) -> None:
    """Raise ValueError for any index that would be out of bounds in the kernel."""
    is_inside = (
        len(windows.low) == len(windows.high) == len(rows)
        and are_within(windows.low, count + 1)
        and are_within(windows.high, count + 1)
        and are_within(links.columns, len(places.offsets) - 1)
        and are_within(places.bag, count + 1)
    )
    if not is_inside:
        raise ValueError("there must be one window per bag, and all indices must be within range")


def bead_scores(
    band: Band,
    moves: Moves,
    lengths: Lengths,
    by_left: NDArray[np.float32],
    by_right: NDArray[np.float32],
    more: NDArray[np.float32] | None = None,
) -> NDArray[np.float32]:
    """The score of each kind of bead at each point: prior, length and word scores, plus `more`.

    `by_left` and `by_right` are the `word_gains` for `left_windows` and `right_windows`.
    """
    start, most = band.start, moves.most
    ours, theirs = band.left_windows(most), band.right_windows(most)
    shape = (int(start[-1]), len(moves.priors))
    scores = np.zeros(shape, np.float32) if more is None else np.array(more, np.float32)
    shapes = (most, int(ours.start[-1])), (most, int(theirs.start[-1]))
    if scores.shape != shape or (by_left.shape, by_right.shape) != shapes:
        raise ValueError("scores and gains must match the band")
    if len(lengths.left) != len(band.low) or len(lengths.right) != band.right + 1:
        raise ValueError("lengths must match the texts")
    library = native()
    if library is None:
        reference.bead_scores(band, moves, lengths, by_left, by_right, scores)
        return scores
    library.beads_scores(
        ctypes.c_int32(len(band.low) - 1), ctypes.c_int32(band.right),
        *map(pointer, (*band, start)), ctypes.c_int32(shape[1]),
        *map(pointer, (*moves, lengths.left, lengths.right)),
        ctypes.c_double(lengths.variance),
        ctypes.c_double(MAX_COST),
        *map(pointer, (by_right, *theirs, theirs.start)), ctypes.c_int64(by_right.shape[1]),
        *map(pointer, (by_left, *ours, ours.start)), ctypes.c_int64(by_left.shape[1]),
        pointer(scores),
    )  # fmt: skip
    return scores


def best_path(
    band: Band, moves: Moves, scores: NDArray[np.float32], *, by_posterior: bool = True
) -> Path:
    """Find the path with the highest sum of bead probabilities, weighted by sentence count.

    The confidence of a step is the posterior probability of its bead, summed over all paths.
    If `by_posterior` is False, the result is the path with the highest total score (Viterbi), and
    the confidence of a step is its score.
    """
    start = band.start
    count, rows = int(start[-1]), len(band.low) - 1
    if band.low.min() < 0 or (band.high < band.low).any():
        raise ValueError(
            "each row of a band must have at least one point, and no point may be negative"
        )
    if scores.shape != (count, len(moves.priors)):
        raise ValueError("scores must have one row per point of the band")
    library = native()
    if library is None:
        return Path(*reference.best_path(band, moves, scores, by_posterior))
    sums = [np.empty(count if by_posterior else 0) for _ in range(2)]
    best, chosen = np.empty(count), np.empty(count, np.int8)
    steps = np.empty((rows + band.right, 4), np.int32)
    confidence = np.empty(len(steps))
    work: list[NDArray[Any]] = [*sums, best, chosen, steps, confidence]
    library.beads_path.restype = ctypes.c_int64
    found = library.beads_path(
        ctypes.c_int32(rows), ctypes.c_int32(band.right), *map(pointer, (*band, start)),
        ctypes.c_int32(len(moves.priors)), pointer(moves.left), pointer(moves.right),
        pointer(scores), ctypes.c_int32(by_posterior), *map(pointer, work),
    )  # fmt: skip
    if found < 0:
        raise ValueError("no path leads through the band")
    return Path(steps[:found][::-1].copy(), confidence[:found][::-1].copy())
