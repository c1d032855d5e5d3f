"""How much alike two pages are in content, measured for many pairs at once.

Nothing here knows a language: words, numbers and names of files that a translation leaves as they
are, the order of tags, the amount of text; and what a lexicon says, once there is one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from diptych.kernels.nearest import Rows, nearest, products
from diptych.kernels.tables import Table
from diptych.learn.lexicon.lexicon import Lexicon
from diptych.learn.lexicon.word_links import by_stem
from diptych.stages.pair.shared.pages_by_language import Shelf

__all__ = ["Measures", "Pairs", "Panel", "likeness"]

_TRANSLATIONS = 4  # of a stem that count
_LIKELY = 0.05  # probability of one that counts
_AMOUNT = 30.0  # of shared evidence that is half of what there can be


class Pairs(NamedTuple):
    """Pairs of pages by their places on two shelves."""

    left: NDArray[np.int32]
    right: NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.left)


class Panel:
    """Two shelves side by side: in what they have in common, and in translation."""

    def __init__(self, left: Shelf, right: Shelf, lexicon: Lexicon) -> None:
        self.left, self.right, self.lexicon = left, right, lexicon

    @cached_property
    def common(self) -> tuple[Rows, Rows]:
        """The features that are on both shelves."""
        both = (self.left.spread > 0) & (self.right.spread > 0)
        return _only(self.left.weighted, both), _only(self.right.weighted, both)

    @cached_property
    def units(self) -> tuple[Rows, Rows]:
        """The same, each page of length one."""
        return self.common[0].unit(), self.common[1].unit()

    @cached_property
    def translated(self) -> tuple[tuple[Rows, Rows], tuple[Rows, Rows]] | None:
        """Left pages as right words beside right ones, and the other way; None without a lexicon.

        What a lexicon does not know stands for itself: names, numbers, files.
        """
        if not len(self.lexicon.forward.columns):
            return None
        known = by_stem(self.lexicon)
        there = _translations(self.left, self.right, known.left_ids, known.right_ids, known.forward)
        back = _translations(self.right, self.left, known.right_ids, known.left_ids, known.backward)
        return there, back

    def candidates(self, most: int) -> Pairs:
        """For each page of either shelf the pages most like it, once each, in order."""
        spaces = [self.units]
        if self.translated:
            (ours, theirs), (others, own) = self.translated
            spaces += [(ours, theirs), (own, others)]
        width = max(len(self.right), 1)
        keys = [np.zeros(0, np.int64)]
        for left, right in spaces:
            for one, other, turned in ((left, right, False), (right, left, True)):
                rows = nearest(one, other, most=most)[0]
                here, there = np.nonzero(rows >= 0)[0], rows[rows >= 0]
                keys.append(
                    there.astype(np.int64) * width + here if turned else here * width + there
                )
        found = np.unique(np.concatenate(keys))
        return Pairs((found // width).astype(np.int32), (found % width).astype(np.int32))


def _only(rows: Rows, kept: NDArray[np.bool_]) -> Rows:
    """The rows with some of their features."""
    row = np.repeat(np.arange(len(rows)), np.diff(rows.offsets))
    there = kept[rows.features] & (rows.values > 0)
    offsets = np.searchsorted(row[there], np.arange(len(rows) + 1)).astype(np.int64)
    return Rows(offsets, rows.features[there], rows.values[there], rows.width)


def _translations(
    source: Shelf,
    target: Shelf,
    source_ids: Mapping[str, int],
    target_ids: Mapping[str, int],
    table: Table,
) -> tuple[Rows, Rows]:
    """The pages of a shelf in the words of another, and those of the other, of length one each."""
    rows, entries = source.features, _best_entries(table)
    row = np.repeat(np.arange(len(rows)), np.diff(rows.offsets))
    weight = np.log1p(rows.values)
    known = _places(source.names, source_ids)[rows.features]
    # A word that is not known stands for itself, if it is on the other shelf at all.
    alone = (known < 0) & (target.spread[rows.features] > 0)
    is_known = known >= 0
    begin, sizes = _spans(entries, known[is_known])
    spots = np.repeat(begin - np.cumsum(sizes) + sizes, sizes) + np.arange(int(sizes.sum()))
    columns = np.full(max(len(target_ids), 1), -1, np.int64)
    places = _places(target.names, target_ids)
    columns[places[places >= 0]] = np.flatnonzero(places >= 0)
    meant = columns[entries.columns[spots]]
    there = meant >= 0
    value = (np.repeat(weight[is_known], sizes) * entries.values[spots])[there]
    feature = np.concatenate((meant[there], rows.features[alone].astype(np.int64)))
    made = Rows.of(
        np.concatenate((np.repeat(row[is_known], sizes)[there], row[alone])),
        feature,
        np.concatenate((value, weight[alone])) * target.rarity[feature],
        rows=len(rows),
        width=rows.width,
    )
    reachable = np.bincount(made.features, minlength=made.width) > 0
    return made.unit(), _only(target.weighted, reachable).unit()


def _places(names: Sequence[str], ids: Mapping[str, int]) -> NDArray[np.int64]:
    """The number of each name, or -1."""
    return np.array([ids.get(name, -1) for name in names], np.int64)


def _spans(table: Table, rows: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Where each of some rows begins, and how long it is."""
    begin = table.offsets[rows]
    return begin, table.offsets[rows + 1] - begin


def _best_entries(table: Table) -> Table:
    """The likeliest few entries of each row."""
    row = np.repeat(np.arange(len(table.offsets) - 1), np.diff(table.offsets))
    order = np.lexsort((table.columns, -table.values, row))
    rank = np.arange(len(order)) - table.offsets[row[order]]
    kept = order[(rank < _TRANSLATIONS) & (table.values[order] >= _LIKELY)]
    offsets = np.searchsorted(row[kept], np.arange(len(table.offsets))).astype(np.int64)
    return Table(offsets, table.columns[kept], table.values[kept])


Measures = dict[str, NDArray[np.float32]]
"""name -> what was measured on each of some pairs"""


def likeness(panel: Panel, pairs: Pairs) -> Measures:
    """All measures of some pairs, by name."""
    ours, theirs = pairs
    raw = products(*panel.common, ours, theirs)
    shared = products(*panel.units, ours, theirs)
    sizes = panel.left.sizes[ours], panel.right.sizes[theirs]
    return {
        "shared": shared,
        "amount": raw / (raw + _AMOUNT),
        "translated": _translated(panel, pairs),
        "tags": _tags(panel, pairs),
        # What is template on one side may not be on the other: the lesser of both differences.
        "sizes": np.abs(np.log((sizes[0] + 50) / (sizes[1] + 50))).min(1).astype(np.float32),
        "text": np.log1p(np.minimum(*sizes)[:, 0]).astype(np.float32),
        "copied": _copied(panel, pairs),
        "title": _titles(panel, pairs),
    }


def _translated(panel: Panel, pairs: Pairs) -> NDArray[np.float32]:
    """How alike pages are in translation, the mean of both ways."""
    if panel.translated is None:
        return np.zeros(len(pairs), np.float32)
    there, back = panel.translated
    sums = products(*there, *pairs) + products(*back, pairs.right, pairs.left)
    return (sums / 2).astype(np.float32)


def _tags(panel: Panel, pairs: Pairs) -> NDArray[np.float32]:
    """How alike the tags are: 1 less the edit distance over the length of the longer sequence."""
    from rapidfuzz.distance import Levenshtein
    from rapidfuzz.process import cpdist

    if not len(pairs):
        return np.zeros(0, np.float32)
    return cpdist(
        [panel.left.tags[place] for place in pairs.left],
        [panel.right.tags[place] for place in pairs.right],
        scorer=Levenshtein.normalized_similarity, dtype=np.float32,
    )  # fmt: skip


def _copied(panel: Panel, pairs: Pairs) -> NDArray[np.float32]:
    """The share of the blocks of the smaller page that are on both, as they are."""
    found = np.zeros(len(pairs), np.float32)
    for place, (one, other) in enumerate(zip(*pairs, strict=True)):
        left, right = panel.left.blocks[one], panel.right.blocks[other]
        if left and right:
            found[place] = len(left & right) / min(len(left), len(right))
    return found


def _titles(panel: Panel, pairs: Pairs) -> NDArray[np.float32]:
    """The share of the words of the shorter title that are in both; half where there is none."""
    found = np.full(len(pairs), 0.5, np.float32)
    for place, (one, other) in enumerate(zip(*pairs, strict=True)):
        left, right = panel.left.titles[one], panel.right.titles[other]
        if left and right:
            found[place] = len(left & right) / min(len(left), len(right))
    return found
