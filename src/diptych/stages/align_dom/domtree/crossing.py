"""Pairs of blocks whose order differs between two pages."""

from __future__ import annotations

from collections.abc import Callable
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
    between: Callable[[list[int], list[int]], NDArray[np.float32]],
    margin: float,
) -> list[tuple[int, int]]:
    """Add pairs of blocks that clearly match although their order differs between the pages.

    A pair is added if each block is the other's best match by `margin`.  If both blocks were
    already paired, their former partners are paired with each other, provided that their gain is
    positive.  `between` computes the gains of left nodes with right nodes.
    """
    left, right = blocks
    partner, owner = dict(pairs), {j: i for i, j in pairs}
    freed: list[tuple[int, int]] = []
    for row, column in mutual_best(between(left, right), margin):
        i, j = left[row], right[column]
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
        if i not in partner and j not in owner and between([i], [j])[0, 0] > 0:
            partner[i], owner[j] = j, i
    rest = [i for i in left if i not in partner], [j for j in right if j not in owner]
    more = mutual_best(between(*rest), margin)
    return sorted([*partner.items(), *((rest[0][row], rest[1][column]) for row, column in more)])


def mutual_best(gains: NDArray[np.float32], margin: float) -> list[tuple[int, int]]:
    """Pairs of rows and columns that are each other's best match, by a margin over the second best.

    Their gain must also exceed 0 by that margin.
    """
    if not gains.size:
        return []
    columns = gains.argmax(1)
    rows = np.flatnonzero(gains.argmax(0)[columns] == np.arange(len(gains)))
    rows = rows[gains[rows, columns[rows]] >= margin]
    columns, places = columns[rows], np.arange(len(rows))
    best, across, along = gains[rows, columns], gains[rows], gains[:, columns]
    across[places, columns] = along[rows, places] = -np.inf
    rivals = np.maximum(across.max(1, initial=0), along.max(0, initial=0))
    sure = best - rivals >= margin
    return list(zip(rows[sure].tolist(), columns[sure].tolist(), strict=True))
