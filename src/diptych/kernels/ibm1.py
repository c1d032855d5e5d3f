"""IBM Model 1 (Brown et al. 1993) in C: translation probabilities of words, trained by EM.

Word order does not matter to the model, so a sentence is a bag: each word once, with its count.
The given side also has the empty word (NULL), which is in every sentence and has the last row.
"""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from diptych.kernels import fields_of, ibm1_reference, native, pointer
from diptych.kernels.tables import Table, are_offsets, are_within, ascend_in_rows, ends_of

MAX_ENTRIES = 80_000_000  # word pairs with a probability, 8 bytes each; no fewer than 100,000 pairs
_MAX_WORDS = (1 << 31) - 2
_PLACE = np.dtype([("column", np.int32), ("weight", np.float32)])


@dataclass(frozen=True, slots=True)
class Bags:
    """One side of all sentence pairs: sentence i has `word[offsets[i]:offsets[i + 1]]`, each once.

    Made by `bags`, which checks it.
    """

    word: NDArray[np.int32]
    count: NDArray[np.float32]
    offsets: NDArray[np.int64]
    size: int
    """of the vocabulary"""

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def share(self, given: Postings) -> NDArray[np.float32]:
        """The expected count of each word per word of the other side, if all links are equal."""
        lengths = np.bincount(given.bag, given.times, len(self))
        return (self.count / np.repeat(lengths, np.diff(self.offsets))).astype(np.float32)


class Postings(NamedTuple):
    """For each word of the given side, the empty one last: the bags it is in, and its counts."""

    offsets: NDArray[np.int64]
    bag: NDArray[np.int32]
    times: NDArray[np.float32]


class Prior(NamedTuple):
    """Counts from before training, one row per given word; `totals` may exceed their sum."""

    offsets: NDArray[np.int64]
    columns: NDArray[np.int32]
    """ascending in each row"""
    counts: NDArray[np.float32]
    totals: NDArray[np.float64]


class Trained(NamedTuple):
    """The trained table, the expected count of each given word, and the log-likelihoods."""

    table: Table
    totals: NDArray[np.float64]
    likelihoods: tuple[float, ...]
    """of the other side, before the first iteration and after each"""


def bags(ids: NDArray[np.int32], offsets: NDArray[np.int64], size: int) -> Bags:
    """Sentences as bags, from the ids of all words and the offset of each sentence.

    >>> made = bags(np.array([2, 1, 2, 0], np.int32), np.array([0, 3, 3, 4]), 3)
    >>> made.word.tolist(), made.count.tolist(), made.offsets.tolist()
    ([1, 2, 0], [1.0, 2.0, 1.0], [0, 2, 2, 3])
    """
    _check_offsets(offsets, len(ids))
    if not 0 <= size <= _MAX_WORDS or not are_within(ids, size):
        raise ValueError("ids of words must be from 0 to below the size of the vocabulary")
    count = len(offsets) - 1
    if count > _MAX_WORDS:
        raise ValueError("too many sentences")
    sentence = np.repeat(np.arange(count, dtype=np.int64), np.diff(offsets))
    keys, counts = np.unique(sentence * size + ids, return_counts=True)
    sentence = keys // max(size, 1)
    starts = np.searchsorted(sentence, np.arange(count + 1)).astype(np.int64)
    words = (keys - sentence * size).astype(np.int32)
    return Bags(words, counts.astype(np.float32), starts, size)


def train(
    given: Bags,
    other: Bags,
    *,
    iterations: int = 5,
    prior: Prior | None = None,
    least: float = 0.0,
    most: int = _MAX_WORDS,
    max_entries: int = MAX_ENTRIES,
) -> Trained:
    """t(other word | given word) by EM; beyond `max_entries` the least probable are left out.

    The table has one row more than there are given words: that of the empty word.  It is pruned
    as by `pruned`.
    """
    if len(given) != len(other):
        raise ValueError("both sides must have the same number of sentences")
    known = _no_prior(given.size) if prior is None else _checked_prior(prior, given, other)
    posts = postings(given)
    run = ibm1_reference.fit if native() is None else _fit
    found = run(posts, other, known, iterations, max_entries)
    # Each word comes from any word of the other side, or from none, with equal probability.
    lengths = np.bincount(posts.bag, posts.times, len(given))
    alike = float(_lengths(other) @ np.log(lengths))
    table = pruned(Table(found.offsets, found.columns, found.values), least, most)
    return Trained(table, found.totals, tuple(each - alike for each in found.likelihoods))


def _lengths(side: Bags) -> NDArray[np.float64]:
    """The number of words of each sentence."""
    sums = np.concatenate((np.zeros(1), np.cumsum(side.count, dtype=np.float64)))
    found: NDArray[np.float64] = np.diff(sums[side.offsets])
    return found


def pruned(table: Table, least: float, most: int) -> Table:
    """The entries of each row that are at least `least`, the `most` largest, columns ascending.

    The table that is given, which may be most of the memory, is overwritten.
    """
    offsets, columns, values = table  # columns and values may have room to spare
    library = native()
    if library is None:
        return Table(*ibm1_reference.prune(offsets, columns, values, least, most))
    room = np.empty(int(np.diff(offsets).max(initial=0)), np.int64)
    library.ibm1_prune(
        ctypes.c_int64(len(offsets) - 1), pointer(offsets), pointer(columns), pointer(values),
        ctypes.c_float(least), ctypes.c_int64(most), pointer(room),
    )  # fmt: skip
    end = int(offsets[-1])
    return Table(offsets, columns[:end].copy(), values[:end].copy())


class _CModel(ctypes.Structure):
    _fields_ = (
        *fields_of(ctypes.c_int64, "rows columns is_pruned"),
        *fields_of(ctypes.c_void_p, "post_from post_bag post_count bag_from places z"),
        *fields_of(ctypes.c_void_p, "prior_from prior_column prior_count prior_total"),
        *fields_of(ctypes.c_void_p, "row_from total cells list column value"),
    )


def _fit(
    given: Postings, other: Bags, prior: Prior, iterations: int, max_entries: int
) -> ibm1_reference.Fitted:
    """`ibm1_reference.fit` in C; the entries of a row are in no order."""
    library = native()
    assert library is not None
    rows, size = len(given.offsets) - 1, max(other.size, 1)
    places = np.zeros(len(other.word), _PLACE)
    places["column"], places["weight"] = other.word, other.share(given)
    z = np.zeros(len(places), np.float32)
    offsets, totals, cells = np.zeros(rows + 1, np.int64), np.zeros(rows), np.zeros(size, np.int64)
    room = np.zeros(size + 1, np.int32)
    arrays = *given, other.offsets, places, z, *prior, offsets, totals, cells, room
    model = _CModel(rows, other.size, 0, *map(pointer, arrays), None, None)
    most_pairs = int(np.diff(other.offsets)[given.bag].sum()) + len(prior.columns)
    columns, values = _fill(library, model, most_pairs, max_entries)
    # The filled table is a first iteration, if there is no prior and nothing was left out.
    is_first = iterations > 0 and not len(prior.columns) and not model.is_pruned
    if not is_first:
        z.fill(0)
        library.ibm1_start(ctypes.byref(model))
    weigh, count = library.ibm1_weigh, ctypes.c_int64(len(places))
    weigh.restype = ctypes.c_double
    likelihoods = [_first_likelihood(given, other)] * is_first
    likelihoods.append(weigh(pointer(places), pointer(z), count, pointer(other.count)))
    for _ in range(iterations - is_first):
        library.ibm1_step(ctypes.byref(model))
        likelihoods.append(weigh(pointer(places), pointer(z), count, pointer(other.count)))
    return ibm1_reference.Fitted(offsets, columns, values, totals, likelihoods)


def _first_likelihood(given: Postings, other: Bags) -> float:
    """The log-likelihood when all columns are equally probable."""
    lengths = np.bincount(given.bag, given.times, len(other))
    return float(_lengths(other) @ np.log(lengths / max(other.size, 1)))


def _fill(
    library: ctypes.CDLL, model: _CModel, room: int, max_entries: int
) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
    """The columns and values of a model; beyond the bound the smallest shares are left out."""
    last = ibm1_reference.BUCKETS
    if room > max_entries:
        histogram = np.zeros(ibm1_reference.BUCKETS, np.int64)
        library.ibm1_survey(ctypes.byref(model), pointer(histogram))
        last = ibm1_reference.last_bucket(histogram, max_entries)
        room = int(histogram[: last + 1].sum())
        model.is_pruned = int(room < histogram.sum())
    # Pages of memory that are not written to take no room.
    columns, values = np.empty(room, np.int32), np.empty(room, np.float32)
    model.column, model.value = pointer(columns), pointer(values)
    if not library.ibm1_fill(ctypes.byref(model), last, ctypes.c_int64(room)):
        raise RuntimeError("more word pairs than were counted")
    return columns, values


def postings(given: Bags) -> Postings:
    """The bags of each word, and all of them for the empty word."""
    order = np.argsort(given.word, kind="stable")
    every = np.arange(len(given), dtype=np.int32)
    bag = np.repeat(every, np.diff(given.offsets))[order]
    ends = ends_of(np.bincount(given.word, minlength=given.size))
    return Postings(
        np.append(ends, len(order) + len(given)),
        np.concatenate((bag, every)),
        np.concatenate((given.count[order], np.ones(len(given), np.float32))),
    )


def _no_prior(size: int) -> Prior:
    """A prior without any counts, also for the empty word."""
    none = np.zeros(0, np.int32), np.zeros(0, np.float32)
    return Prior(np.zeros(size + 2, np.int64), *none, np.zeros(size + 1))


def _checked_prior(prior: Prior, given: Bags, other: Bags) -> Prior:
    """The prior with an empty row for the empty word; ValueError if it does not fit."""
    offsets, columns, counts, totals = prior
    _check_offsets(offsets, len(columns))
    if not len(offsets) == given.size + 1 == len(totals) + 1 or len(counts) != len(columns):
        raise ValueError("a prior needs one row per given word")
    if not are_within(columns, other.size):
        raise ValueError("a prior has words beyond the vocabulary")
    if not ascend_in_rows(offsets, columns):
        raise ValueError("the words of a row of a prior must ascend")
    if not ((counts >= 0).all() and (totals >= 0).all() and np.isfinite(totals).all()):
        raise ValueError("counts of a prior must be from 0 on")
    return Prior(
        np.append(offsets, offsets[-1]).astype(np.int64),
        np.ascontiguousarray(columns, np.int32),
        np.ascontiguousarray(counts, np.float32),
        np.append(totals, 0.0).astype(np.float64),
    )


def _check_offsets(offsets: NDArray[np.int64], end: int) -> None:
    if not are_offsets(offsets, end):
        raise ValueError("offsets must ascend from 0 to the number of words")
