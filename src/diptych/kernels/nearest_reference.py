"""Search for the nearest rows of a sparse matrix: reference and fallback for `nearest.c`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from diptych.kernels.nearest import Rows


def nearest(
    queries: Rows, targets: Rows, most: int, budget: int
) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
    """For each query, the nearest target rows and their dot products; see `nearest.nearest`."""
    postings = targets.turned()
    rows = np.full((len(queries), most), -1, np.int32)
    scores = np.zeros((len(queries), most), np.float32)
    for query in range(len(queries)):
        sums = np.zeros(len(targets), np.float32)
        spent = 0
        for at in range(queries.offsets[query], queries.offsets[query + 1]):
            feature = queries.features[at]
            begin, end = postings.offsets[feature], postings.offsets[feature + 1]
            spent += int(end - begin)
            if spent > budget:
                break
            sums[postings.features[begin:end]] += queries.values[at] * postings.values[begin:end]
        order = np.lexsort((np.arange(len(sums)), -sums))[:most]
        order = order[sums[order] > 0]
        rows[query, : len(order)], scores[query, : len(order)] = order, sums[order]
    return rows, scores


def products(
    left: Rows, right: Rows, ours: NDArray[np.int32], theirs: NDArray[np.int32]
) -> NDArray[np.float32]:
    """The dot product of each pair of rows; see `nearest.products`."""
    found = np.zeros(len(ours), np.float32)
    for place, (one, two) in enumerate(zip(ours, theirs, strict=True)):
        here = slice(left.offsets[one], left.offsets[one + 1])
        there = slice(right.offsets[two], right.offsets[two + 1])
        _, at, other = np.intersect1d(
            left.features[here], right.features[there], assume_unique=True, return_indices=True
        )
        found[place] = np.dot(left.values[here][at], right.values[there][other])
    return found
