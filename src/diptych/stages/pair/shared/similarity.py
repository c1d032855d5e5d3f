"""Content similarity of two pages, computed for many pairs at once.

The measures work for any languages.  They compare the words, numbers and file names that
translation leaves unchanged, the order of tags, the amount of text and, if there is a lexicon, the
translations of words.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from diptych.kernels.nearest import Rows, nearest, products
from diptych.kernels.tables import Table
from diptych.learn.lexicon.lexicon import Lexicon
from diptych.learn.lexicon.word_links import by_stem
from diptych.stages.pair.shared.memory import Measures, PairMemory
from diptych.stages.pair.shared.pages_by_language import LanguagePages
from diptych.types import Url

_MAX_TRANSLATIONS = 4  # maximum translations of a stem
_MIN_TRANSLATION = 0.05  # minimum probability of a translation
_Item = TypeVar("_Item")
_HALF_AMOUNT = 30.0  # shared weight at which the measure `amount` is 0.5


class Pairs(NamedTuple):
    """Pairs of pages, given as row indexes into the pages in two languages."""

    left: NDArray[np.int32]
    right: NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.left)


class CommonFeatures:
    """The features that the pages in two languages have in common; they need no lexicon."""

    def __init__(self, left: LanguagePages, right: LanguagePages) -> None:
        self.left, self.right = left, right
        self.measured = PairMemory()
        """measures of pairs that need no lexicon"""
        self.measured_by_url = PairMemory()
        """probabilities of pairs from the URL pair model"""
        self._nearest: dict[int, list[Pairs]] = {}

    @cached_property
    def rows(self) -> tuple[Rows, Rows]:
        """The rows of both languages, restricted to features that occur in both."""
        both = (self.left.spread > 0) & (self.right.spread > 0)
        return _with_features(self.left.weighted, both), _with_features(self.right.weighted, both)

    @cached_property
    def units(self) -> tuple[Rows, Rows]:
        """The rows, normalised to unit length."""
        return self.rows[0].unit(), self.rows[1].unit()

    def nearest(self, most: int) -> list[Pairs]:
        """Pair each page with up to `most` pages in the other language by common features."""
        if most not in self._nearest:
            self._nearest[most] = _nearest_both_ways(*self.units, most)
        return self._nearest[most]


class SideBySide:
    """The pages in two languages, with their common features and translations."""

    def __init__(
        self,
        left: LanguagePages,
        right: LanguagePages,
        lexicon: Lexicon,
        features: CommonFeatures | None = None,
    ) -> None:
        """`features` are the common features, if they are known from an earlier round."""
        self.left, self.right, self.lexicon = left, right, lexicon
        self.features = features or CommonFeatures(left, right)

    @property
    def common(self) -> tuple[Rows, Rows]:
        """The rows of both languages, restricted to features that occur in both."""
        return self.features.rows

    @property
    def units(self) -> tuple[Rows, Rows]:
        """The rows of `common`, normalised to unit length."""
        return self.features.units

    @cached_property
    def translated(self) -> tuple[tuple[Rows, Rows], tuple[Rows, Rows]] | None:
        """The feature vectors of pages after translation; None without a lexicon.

        The first pair is the left pages, translated, and the right pages; the second pair is the
        right pages, translated, and the left pages.  A word that is not in the lexicon, such as a
        name, number or file name, is its own translation.
        """
        if not len(self.lexicon.forward.columns):
            return None
        known = by_stem(self.lexicon)
        there = _translations(self.left, self.right, known.left_ids, known.right_ids, known.forward)
        back = _translations(self.right, self.left, known.right_ids, known.left_ids, known.backward)
        return there, back

    def candidates(self, most: int) -> Pairs:
        """Pair each page with up to `most` similar pages in the other language.

        Similarity is measured by common features and, if there is a lexicon, by translations.  The
        pairs are sorted, without duplicates.
        """
        found = [*self.features.nearest(most)]
        if self.translated:
            (ours, theirs), (others, own) = self.translated
            found += _nearest_both_ways(ours, theirs, most)
            found += _nearest_both_ways(own, others, most)
        return self.joined(*found)

    def joined(self, *parts: Pairs) -> Pairs:
        """Merge several sets of pairs into one, sorted and without duplicates."""
        keys = np.unique(np.concatenate([self.keys(pairs) for pairs in parts]))
        width = max(len(self.right), 1)
        return Pairs((keys // width).astype(np.int32), (keys % width).astype(np.int32))

    def keys(self, pairs: Pairs) -> NDArray[np.int64]:
        """A unique number for each pair."""
        return pairs.left.astype(np.int64) * max(len(self.right), 1) + pairs.right

    def urls(self, pairs: Pairs) -> list[tuple[Url, Url]]:
        """The URLs of each pair."""
        left, right = self.left.urls, self.right.urls
        places = zip(pairs.left.tolist(), pairs.right.tolist(), strict=True)
        return [(left[one], right[other]) for one, other in places]

    def pairs_of_urls(self, urls: Iterable[tuple[Url, Url]]) -> Pairs:
        """Convert pairs of URLs to pairs of row indexes; pairs with unknown URLs are skipped."""
        left, right = self.left.place, self.right.place
        known = [(left[one], right[other]) for one, other in urls if one in left and other in right]
        return Pairs(*np.array(known, np.int32).reshape(-1, 2).T)


def _nearest_both_ways(left: Rows, right: Rows, most: int) -> list[Pairs]:
    """Pair each row with up to `most` nearest rows of the other side, from either side."""
    found = []
    for one, other, turned in ((left, right, False), (right, left, True)):
        rows = nearest(one, other, most=most)[0]
        here, there = np.nonzero(rows >= 0)[0].astype(np.int32), rows[rows >= 0]
        found.append(Pairs(there, here) if turned else Pairs(here, there))
    return found


def _with_features(rows: Rows, kept: NDArray[np.bool_]) -> Rows:
    """Restrict rows to the kept features."""
    row = np.repeat(np.arange(len(rows)), np.diff(rows.offsets))
    there = kept[rows.features] & (rows.values > 0)
    offsets = np.searchsorted(row[there], np.arange(len(rows) + 1)).astype(np.int64)
    return Rows(offsets, rows.features[there], rows.values[there], rows.width)


def _translations(
    source: LanguagePages,
    target: LanguagePages,
    source_ids: Mapping[str, int],
    target_ids: Mapping[str, int],
    table: Table,
) -> tuple[Rows, Rows]:
    """The translated source pages and the target pages, as unit vectors over the same features.

    `table` contains the translations; `source_ids` and `target_ids` map words to its rows and
    columns.
    """
    rows, entries = source.features, _best_entries(table)
    row = np.repeat(np.arange(len(rows)), np.diff(rows.offsets))
    weight = np.log1p(rows.values)
    known = _ids_of(source.names, source_ids)[rows.features]
    # An unknown word is its own translation, if the other language has it.
    alone = (known < 0) & (target.spread[rows.features] > 0)
    is_known = known >= 0
    begin, sizes = _row_spans(entries, known[is_known])
    entry = np.repeat(begin - np.cumsum(sizes) + sizes, sizes) + np.arange(int(sizes.sum()))
    columns = np.full(max(len(target_ids), 1), -1, np.int64)
    places = _ids_of(target.names, target_ids)
    columns[places[places >= 0]] = np.flatnonzero(places >= 0)
    translation = columns[entries.columns[entry]]
    there = translation >= 0
    value = (np.repeat(weight[is_known], sizes) * entries.values[entry])[there]
    feature = np.concatenate((translation[there], rows.features[alone].astype(np.int64)))
    made = Rows.of(
        np.concatenate((np.repeat(row[is_known], sizes)[there], row[alone])),
        feature,
        np.concatenate((value, weight[alone])) * target.rarity[feature],
        rows=len(rows),
        width=rows.width,
    )
    reachable = np.bincount(made.features, minlength=made.width) > 0
    return made.unit(), _with_features(target.weighted, reachable).unit()


def _ids_of(names: Sequence[str], ids: Mapping[str, int]) -> NDArray[np.int64]:
    """The ID of each name, or -1 if the name is not in `ids`."""
    return np.array([ids.get(name, -1) for name in names], np.int64)


def _row_spans(
    table: Table, rows: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The offset and length of each of the given rows in a sparse table."""
    begin = table.offsets[rows]
    return begin, table.offsets[rows + 1] - begin


def _best_entries(table: Table) -> Table:
    """Restrict a table to the most probable translations in each row."""
    row = np.repeat(np.arange(len(table.offsets) - 1), np.diff(table.offsets))
    order = np.lexsort((table.columns, -table.values, row))
    rank = np.arange(len(order)) - table.offsets[row[order]]
    kept = order[(rank < _MAX_TRANSLATIONS) & (table.values[order] >= _MIN_TRANSLATION)]
    offsets = np.searchsorted(row[kept], np.arange(len(table.offsets))).astype(np.int64)
    return Table(offsets, table.columns[kept], table.values[kept])


def similarities(sides: SideBySide, pairs: Pairs) -> Measures:
    """Compute all similarity measures for each pair of pages."""

    def compute(is_new: NDArray[np.bool_]) -> Measures:
        return _without_words(sides, Pairs(pairs.left[is_new], pairs.right[is_new]))

    measures = sides.features.measured.measures(sides.keys(pairs), compute)
    return {**measures, "translated": _translated(sides, pairs)}


def _without_words(sides: SideBySide, pairs: Pairs) -> Measures:
    """Compute the similarity measures that need no lexicon."""
    ours, theirs = pairs
    raw = products(*sides.common, ours, theirs)
    shared = products(*sides.units, ours, theirs)
    sizes = sides.left.sizes[ours], sides.right.sizes[theirs]
    return {
        "shared": shared,
        "amount": raw / (raw + _HALF_AMOUNT),
        "tags": _tags(sides, pairs),
        # A template may be recognised on one side only, so the smaller difference counts.
        "sizes": np.abs(np.log((sizes[0] + 50) / (sizes[1] + 50))).min(1).astype(np.float32),
        "text": np.log1p(np.minimum(*sizes)[:, 0]).astype(np.float32),
        "copied": _overlaps(sides.left.blocks, sides.right.blocks, pairs, 0.0),
        "title": _overlaps(sides.left.titles, sides.right.titles, pairs, 0.5),
    }


def _translated(sides: SideBySide, pairs: Pairs) -> NDArray[np.float32]:
    """The cosine similarity of the pages after translation, averaged over both directions."""
    if sides.translated is None:
        return np.zeros(len(pairs), np.float32)
    there, back = sides.translated
    sums = products(*there, *pairs) + products(*back, pairs.right, pairs.left)
    return (sums / 2).astype(np.float32)


def _tags(sides: SideBySide, pairs: Pairs) -> NDArray[np.float32]:
    """The similarity of tag sequences: 1 minus the edit distance divided by the greater length."""
    from rapidfuzz.distance import Levenshtein
    from rapidfuzz.process import cpdist

    if not len(pairs):
        return np.zeros(0, np.float32)
    return cpdist(
        [sides.left.tags[place] for place in pairs.left.tolist()],
        [sides.right.tags[place] for place in pairs.right.tolist()],
        scorer=Levenshtein.normalized_similarity, dtype=np.float32,
    )  # fmt: skip


def _overlaps(
    lefts: Sequence[frozenset[_Item]],
    rights: Sequence[frozenset[_Item]],
    pairs: Pairs,
    unknown: float,
) -> NDArray[np.float32]:
    """The overlap coefficient of the two sets of each pair; `unknown` if either set is empty."""
    found = [unknown] * len(pairs)
    places = zip(pairs.left.tolist(), pairs.right.tolist(), strict=True)
    for place, (one, other) in enumerate(places):
        left, right = lefts[one], rights[other]
        if left and right:
            found[place] = len(left & right) / min(len(left), len(right))
    return np.array(found, np.float32)
