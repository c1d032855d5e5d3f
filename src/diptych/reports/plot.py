"""SVG paths and axis marks for the curve in report.html.

Lines are drawn in a square that the browser stretches to any shape.  Marks are positioned by
percentages, so that their text is not stretched.
"""

from __future__ import annotations

from dataclasses import dataclass

from diptych.reports.curve import Curve

MAX_STEPS = 400  # maximum steps of a line; a screen cannot show more
MOST_PAIRS = 0.95  # share of pairs whose cost is reported; the cost of the last few is random
SIDE = 1000  # side length of the square

Mark = tuple[str, str]
"""position on an axis, and the text at that position"""


@dataclass(frozen=True, slots=True)
class Plot:
    """The data for a plot of pairs against downloads."""

    line: str
    """SVG path data of the curve"""
    limit: str
    """SVG path data of the line that no crawl can exceed"""
    least: float
    """downloads per pair on the line `limit`"""
    across: tuple[Mark, ...]
    """marks on the axis of downloads"""
    up: tuple[Mark, ...]
    """marks on the axis of pairs"""
    pairs: int
    downloads: int
    share: float
    """the share of all pairs (`MOST_PAIRS`) to which the next three fields refer"""
    most: int
    cost: float
    place: tuple[str, str]


def plot(curve: Curve, least: float) -> Plot | None:
    """Create the plot of a curve; return None if there are no pairs.

    `least` is the lowest possible number of downloads per pair.
    """
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
    """SVG path data for a line that rises at each pair, or every few pairs if there are many.

    `top` is the number of pairs at the top of the plot.

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
    """SVG path data for the straight line of a crawl that needs `least` downloads per pair.

    The line ends at the number of pairs or downloads of `curve`, whichever it reaches first.
    `top` is the number of pairs at the top of the plot.

    >>> _limit(Curve(10, (4, 5)), 2, 2.0)
    'M0 1000L400 0'
    """
    end = min(len(curve.found) * least, curve.downloads)
    return (
        f"M0 {SIDE}L{round(SIDE * end / curve.downloads)} {round(SIDE * (1 - end / least / top))}"
    )


def _step(most: int) -> int:
    """The interval between axis marks: 1, 2 or 5 times a power of ten, giving at most six marks.

    >>> [_step(most) for most in (1, 5, 16, 45, 100, 1234)]
    [1, 1, 5, 10, 20, 500]
    """
    size = 1
    while most > 5 * 5 * size:
        size *= 10
    return next(step for step in (size, 2 * size, 5 * size) if most <= 5 * step)


def _marks(most: int) -> tuple[Mark, ...]:
    """The marks on an axis from 0 to `most`.

    >>> _marks(16)
    (('0%', '0'), ('31.25%', '5'), ('62.5%', '10'), ('93.75%', '15'))
    """
    return tuple((_percent(mark, most), f"{mark:,}") for mark in range(0, most + 1, _step(most)))


def _percent(part: int, whole: int) -> str:
    return f"{round(100 * part / whole, 2):g}%"
