"""Text length in letters, and the cheapest path through two sequences (Gale & Church 1993)."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MAX_SEGMENT = 2_000  # letters of a side of a segment; longer sides are texts that were not split

# Number of alphabetic letters that one character corresponds to, by blocks of Unicode.
# Han, kana and Hangul: medians over 2,305 page pairs of English with Chinese, Japanese and Korean
# (manuals of Debian, Apache, GnuCash, Scilab, LilyPond).
# The others: medians over messages of 60 letters or more in message catalogues of Debian 12, beside
# the English ones: Amharic 2,986 messages, Thai 3,442, Khmer 3,696, Burmese 551, Malayalam 1,767,
# Dzongkha 2,566.  A combining mark weighs as much as a letter of its script.
# Alphabets stay at 1, for their languages differ among themselves: German 0.84, Finnish 0.97,
# Arabic 1.3, Persian 1.06, Urdu 0.97; so do Lao (0.97) and the other scripts of India (0.87 to
# 1.1).
_WEIGHTS: tuple[tuple[float, tuple[tuple[int, int], ...]], ...] = (
    (3.5, ((0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0xF900, 0xFAFF), (0x20000, 0x3FFFF))),
    (2.3, ((0x3040, 0x30FF), (0x31F0, 0x31FF))),
    (2.3, ((0x1100, 0x11FF), (0x3130, 0x318F), (0xAC00, 0xD7AF))),
    (1.7, ((0x1200, 0x139F), (0x2D80, 0x2DDF), (0xAB00, 0xAB2F))),  # Ethiopic
    (1.15, ((0x0E00, 0x0E7F),)),  # Thai
    (0.9, ((0x1780, 0x17FF),)),  # Khmer
    (0.8, ((0x1000, 0x109F), (0xA9E0, 0xA9FF), (0xAA60, 0xAA7F))),  # Burmese
    (0.75, ((0x0D00, 0x0D7F),)),  # Malayalam
    (0.7, ((0x0F00, 0x0FFF),)),  # Tibetan
)
MAX_WEIGHT = max(weight for weight, _ in _WEIGHTS)
_FIRST_POINT = min(first for _, blocks in _WEIGHTS for first, _ in blocks)
_MAY_WEIGH = re.compile(f"[^\0-{chr(_FIRST_POINT - 1)}]")  # a long range takes 10 ms to compile


class Step(NamedTuple):
    """One step of a path: the index of the first item and the item count in each sequence."""

    left: int
    right: int
    left_count: int
    right_count: int


def text_length(text: str) -> float:
    """The length of a text in letters; an ideograph or syllabic character counts as several.

    >>> text_length("  a  cat "), text_length("中文"), text_length("のは")
    (5.0, 7.0, 4.6)
    """
    # In a printable text, all white space is blanks.
    if "  " in text or not text.isprintable() or text[:1] == " " or text[-1:] == " ":
        text = " ".join(text.split())
    length = float(len(text))
    if text.isascii() or not _MAY_WEIGH.search(text):
        return length
    by_script, any_script = _scripts()
    if not any_script.search(text):
        return length
    return length + sum((weight - 1) * len(chars.findall(text)) for chars, weight in by_script)


@cache
def _scripts() -> tuple[list[tuple[re.Pattern[str], float]], re.Pattern[str]]:
    """The characters of each weight, and of all; made on first use, which takes 10 ms."""
    classes = [
        ("".join(f"{chr(first)}-{chr(last)}" for first, last in blocks), weight)
        for weight, blocks in _WEIGHTS
    ]
    whole = re.compile(f"[{''.join(chars for chars, _ in classes)}]")
    return [(re.compile(f"[{chars}]"), weight) for chars, weight in classes], whole


def letter_sums(text: str) -> list[float]:
    """The length in letters of a text up to each of its characters, blanks included.

    >>> letter_sums("a中b")
    [0.0, 1.0, 4.5, 5.5]
    """
    import numpy as np

    points = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), "<u4")
    weights = letter_weights(points)
    sums = np.arange(len(text)) + 1.0 if weights is None else np.cumsum(weights)
    return [0.0, *sums.tolist()]


def letter_weights(points: NDArray[np.uint32]) -> NDArray[np.float64] | None:
    """The letters that each code point corresponds to; None if that is one for all of them."""
    if not len(points) or points.max() < _FIRST_POINT:
        return None
    import numpy as np

    weights = np.ones(len(points))
    for weight, blocks in _WEIGHTS:
        for first, last in blocks:
            weights[(points >= first) & (points <= last)] = weight
    return weights


def cheapest_path(
    rows: int,
    columns: int,
    moves: Sequence[tuple[int, int]],
    cost: Callable[[int, int, int, int], float],
    *,
    max_cells: int,
) -> list[Step]:
    """The path through two sequences with the lowest total cost, as a list of steps.

    `rows` and `columns` are the lengths of the sequences.  A move is the number of items that a
    step takes from each sequence; moves must include (1, 0) and (0, 1), and ties go to the earlier
    move.  `cost` is called with the fields of a `Step` and must not return a negative number.  If
    there are more than `max_cells` cells, only a band along the diagonal is searched.

    >>> steps = cheapest_path(2, 1, [(1, 1), (1, 0), (0, 1)], lambda *step: 0.5, max_cells=100)
    >>> [(step.left_count, step.right_count) for step in steps]
    [(1, 0), (1, 1)]
    """
    band = _band(rows, columns, max_cells)
    best: list[list[float]] = []
    chosen: list[list[tuple[int, int]]] = []
    for row, (low, high) in enumerate(band):
        best.append([] if row else [0.0])
        chosen.append([] if row else [(0, 0)])
        for column in range(low + len(best[row]), high + 1):
            total, move = _last_move(row, column, moves, cost, best, band)
            best[row].append(total)
            chosen[row].append(move)
    return _walk_back(chosen, band)


def _last_move(
    row: int,
    column: int,
    moves: Sequence[tuple[int, int]],
    cost: Callable[[int, int, int, int], float],
    best: Sequence[Sequence[float]],
    band: Sequence[tuple[int, int]],
) -> tuple[float, tuple[int, int]]:
    """The cost of the cheapest path to a cell, and the last move of that path.

    `best` contains the costs of the cells before it, in the columns of each row given by `band`.
    """
    cheapest, chosen = math.inf, (0, 0)
    for left_count, right_count in moves:
        left, right = row - left_count, column - right_count
        if left < 0 or not band[left][0] <= right <= band[left][1]:
            continue
        before = best[left][right - band[left][0]]
        if before >= cheapest:
            continue  # costs are not negative, so this path cannot become cheaper
        total = before + cost(left, right, left_count, right_count)
        if total < cheapest:
            cheapest, chosen = total, (left_count, right_count)
    return cheapest, chosen


def _walk_back(
    chosen: Sequence[Sequence[tuple[int, int]]], band: Sequence[tuple[int, int]]
) -> list[Step]:
    """Trace the path back from the last cell, and return its steps in order.

    `chosen` contains the last move of the cheapest path to each cell, and `band` the first and last
    column of each row.
    """
    steps: list[Step] = []
    row, column = len(band) - 1, band[-1][1]
    while row or column:
        left_count, right_count = chosen[row][column - band[row][0]]
        row, column = row - left_count, column - right_count
        steps.append(Step(row, column, left_count, right_count))
    return steps[::-1]


def _band(rows: int, columns: int, max_cells: int) -> list[tuple[int, int]]:
    """The first and last column to search in each row; all columns if `max_cells` allows.

    >>> _band(2, 2, 100)
    [(0, 2), (0, 2), (0, 2)]
    >>> _band(4, 4, 10)
    [(0, 1), (0, 2), (1, 3), (2, 4), (3, 4)]
    """
    if (rows + 1) * (columns + 1) <= max_cells:
        return [(0, columns)] * (rows + 1)
    slope = columns / max(rows, 1)
    # At least the rise per row; otherwise neighbouring rows would not overlap.
    half = max(max_cells // (2 * (rows + 1)), math.ceil(slope))
    return [
        (max(0, round(row * slope) - half), min(columns, round(row * slope) + half))
        for row in range(rows + 1)
    ]
