"""Pairs of blocks whose order differs between two pages."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray


def with_swapped(
    pairs: list[tuple[int, int]],
    blocks: tuple[list[int], list[int]],
    gains: NDArray[np.float32],
    margin: float,
) -> list[tuple[int, int]]:
    """Let the pairs of two neighbouring blocks cross if this adds more than `margin` to the gain.

    `blocks` are the nodes that represent blocks, for each of the two pages.
    """
    partner, taken = dict(pairs), {j for _, j in pairs}
    after = dict(pairwise(blocks[1]))
    before = {j: i for i, j in after.items()}
    for first, second in pairwise(blocks[0]):
        one, two = partner.get(first), partner.get(second)
        if one is not None and two is not None:
            crosswise = gains[first, two] + gains[second, one]
            if (
                after.get(one) == two
                and crosswise > gains[first, one] + gains[second, two] + margin
            ):
                partner[first], partner[second] = two, one
            continue
        if one is not None:
            alone, place = second, before.get(one)
        else:
            alone, place = first, None if two is None else after.get(two)
        if place is not None and place not in taken and gains[alone, place] > margin:
            partner[alone] = place
            taken.add(place)
    return sorted(partner.items())


def with_moved(
    pairs: list[tuple[int, int]],
    blocks: tuple[list[int], list[int]],
    gains: NDArray[np.float32],
    margin: float,
) -> list[tuple[int, int]]:
    """Add pairs of blocks that clearly match although their order differs between the pages.

    A pair is added if each block is the other's best match by `margin`.  If both blocks were
    already paired, their former partners are paired with each other, provided that their gain is
    positive.
    """
    left, right = blocks
    partner, owner = dict(pairs), {j: i for i, j in pairs}
    freed: list[tuple[int, int]] = []
    for i, j in mutual_best(left, right, gains, margin):
        if partner.get(i) == j:
            continue
        other, before = partner.pop(i, None), owner.pop(j, None)
        if other is not None:
            del owner[other]
        if before is not None:
            del partner[before]
        partner[i], owner[j] = j, i
        if other is not None and before is not None:
            freed.append((before, other))
    for i, j in freed:
        if i not in partner and j not in owner and gains[i, j] > 0:
            partner[i], owner[j] = j, i
    rest = [i for i in left if i not in partner], [j for j in right if j not in owner]
    return sorted([*partner.items(), *mutual_best(*rest, gains, margin)])


def mutual_best(
    left: list[int], right: list[int], gains: NDArray[np.float32], margin: float
) -> list[tuple[int, int]]:
    """Pairs of nodes that are each other's best match, by a margin over the second best.

    Their gain must also exceed 0 by that margin.
    """
    if not left or not right:
        return []
    rest = gains[np.ix_(left, right)]
    rows, columns = np.arange(len(left)), rest.argmax(1)
    best = rest[rows, columns]
    is_mutual = rest.argmax(0)[columns] == rows
    rivals = np.maximum(np.maximum(_second_best(rest.T), _second_best(rest)[columns]), 0)
    sure = np.flatnonzero(is_mutual & (best - rivals >= margin))
    return [(left[row], right[columns[row]]) for row in sure]


def _second_best(values: NDArray[np.float32]) -> NDArray[np.float32]:
    """The second highest value of each column; -inf if there is only one row."""
    if len(values) < 2:
        return np.full(values.shape[1], -np.inf, np.float32)
    found: NDArray[np.float32] = np.partition(values, len(values) - 2, axis=0)[-2]
    return found
