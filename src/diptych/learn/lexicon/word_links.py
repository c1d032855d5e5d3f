"""Word links between two vocabularies, from spelling, a lexicon and the texts themselves.

Words are represented by stems (`text.cognates.stem`).  There are fewer stems than words, and each
occurs more often, so a short text is enough to learn links.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from diptych.kernels import native
from diptych.kernels.ibm1 import Bags, train
from diptych.kernels.tables import Table, table_of
from diptych.kernels.word_links import Looks, Spelling, Words, find_links
from diptych.learn.lexicon.lexicon import Lexicon
from diptych.text.cognates import MAX_COMPARED, MIN_SHARED, MIN_SIMILARITY, cognates, folded, stem

_SAME = 0.5  # probability of a word given the same word in the other text
_ALIKE = 0.3  # probability of a word with similar spelling, before its similarity is applied
MIN_LIFT = 5.0  # minimum lift over chance; weaker links are ubiquitous and uninformative
RARE, BASE = 0.1, 500.0  # an unseen word is expected RARE times in BASE words of any text
_UNCOUNTED = 2.0  # assumed count of a dictionary word
_DOUBT = 3.0  # count of a word at which it is trusted by half
FREQUENT = 4  # count above which a word of both texts is less likely to be a name
NAME, NUMBER = 0.8, 0.96  # probability that a word is copied if its counts in both texts agree
# Expected counts below one mostly come from accidental co-occurrence.
_DISCOUNT = 0.8
LOOKS = Looks(_SAME, _ALIKE, MIN_SIMILARITY, MIN_SHARED, MAX_COMPARED)


@dataclass(frozen=True, slots=True, eq=False)
class WordLinks:
    """Pairs of words, as indices in two vocabularies, with probabilities in both directions."""

    left: NDArray[np.int32]
    right: NDArray[np.int32]
    forward: NDArray[np.float32]
    """p(right | left)"""
    backward: NDArray[np.float32]
    """p(left | right)"""

    def __len__(self) -> int:
        return len(self.left)

    def between(self, left: NDArray[np.int32], right: NDArray[np.int32]) -> WordLinks:
        """The links between the given words of both vocabularies."""
        kept = np.isin(self.left, left) & np.isin(self.right, right)
        return WordLinks(self.left[kept], self.right[kept], self.forward[kept], self.backward[kept])


def _links(left: ArrayLike, right: ArrayLike, forward: ArrayLike, backward: ArrayLike) -> WordLinks:
    return WordLinks(
        np.asarray(left, np.int32),
        np.asarray(right, np.int32),
        np.asarray(forward, np.float32),
        np.asarray(backward, np.float32),
    )


def cognate_links(left: Sequence[str], right: Sequence[str]) -> WordLinks:
    """Links between words of two vocabularies with similar spelling."""
    found = list(cognates(left, right))
    values = [_SAME if pair.similarity == 1 else _ALIKE * pair.similarity for pair in found]
    return _links([p.left for p in found], [p.right for p in found], values, values)


class _ByStem(NamedTuple):
    """A lexicon of stems; the probability of a stem pair is the maximum over its word pairs."""

    left_ids: dict[str, int]
    right_ids: dict[str, int]
    forward: Table
    backward: Table
    left_counts: NDArray[np.float64]
    """total count of the words with each stem"""
    right_counts: NDArray[np.float64]


@lru_cache(maxsize=8)
def by_stem(lexicon: Lexicon) -> _ByStem:
    """Convert a lexicon of words to a lexicon of stems."""
    left_ids, left_of = _stems(lexicon.left_words)
    right_ids, right_of = _stems(lexicon.right_words)
    return _ByStem(
        left_ids,
        right_ids,
        _pooled(lexicon.forward, left_of, right_of, len(left_ids)),
        _pooled(lexicon.backward, right_of, left_of, len(right_ids)),
        _sums(left_of, lexicon.counts("left", _UNCOUNTED), len(left_ids)),
        _sums(right_of, lexicon.counts("right", _UNCOUNTED), len(right_ids)),
    )


def _sums(places: NDArray[np.int64], counts: NDArray[np.float32], size: int) -> NDArray[np.float64]:
    return np.bincount(places, counts, size).astype(np.float64)


def _stems(words: Sequence[str]) -> tuple[dict[str, int], NDArray[np.int64]]:
    ids: dict[str, int] = {}
    places = [ids.setdefault(stem(word), len(ids)) for word in words]
    return ids, np.array(places, np.int64)


def _pooled(
    table: Table, row_of: NDArray[np.int64], column_of: NDArray[np.int64], rows: int
) -> Table:
    """Convert a table of words to one of stems, keeping the highest value for each stem pair.

    `row_of` and `column_of` map the words of rows and columns to stems; `rows` is the number of
    rows in the result.
    """
    width = int(column_of.max(initial=-1)) + 1
    lines = np.repeat(row_of, np.diff(table.offsets))
    keys = lines * max(width, 1) + column_of[table.columns]
    order = np.lexsort((-table.values, keys))
    keys, values = keys[order], table.values[order]
    first = np.concatenate((keys[:1] >= 0, np.diff(keys) > 0))
    keys, values = keys[first], values[first]
    offsets = np.searchsorted(keys, np.arange(rows + 1) * max(width, 1)).astype(np.int64)
    return Table(offsets, (keys % max(width, 1)).astype(np.int32), values)


def vocabulary_links(left: Sequence[str], right: Sequence[str], lexicon: Lexicon) -> WordLinks:
    """Links between the stems of two vocabularies, from a lexicon or from similar spelling.

    Equivalent to `merged(lexicon_links(...), cognate_links(...))`.
    """
    if native() is None:
        return merged(cognate_links(left, right), *_known_links(left, right, lexicon))
    left_ids, right_ids, forward, backward, _, _ = by_stem(lexicon)
    found = find_links(
        Words(_places(left, left_ids), forward, Spelling.of([*map(folded, left)])),
        Words(_places(right, right_ids), backward, Spelling.of([*map(folded, right)])),
        LOOKS,
    )
    return WordLinks(*found)


def lexicon_links(left: Sequence[str], right: Sequence[str], lexicon: Lexicon) -> WordLinks:
    """Links between the stems of two vocabularies, looked up in a lexicon."""
    return merged(*_known_links(left, right, lexicon))


def _known_links(
    left: Sequence[str], right: Sequence[str], lexicon: Lexicon
) -> tuple[WordLinks, WordLinks]:
    """The links between two vocabularies from the forward and the backward table of a lexicon."""
    if not len(lexicon.forward.columns) and not len(lexicon.backward.columns):
        return _links([], [], [], []), _links([], [], [], [])
    left_ids, right_ids, forward, backward, _, _ = by_stem(lexicon)
    ours, theirs = _places(left, left_ids), _places(right, right_ids)
    ahead = _looked_up(forward, ours, theirs, len(right_ids))
    back = _looked_up(backward, theirs, ours, len(left_ids))
    return _both_ways(ahead, back)


def _both_ways(
    ahead: tuple[NDArray[Any], NDArray[Any], NDArray[Any]],
    back: tuple[NDArray[Any], NDArray[Any], NDArray[Any]],
) -> tuple[WordLinks, WordLinks]:
    """Convert forward and backward entries of a lexicon to one set of links each.

    Forward entries are (left, right, value); backward entries are (right, left, value).
    """
    none, other = np.zeros(len(ahead[0])), np.zeros(len(back[0]))
    return _links(*ahead, none), _links(back[1], back[0], other, back[2])


def _places(words: Sequence[str], ids: Mapping[str, int]) -> NDArray[np.int64]:
    return np.array([ids.get(word, -1) for word in words], np.int64)


def _looked_up(
    table: Table, rows: NDArray[np.int64], columns: NDArray[np.int64], width: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float32]]:
    """Look up the entries of a table that are in the given rows and columns.

    For each entry, return its position in `rows`, its position in `columns`, and its value.  The
    number -1 in `rows` or `columns` stands for a word that is not in the table.  `width` is the
    number of columns in the table.
    """
    asked = np.flatnonzero(rows >= 0)
    begin, end = table.offsets[rows[asked]], table.offsets[rows[asked] + 1]
    sizes = end - begin
    within = np.arange(int(sizes.sum())) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    entries = np.repeat(begin, sizes) + within
    place = np.full(width, -1, np.int64)
    known = np.flatnonzero(columns >= 0)
    place[columns[known]] = known
    found = place[table.columns[entries]]
    there = found >= 0
    return np.repeat(asked, sizes)[there], found[there], table.values[entries][there]


def trust(
    left: tuple[Sequence[str], Bags], right: tuple[Sequence[str], Bags], lexicon: Lexicon
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """For each word of two texts, the probability that its translation would be recognised as such.

    The probability increases with the word's count in the lexicon.  It is also high for a word that
    is about equally frequent in both texts, because such a word is probably a name or a number.
    Each text is given as its vocabulary and its bags of words.
    """
    known = by_stem(lexicon)
    found = (
        seen(_places(left[0], known.left_ids), known.forward, known.left_counts),
        seen(_places(right[0], known.right_ids), known.backward, known.right_counts),
    )
    at = {word: place for place, word in enumerate(right[0])}
    both = [(place, at[word]) for place, word in enumerate(left[0]) if word in at]
    if both:
        ours, theirs = np.array(both).T
        shared = _shared(left, right, ours, theirs)
        found[0][ours] = np.maximum(found[0][ours], shared)
        found[1][theirs] = np.maximum(found[1][theirs], shared)
    return found


def seen(rows: NDArray[np.int64], table: Table, counts: NDArray[np.float64]) -> NDArray[np.float64]:
    """Compute `trust` for each word from its count in the lexicon; 0 if it has no translation.

    `rows` are the rows of the words in `table` and `counts`, or -1.
    """
    is_known = rows >= 0
    is_known[is_known] = np.diff(table.offsets)[rows[is_known]] > 0
    found = np.zeros(len(rows))
    times = counts[rows[is_known]]
    found[is_known] = times / (times + _DOUBT)
    return found


def _shared(
    left: tuple[Sequence[str], Bags],
    right: tuple[Sequence[str], Bags],
    ours: NDArray[np.int64],
    theirs: NDArray[np.int64],
) -> NDArray[np.float64]:
    """The probability that each word shared by two texts is a name or number copied into both.

    `ours` and `theirs` are the indices of the shared words in the two vocabularies.
    """
    counts = [
        np.bincount(bags.word, bags.count, bags.size)[places]
        for (_, bags), places in ((left, ours), (right, theirs))
    ]
    most, least = np.maximum(*counts), np.minimum(*counts)
    is_number = np.array([left[0][place][:1].isdigit() for place in ours])
    often = np.where(is_number, 1.0, np.minimum(1.0, FREQUENT / most))
    copied: NDArray[np.float64] = np.where(is_number, NUMBER, NAME) * least / most * often
    return copied


def learned_links(left: Bags, right: Bags) -> WordLinks:
    """Links learned by IBM Model 1 from the reliable beads of two texts, given as bags of words."""
    there, again = train(left, right), train(right, left)
    ahead = _discounted(there.table, there.totals[:-1])  # without the row of the empty word
    back = _discounted(again.table, again.totals[:-1])
    return merged(*_both_ways(ahead, back))


def discounted(lexicon: Lexicon) -> Lexicon:
    """Apply absolute discounting to a learned lexicon, to remove accidental links."""
    forward = _discounted(lexicon.forward, lexicon.left_counts)
    backward = _discounted(lexicon.backward, lexicon.right_counts)
    return replace(
        lexicon,
        forward=table_of(*forward, len(lexicon.left_words)),
        backward=table_of(*backward, len(lexicon.right_words)),
    )


def _discounted(
    table: Table, totals: NDArray[np.floating[Any]]
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float64]]:
    """Apply absolute discounting to a table of probabilities, given the total count of each row.

    Return the row, column and probability of each remaining entry.
    """
    rows = np.repeat(np.arange(len(totals)), np.diff(table.offsets[: len(totals) + 1]))
    columns, values = table.columns[: len(rows)], table.values[: len(rows)]
    counts = values * totals[rows] - _DISCOUNT
    kept = counts > 0
    return rows[kept], columns[kept], counts[kept] / (totals[rows[kept]] + 1)


def merged(*some: WordLinks) -> WordLinks:
    """Merge several sets of word links, keeping the highest probabilities of each word pair."""
    left = np.concatenate([links.left for links in some]).astype(np.int64)
    right = np.concatenate([links.right for links in some])
    keys = left << 32 | right
    order = np.argsort(keys, kind="stable")
    keys = keys[order]
    first = np.flatnonzero(np.diff(keys, prepend=-1))
    if not len(first):
        return some[0]
    forward = np.concatenate([links.forward for links in some])[order]
    backward = np.concatenate([links.backward for links in some])[order]
    return _links(
        keys[first] >> 32,
        keys[first] & 0xFFFFFFFF,
        np.maximum.reduceat(forward, first),
        np.maximum.reduceat(backward, first),
    )


def lifts(links: WordLinks, left: Bags, right: Bags) -> tuple[Table, Table]:
    """The lift of each link: how many times more often its words co-occur than expected by chance.

    The result is a table for the left words and a table for the right words.  Links with a lift
    below `MIN_LIFT` are omitted.
    """
    of_left = links.backward / _frequencies(left)[links.left]
    of_right = links.forward / _frequencies(right)[links.right]
    strong, other = of_left >= MIN_LIFT, of_right >= MIN_LIFT
    return (
        table_of(links.left[strong], links.right[strong], of_left[strong], left.size),
        table_of(links.right[other], links.left[other], of_right[other], right.size),
    )


def _frequencies(text: Bags) -> NDArray[np.float64]:
    """The smoothed relative frequency of each word."""
    counts = np.bincount(text.word, text.count, text.size)
    shares: NDArray[np.float64] = (counts + RARE) / (counts.sum() + BASE)
    return shares
