"""SVG paths and axis marks of the curve in report.html.

Lines are drawn in a square that the browser stretches to any shape; places of marks are given in
per cent, so that their texts stay as large as all others.
"""

from __future__ import annotations

from dataclasses import dataclass

from diptych.reports.curve import Curve

MAX_STEPS = 400  # of a line: more than a screen can tell apart
MOST_PAIRS = 0.95  # share of the pairs whose cost is told: the last few are luck
SIDE = 1000  # of the square

Mark = tuple[str, str]
"""where on an axis, and what stands there"""


@dataclass(frozen=True, slots=True)
class Plot:
    """Pairs against downloads."""

    line: str
    """the data of a path"""
    limit: str
    """the data of the path that no crawl can pass"""
    least: float
    """downloads that a pair costs there"""
    across: tuple[Mark, ...]
    """marks for downloads"""
    up: tuple[Mark, ...]
    """marks for pairs"""
    pairs: int
    downloads: int
    share: float
    """most of the pairs, and then: after how many downloads, for how many each, and where"""
    most: int
    cost: float
    place: tuple[str, str]


def plot(curve: Curve, least: float) -> Plot | None:
    """A curve as a picture, with the least that a pair can cost; None where nothing was found."""
    most, cost = curve.at(MOST_PAIRS), curve.per_pair(MOST_PAIRS)
    if most is None or cost is None:
        return None
    pairs = len(curve.found)
    top = -(-pairs // _step(pairs)) * _step(pairs)
    reached = sum(found <= most for found in curve.found)
    return Plot(
        line=_staircase(curve, top),
        limit=_limit(curve, top, least),
        least=least,
        across=_marks(curve.downloads),
        up=_marks(top),
        pairs=pairs,
        downloads=curve.downloads,
        share=MOST_PAIRS,
        most=most,
        cost=cost,
        place=(_percent(most, curve.downloads), _percent(reached, top)),
    )


def _staircase(curve: Curve, top: int) -> str:
    """A line that rises with each pair, or with several at once where there are many.

    >>> _staircase(Curve(10, (4, 5)), 2)
    'M0 1000H400V500H500V0H1000'
    """
    pairs = len(curve.found)
    every = -(-pairs // MAX_STEPS)
    steps = (
        f"H{round(SIDE * curve.found[count - 1] / curve.downloads)}"
        f"V{round(SIDE * (1 - count / top))}"
        for count in (*range(every, pairs, every), pairs)
    )
    return f"M0 {SIDE}{''.join(steps)}H{SIDE}"


def _limit(curve: Curve, top: int, least: float) -> str:
    """A straight line up to all pairs, or to the last download if that comes before.

    >>> _limit(Curve(10, (4, 5)), 2, 2.0)
    'M0 1000L400 0'
    """
    end = min(len(curve.found) * least, curve.downloads)
    return (
        f"M0 {SIDE}L{round(SIDE * end / curve.downloads)} {round(SIDE * (1 - end / least / top))}"
    )


def _step(most: int) -> int:
    """The distance of two marks on an axis: 1, 2 or 5 and zeros, five times at most.

    >>> [_step(most) for most in (1, 5, 16, 45, 100, 1234)]
    [1, 1, 5, 10, 20, 500]
    """
    size = 1
    while most > 5 * 5 * size:
        size *= 10
    return next(step for step in (size, 2 * size, 5 * size) if most <= 5 * step)


def _marks(most: int) -> tuple[Mark, ...]:
    """The marks of an axis.

    >>> _marks(16)
    (('0%', '0'), ('31.25%', '5'), ('62.5%', '10'), ('93.75%', '15'))
    """
    return tuple((_percent(mark, most), f"{mark:,}") for mark in range(0, most + 1, _step(most)))


def _percent(part: int, whole: int) -> str:
    return f"{round(100 * part / whole, 2):g}%"
