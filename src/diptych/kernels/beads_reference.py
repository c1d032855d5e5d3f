"""Sentence alignment in Python: the reference implementation of, and fallback for, `beads.c`."""

from __future__ import annotations

import math
from collections import defaultdict
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from diptych.kernels.length_costs import length_cost

if TYPE_CHECKING:
    from diptych.kernels.beads import Band, Lengths, Moves, Windows
    from diptych.kernels.ibm1 import Bags, Postings
    from diptych.kernels.tables import Table

IMPOSSIBLE = -1e30
LONG = 100
"""maximum number of words that count as evidence; words of a long sentence are not independent"""


def word_gains(
    rows: Bags,
    links: Table,
    places: Postings,
    words_before: NDArray[np.float64],
    loose_before: NDArray[np.float64],
    windows: Windows,
    null_share: float,
    out: NDArray[np.float32],
) -> None:
    """Add the log-likelihood ratios of `beads.word_gains` to `out`.

    Places beyond the end of a window contribute no lift.
    """
    start = windows.start
    for row in range(len(rows)):
        low, high = int(windows.low[row]), int(windows.high[row])
        words = slice(rows.offsets[row], rows.offsets[row + 1])
        counts: NDArray[np.float32] = rows.count[words]
        for word, count in zip(rows.word[words], counts, strict=True):
            lifts = _lifts(int(word), links, places)
            for size in range(1, len(out) + 1):
                for place in range(low, high):
                    end = min(place + size, high)
                    is_whole = place + size <= high
                    lift = sum(lifts.get(at, 0.0) for at in range(place, end)) if is_whole else 0.0
                    loose = loose_before[end] - loose_before[place]
                    share = (lift + loose) / (words_before[end] - words_before[place])
                    gain = math.log(null_share + (1 - null_share) * share)
                    out[size - 1, start[row] + place - low] += count * gain
        if (total := float(counts.sum())) > LONG:
            out[:, start[row] : start[row + 1]] *= LONG / total


def _lifts(word: int, links: Table, places: Postings) -> dict[int, float]:
    """For each sentence in `places`, the sum of the lifts of `word` with the sentence's words."""
    found: dict[int, float] = defaultdict(float)
    weights: NDArray[np.float32] = places[2]
    for link in range(links.offsets[word], links.offsets[word + 1]):
        other = links.columns[link]
        for at in range(places.offsets[other], places.offsets[other + 1]):
            found[int(places.bag[at])] += float(links.values[link] * weights[at])
    return found


def bead_scores(
    band: Band,
    moves: Moves,
    lengths: Lengths,
    by_left: NDArray[np.float32],
    by_right: NDArray[np.float32],
    scores: NDArray[np.float32],
) -> None:
    """Add the prior, length and word scores of each kind of bead at each point to `scores`."""
    start, most = band.start, moves.most
    ours, theirs = band.left_windows(most), band.right_windows(most)
    left_start, right_start = ours.start, theirs.start
    for i, (low, high) in enumerate(zip(*band, strict=True)):
        for j in range(low, high + 1):
            for move, (a, b, prior) in enumerate(zip(*moves, strict=True)):
                at = start[i] + j - low, move
                if not _inside(band, i + a, j + b):
                    scores[at] = IMPOSSIBLE
                    continue
                score = prior
                if a and b:
                    words = sum(
                        float(by_right[a - 1, right_start[y] + i - theirs.low[y]])
                        for y in range(j, j + b)
                    ) + sum(
                        float(by_left[b - 1, left_start[x] + j - ours.low[x]])
                        for x in range(i, i + a)
                    )
                    score += words / 2 - length_cost(
                        lengths.left[i + a] - lengths.left[i],
                        lengths.right[j + b] - lengths.right[j],
                        s2=lengths.variance,
                    )
                scores[at] += score


def _inside(band: Band, i: int, j: int) -> bool:
    return 0 <= i < len(band.low) and bool(band.low[i] <= j <= band.high[i])


def best_path(
    band: Band, moves: Moves, scores: NDArray[np.float32], by_posterior: bool
) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
    """The steps of the best path and their confidences; see `beads.best_path`."""
    values = {
        (i, j, move): float(scores[band.start[i] + j - band.low[i], move])
        for i in range(len(band.low))
        for j in range(band.low[i], band.high[i] + 1)
        for move in range(len(moves.priors))
    }
    values = {at: value for at, value in values.items() if value > IMPOSSIBLE}
    end = len(band.low) - 1, band.right
    if by_posterior:
        values = _posteriors(values, moves, end)
    worth = {
        at: value * (moves.left[at[2]] + moves.right[at[2]] if by_posterior else 1)
        for at, value in values.items()
    }
    steps = _best(worth, moves, end)
    kinds = {(int(a), int(b)): move for move, (a, b, _) in enumerate(zip(*moves, strict=True))}
    confidence = [values[i, j, kinds[a, b]] for i, j, a, b in steps]
    return np.array(steps, np.int32).reshape(-1, 4), np.array(confidence, np.float64)


def _posteriors(
    scores: dict[tuple[int, int, int], float], moves: Moves, end: tuple[int, int]
) -> dict[tuple[int, int, int], float]:
    """The posterior probability of each bead: the total probability of all paths through it."""
    before: dict[tuple[int, int], float] = {(0, 0): 0.0}
    after: dict[tuple[int, int], float] = {end: 0.0}
    for i, j, move in sorted(scores):  # every bead leads to a later point
        if (i, j) in before:
            to = i + int(moves.left[move]), j + int(moves.right[move])
            total = before[i, j] + scores[i, j, move]
            before[to] = float(np.logaddexp(before.get(to, -math.inf), total))
    for i, j, move in sorted(scores, reverse=True):
        to = i + int(moves.left[move]), j + int(moves.right[move])
        if to in after:
            total = after[to] + scores[i, j, move]
            after[i, j] = float(np.logaddexp(after.get((i, j), -math.inf), total))
    return {
        (i, j, move): math.exp(before[i, j] + score + after[to] - before[end])
        for (i, j, move), score in scores.items()
        if (i, j) in before
        and (to := (i + int(moves.left[move]), j + int(moves.right[move]))) in after
    }


def _best(
    worth: dict[tuple[int, int, int], float], moves: Moves, end: tuple[int, int]
) -> list[tuple[int, int, int, int]]:
    """The steps of the path with the highest sum of `worth`, the value of each possible step."""
    best: dict[tuple[int, int], tuple[float, int]] = {(0, 0): (0.0, -1)}
    for i, j, move in sorted(worth):
        if (i, j) not in best:
            continue
        to = i + int(moves.left[move]), j + int(moves.right[move])
        total = best[i, j][0] + worth[i, j, move]
        if to not in best or total > best[to][0]:
            best[to] = total, move
    if end not in best:
        raise ValueError("no path leads through the band")
    steps: list[tuple[int, int, int, int]] = []
    at = end
    while at != (0, 0):
        move = best[at][1]
        a, b = int(moves.left[move]), int(moves.right[move])
        at = at[0] - a, at[1] - b
        steps.append((*at, a, b))
    return steps[::-1]
