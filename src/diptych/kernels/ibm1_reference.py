"""IBM Model 1 (Brown et al. 1993) in NumPy: reference implementation and fallback for `ibm1.c`.

A link joins a word on one side of a sentence pair to a word on the other side; all links are in
memory at once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from diptych.kernels.ibm1 import Bags, Postings, Prior

SMOOTH = 1.0  # initial count of a row, spread evenly over all columns
MIN_FLOAT = 1e-38  # smaller floats lose precision
BUCKETS = 128  # shares are grouped by powers of two; entries in the first bucket are always kept


class Fitted(NamedTuple):
    """The trained table, the total count of each row, and the log-likelihoods."""

    offsets: NDArray[np.int64]
    columns: NDArray[np.int32]
    values: NDArray[np.float32]
    totals: NDArray[np.float64]
    likelihoods: list[float]
    """before the first iteration and after each one, without the term for sentence lengths"""


class _Links(NamedTuple):
    """The table entry of each link, the index of its other word and the count of its given word."""

    entry: NDArray[np.int64]
    place: NDArray[np.int64]
    times: NDArray[np.float32]
    keys: NDArray[np.int64]
    """for each entry, row * number of columns + column"""


def fit(given: Postings, other: Bags, prior: Prior, iterations: int, max_entries: int) -> Fitted:
    """Train t(other word | given word) by EM; the last table row belongs to the empty word."""
    rows, size = len(given.offsets) - 1, other.size
    links = _bounded(_links(given, other, prior), given, other, prior, max_entries)
    row = links.keys // size
    known = np.zeros(len(links.keys))
    prior_rows = np.repeat(np.arange(rows), np.diff(prior.offsets))
    known[np.searchsorted(links.keys, prior_rows * size + prior.columns)] = prior.counts
    table = (known + SMOOTH / max(size, 1)) / (prior.totals + SMOOTH)[row]
    totals = prior.totals
    z = _z(links, table, other)
    likelihoods = [_likelihood(z, other)]
    for _ in range(iterations):
        weight = other.count / np.where(z > 0, z, np.inf)
        share = links.times * weight[links.place] * table[links.entry]
        counts = np.bincount(links.entry, share, len(table))
        totals = prior.totals + np.bincount(row, counts, rows)
        table = (counts + known) / np.where(totals > 0, totals, np.inf)[row]
        z = _z(links, table, other)
        likelihoods.append(_likelihood(z, other))
    offsets = np.searchsorted(row, np.arange(rows + 1)).astype(np.int64)
    columns, values = (links.keys % max(size, 1)).astype(np.int32), table.astype(np.float32)
    return Fitted(offsets, columns, values, totals, likelihoods)


def _z(links: _Links, table: NDArray[Any], other: Bags) -> NDArray[np.float64]:
    """For each word in the bags of `other`, the sum of t(word | given word) over given words.

    The given words are those of the same sentence pair.
    """
    found: NDArray[Any] = np.bincount(
        links.place, links.times * table[links.entry], len(other.word)
    )
    return found


def _likelihood(z: NDArray[np.float64], other: Bags) -> float:
    return float(other.count @ np.log(np.maximum(z, MIN_FLOAT)))


def _links(given: Postings, other: Bags, prior: Prior) -> _Links:
    """Create links between each word of a sentence and each given word of its counterpart."""
    rows = np.arange(len(given.offsets) - 1)
    sizes = np.diff(other.offsets)[given.bag]
    post = np.repeat(np.arange(len(given.bag)), sizes)
    place = np.arange(len(post)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    place += other.offsets[given.bag][post]
    keys = np.repeat(rows, np.diff(given.offsets))[post] * other.size + other.word[place]
    known = np.repeat(rows, np.diff(prior.offsets)) * other.size + prior.columns
    unique, entry = np.unique(np.concatenate((keys, known)), return_inverse=True)
    return _Links(entry.reshape(-1)[: len(keys)], place, given.times[post], unique)


def _bounded(links: _Links, given: Postings, other: Bags, prior: Prior, max_entries: int) -> _Links:
    """If there are more than `max_entries` entries, drop those with the smallest initial shares."""
    if len(links.keys) <= max_entries:
        return links
    rows = len(given.offsets) - 1
    shares = links.times * other.share(given)[links.place]
    sums = np.bincount(links.entry, shares, len(links.keys))
    row = links.keys // max(other.size, 1)
    whole = np.bincount(row, sums, rows)[row]
    part = sums / np.where(whole > 0, whole, np.inf)
    buckets = np.clip(1 - np.frexp(part.astype(np.float32))[1], 1, BUCKETS - 1)
    known = np.repeat(np.arange(rows), np.diff(prior.offsets)) * other.size + prior.columns
    buckets[np.searchsorted(links.keys, known)] = 0
    buckets[row == rows - 1] = 0
    kept = buckets <= last_bucket(np.bincount(buckets, minlength=BUCKETS), max_entries)
    number, used = np.cumsum(kept) - 1, kept[links.entry]
    return _Links(number[links.entry[used]], links.place[used], links.times[used], links.keys[kept])


def last_bucket(histogram: NDArray[np.int64], max_entries: int) -> int:
    """The last bucket of a histogram to keep so that at most `max_entries` entries remain.

    The first bucket is always kept.

    >>> last_bucket(np.array([5, 10, 10, 10]), 26), last_bucket(np.array([5, 10, 10]), 3)
    (2, 0)
    """
    return max(int(np.searchsorted(np.cumsum(histogram), max_entries, "right")) - 1, 0)


def prune(
    offsets: NDArray[np.int64], columns: NDArray[np.int32], values: NDArray[np.float32],
    least: float, most: int,
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float32]]:  # fmt: skip
    """Keep the `most` largest entries of each row that are at least `least`, sorted by column."""
    rows = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    large = np.flatnonzero(values >= np.float32(least))
    best = large[np.lexsort((columns[large], -values[large], rows[large]))]
    starts = np.searchsorted(rows[best], np.arange(len(offsets)))
    kept = best[np.arange(len(best)) - starts[rows[best]] < most]
    kept = kept[np.lexsort((columns[kept], rows[kept]))]
    bounds = np.searchsorted(rows[kept], np.arange(len(offsets))).astype(np.int64)
    return bounds, columns[kept], values[kept]
