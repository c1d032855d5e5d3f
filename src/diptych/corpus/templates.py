"""Finds the templates of a run, and their surplus examples.

Segments are not compared with each other: those of a template have a key in common.  Only a few
numbers per segment are held in memory, and no texts.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

import numpy as np

from diptych.corpus.best_copies import counts
from diptych.text.templates import HALVES, half_keys, masked_words, name_key, word_keys

if TYPE_CHECKING:
    from numpy.typing import NDArray

# On judged segments of real sites, these bounds left out 93 useless segments and five good ones
# where names, numbers or addresses vary.  Where one word varies, they leave out 14 more segments of
# 38,402, all of them titles of archives and labels of units; one of them was judged, as good.
_MIN_EXAMPLES = 6  # segments that differ only in this way: a template
_EXAMPLES = 3  # examples kept of each template
_AT_ONCE = 200_000  # segments whose keys are in memory: 36 keys each at most, usually about four

Texts = Callable[["NDArray[np.bool_]"], Iterable[tuple[int, int, str, str]]]
"""returns the index, site and both texts of each segment whose index is marked, in their order"""


def surplus_examples(
    texts: Texts, is_first: NDArray[np.bool_], scores: NDArray[np.float64]
) -> NDArray[np.int64]:
    """The indices of segments of templates with many examples, without the best of each template.

    A segment can be an example of several templates; it stays if it is among the best of one.
    Segments that are not marked in `is_first` are ignored: they are near-duplicates.
    """
    rows, keys = array("q"), array("q")
    short, halves = array("q"), array("q")
    for row, site, left, right in texts(is_first):
        words = masked_words(left, right)
        if words is None:
            continue
        if key := name_key(words):
            rows.append(row)
            keys.append(hash((site, key)))
        if found := half_keys(words):
            short.append(row)
            halves.extend(found)
    examples = [_examples(np.asarray(rows), np.asarray(keys), scores)]
    columns = np.asarray(halves).reshape(-1, len(HALVES)).T
    for which, column in zip(HALVES, columns, strict=True):
        for part in _parts(np.asarray(short), column):
            examples.append(_differing_in_a_word(texts, part, which, scores))
    best, surplus = (np.unique(np.concatenate(part)) for part in zip(*examples, strict=True))
    return surplus[~np.isin(surplus, best)]


def _parts(rows: NDArray[np.int64], halves: NDArray[np.int64]) -> Iterator[NDArray[np.int64]]:
    """Yield the segments with a half that enough segments share, a limited number at a time.

    Segments that share it are yielded together.
    """
    is_often = counts(halves) >= _MIN_EXAMPLES
    rows, halves = rows[is_often], halves[is_often]
    parts = -(-len(rows) // _AT_ONCE)
    for part in range(parts):
        yield rows[halves % parts == part]


def _differing_in_a_word(
    texts: Texts, rows: NDArray[np.int64], halves: tuple[int, int], scores: NDArray[np.float64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The examples among the segments in `rows`, if one word outside these halves varies."""
    marked = np.zeros(len(scores), bool)
    marked[rows] = True
    found, keys = array("q"), array("q")
    for row, site, left, right in texts(marked):
        for key in word_keys(masked_words(left, right) or ([], []), halves):
            found.append(row)
            keys.append(hash((site, key)))
    return _examples(np.asarray(found), np.asarray(keys), scores)


def _examples(
    rows: NDArray[np.int64], keys: NDArray[np.int64], scores: NDArray[np.float64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The segments in templates with many examples: the best of each template, and the others.

    >>> best, surplus = _examples(np.arange(8), np.array([7] * 7 + [3]), np.linspace(0.1, 0.8, 8))
    >>> best.tolist(), surplus.tolist()
    ([6, 5, 4], [3, 2, 1, 0])
    """
    order = np.lexsort((-scores[rows], keys))
    ordered = keys[order]
    starts = np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]][: len(keys)])
    sizes = np.diff(np.r_[starts, len(keys)])
    rank = np.arange(len(keys)) - np.repeat(starts, sizes)
    is_template = np.repeat(sizes, sizes) >= _MIN_EXAMPLES
    is_best = rank < _EXAMPLES
    return rows[order[is_template & is_best]], rows[order[is_template & ~is_best]]
