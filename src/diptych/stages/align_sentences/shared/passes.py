"""Coarse-to-fine alignment of texts in several passes; each pass learns words for the next."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from diptych.kernels import native
from diptych.kernels.beads import (
    Band,
    Lengths,
    Moves,
    Path,
    bead_scores,
    best_path,
    word_gains,
)
from diptych.kernels.pieces import LinkRows, Setting, Side, Ways, best_ways
from diptych.kernels.tables import Table
from diptych.learn.lexicon.bags import Text, likely_share
from diptych.learn.lexicon.word_links import (
    BASE,
    MIN_LIFT,
    RARE,
    WordLinks,
    learned_links,
    lifts,
    merged,
)

MAX_CELLS = 40_000  # up to this many points, all paths are searched: 200 sentences on each side
_MARGIN = 24  # sentences on both sides of a known path that are searched
_MIN_SURE = 0.5  # minimum confidence of a bead to learn words from it
_MAX_WORDS = 200  # maximum words of a bead to learn words from it: longer ones are lists
# Initial share of words without a counterpart: with word links, and without any.
_CHANCE_SHARE, _CHANCE_SHARE_ALONE = 0.95, 0.999
_MIN_SURE_SHARE = 0.85  # minimum share of sentences in sure beads; below it the search starts again
_PRIOR_LETTERS = 2_000.0  # weight, in letters on both sides, of a prior length ratio of 1
_MAX_RATIO = 1.6

Scorer = Callable[[Band, Moves], NDArray[np.float32]]
"""additional evidence: a score for each move from each point of a band"""


@dataclass(frozen=True, slots=True)
class Model:
    """The parameters for scoring beads."""

    moves: Moves
    links: WordLinks
    left_share: float
    """share of the left words without a counterpart on the right"""
    right_share: float
    ratio: float
    """letters on the right per letter on the left"""


def align_passes(
    left: Text, right: Text, moves: Moves, links: WordLinks, passes: int
) -> tuple[Path, Model]:
    """Find the best path through two texts in several passes, and return it with the last model.

    The first pass uses only the word pairs in `links`.  Each later pass also uses word pairs
    learned from the previous path.  `moves` are the allowed kinds of beads.
    """
    ratio = _ratio(left.lengths.sum(), right.lengths.sum())
    share = _CHANCE_SHARE if len(links) else _CHANCE_SHARE_ALONE
    model = Model(moves, links, share, share, ratio)
    path = _coarse_to_fine(left, right, model)
    for _ in range(passes - 1):
        model = _with_learned_words(left, right, path, model, links)
        is_unsure = _sure_share(path) < _MIN_SURE_SHARE
        path = (
            _coarse_to_fine(left, right, model)
            if is_unsure
            else align_near(left, right, path, model)
        )
    return path, model


def align_pieces(
    left: Text,
    right: Text,
    starts: tuple[NDArray[np.int64], NDArray[np.int64]],
    moves: Moves,
    links: WordLinks,
) -> Ways:
    """Find the best path through each of many pieces separately, in a single pass.

    `starts` contains, for each text, the index of the first sentence of each piece, followed by the
    total number of sentences.  Pieces have few sentences, so all paths are searched.  `links` must
    be sorted by left word, as returned by `merged`.
    """
    if native() is None:
        return _one_by_one(left, right, starts, moves, links)
    rows = np.searchsorted(links.left, np.arange(left.bags.size + 1)).astype(np.int64)
    return best_ways(
        Side(left.bags, left.lengths, starts[0]),
        Side(right.bags, right.lengths, starts[1]),
        LinkRows(rows, links.right, links.forward, links.backward),
        moves,
        Setting(
            _CHANCE_SHARE, _CHANCE_SHARE_ALONE, MIN_LIFT, RARE, BASE, _PRIOR_LETTERS, _MAX_RATIO
        ),
    )


def _one_by_one(
    left: Text,
    right: Text,
    starts: tuple[NDArray[np.int64], NDArray[np.int64]],
    moves: Moves,
    links: WordLinks,
) -> Ways:
    """Reference implementation of `best_ways` that calls `align_passes` for each piece."""
    found: list[Path] = []
    for (a, b), (c, d) in zip(*(pairwise(each.tolist()) for each in starts), strict=True):
        ours, theirs = left.chosen(np.arange(a, b)), right.chosen(np.arange(c, d))
        own = links.between(ours.bags.word, theirs.bags.word)
        found.append(align_passes(ours, theirs, moves, own, 1)[0])
    return Ways(
        np.concatenate([np.zeros((0, 4), np.int32), *(path.steps for path in found)]),
        np.concatenate([np.zeros(0), *(path.confidence for path in found)]),
        np.array([len(path.steps) for path in found], np.int64),
    )


def align_near(
    left: Text, right: Text, path: Path, model: Model, scorer: Scorer | None = None
) -> Path:
    """Find the best path near a known one, or among all paths if the texts are short.

    `scorer` computes additional scores for beads.
    """
    full = (len(left) + 1) * (len(right) + 1) <= MAX_CELLS
    band = Band.full(len(left), len(right)) if full else _around(path, len(left), len(right))
    return _decode(left, right, band, model, lifts(model.links, left.bags, right.bags), scorer)


def _sure_share(path: Path) -> float:
    """The share of sentences in sure beads; if it is low, the path may be wrong."""
    counts = path.steps[:, 2:].sum(1)
    return float(counts[sure_steps(path)].sum()) / max(1, int(counts.sum()))


def _coarse_to_fine(left: Text, right: Text, model: Model) -> Path:
    """Find the best path; in long texts, align groups of sentences first."""
    levels = [(left, right)]
    while (len(levels[-1][0]) + 1) * (len(levels[-1][1]) + 1) > MAX_CELLS:
        levels.append((levels[-1][0].coarser(), levels[-1][1].coarser()))
    tables = lifts(model.links, left.bags, right.bags)
    band = Band.full(*map(len, levels[-1]))
    for coarse, fine in zip(levels[:0:-1], levels[-2::-1], strict=True):
        path = _decode(*coarse, band, model, tables, None)
        band = _around(path, *map(len, fine), scale=2)
    return _decode(left, right, band, model, tables, None)


def _with_learned_words(
    left: Text, right: Text, path: Path, model: Model, links: WordLinks
) -> Model:
    """Return the model updated with words learned from the sure beads of a path."""
    ours, theirs = _sure_beads(left, right, path)
    links = merged(links, learned_links(ours.bags, theirs.bags))
    left_links, right_links = lifts(links, left.bags, right.bags)
    return replace(
        model,
        links=links,
        left_share=likely_share(ours, theirs, left_links, model.left_share),
        right_share=likely_share(theirs, ours, right_links, model.right_share),
        ratio=_ratio(ours.lengths.sum(), theirs.lengths.sum()),
    )


def _decode(
    left: Text,
    right: Text,
    band: Band,
    model: Model,
    links: tuple[Table, Table],
    scorer: Scorer | None,
) -> Path:
    moves, most = model.moves, model.moves.most
    by_left = word_gains(
        left.bags, links[0], right.postings, right.words_before, band.left_windows(most),
        sizes=most, null_share=model.left_share,
    )  # fmt: skip
    by_right = word_gains(
        right.bags, links[1], left.postings, left.words_before, band.right_windows(most),
        sizes=most, null_share=model.right_share,
    )  # fmt: skip
    # The ratio is split between both sides, so that exchanging left and right changes nothing.
    part = model.ratio**0.5
    lengths = Lengths(left.lengths_before * part, right.lengths_before / part)
    more = scorer(band, moves) if scorer else None
    return best_path(band, moves, bead_scores(band, moves, lengths, by_left, by_right, more))


def _around(path: Path, left: int, right: int, *, scale: int = 1) -> Band:
    ends = np.array([[left, right]])
    points = np.minimum(path.steps[:, :2].astype(np.int64) * scale, ends)
    return Band.around(np.concatenate((points, ends)), left, right, _MARGIN)


def sure_steps(path: Path) -> NDArray[np.bool_]:
    """A mask of the steps of a path that are sure and have sentences in both texts."""
    sure: NDArray[np.bool_] = (path.confidence > _MIN_SURE) & (path.steps[:, 2:] > 0).all(1)
    return sure


def _sure_beads(left: Text, right: Text, path: Path) -> tuple[Text, Text]:
    """Reduce both texts to their sure beads, with the sentences of each bead joined into one row.

    Beads with too many words are skipped.
    """
    steps = path.steps.astype(np.int64)
    begin, count = steps[:, :2], steps[:, 2:]
    words = np.stack(
        [
            text.words_before[begin[:, side] + count[:, side]] - text.words_before[begin[:, side]]
            for side, text in enumerate((left, right))
        ]
    )
    sure = sure_steps(path) & (words < _MAX_WORDS).all(0)
    group = np.where(sure, np.cumsum(sure) - 1, -1)
    return (
        left.grouped(np.repeat(group, count[:, 0])),
        right.grouped(np.repeat(group, count[:, 1])),
    )


def _ratio(left: float, right: float) -> float:
    """The length ratio of the right text to the left text, smoothed towards 1 for short texts."""
    ratio = (right + _PRIOR_LETTERS) / (left + _PRIOR_LETTERS)
    return float(min(_MAX_RATIO, max(1 / _MAX_RATIO, ratio)))
