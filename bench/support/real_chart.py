"""The chart of crawls of real sites: one panel per policy, one thin line per site."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

from bench.support.crawl_chart import colour_place, figure_style, polyline
from bench.support.real_figures import Crawls, RealCrawl, of_policy, policies

STEPS = 80  # points of a line
REACH = 8.0  # downloads per true pair at the right end
COLUMNS, PANEL, GAP, LEFT, TOP, HEIGHT, ROW = 3, 270, 30, 60, 64, 190, 260


def shares(crawl: RealCrawl) -> list[float]:
    """The share of a site's pairs found at each step of downloads per true pair."""
    curve = crawl.curve
    return [curve.at(REACH * curve.pairs * step / STEPS) / curve.pairs for step in range(STEPS + 1)]


def median_shares(lines: Sequence[Sequence[float]]) -> list[float]:
    """The median of several lines at each step.

    >>> median_shares([[0.0, 0.5], [0.1, 0.6], [0.9, 1.0]])
    [0.1, 0.6]
    """
    return [median(step) for step in zip(*lines, strict=True)]


def _panel(policy: str, crawls: Sequence[RealCrawl], left: int, top: int) -> list[str]:
    bottom = top + HEIGHT
    parts = [f'  <text class="head" x="{left}" y="{top - 12}">{policy}</text>']
    for step in range(5):
        down, across = bottom - HEIGHT * step // 4, left + PANEL * step // 4
        parts.append(f'  <path class="grid" d="M{left} {down} h{PANEL}"/>')
        if left == LEFT:
            parts.append(
                f'  <text class="note" x="{left - 8}" y="{down + 4}" text-anchor="end">'
                f"{25 * step}%</text>"
            )
        parts.append(
            f'  <text class="note" x="{across}" y="{bottom + 18}" text-anchor="middle">'
            f"{REACH * step / 4:g}</text>"
        )
    parts.append(f'  <path class="axis" d="M{left} {top} V{bottom} h{PANEL}" fill="none"/>')
    area = (left, top, PANEL, HEIGHT)
    best = [min(1.0, REACH * step / STEPS / 2) for step in range(STEPS + 1)]
    parts.append(f'  <path class="best" d="{polyline(best, *area)}"/>')
    lines = [shares(each) for each in crawls]
    look = f"line line{colour_place(policy)}"
    parts += [f'  <path class="{look} thin" d="{polyline(line, *area)}"/>' for line in lines]
    parts.append(f'  <path class="{look} thick" d="{polyline(median_shares(lines), *area)}"/>')
    return parts


def draw(crawls: Crawls) -> str:
    """Draw all policies on sites with true pairs, one panel per policy."""
    names = [name for name in policies(crawls) if of_policy(crawls, name)]
    width = LEFT + min(COLUMNS, len(names)) * (PANEL + GAP)
    height = TOP + ROW * -(-len(names) // COLUMNS) + 12
    thin = ".thin { stroke-width: 1; opacity: .35; } .thick { stroke-width: 3.5; }"
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}"'
        " font-family=\"system-ui, -apple-system, 'Segoe UI', Roboto, Helvetica, Arial,"
        ' sans-serif" font-size="15" role="img" aria-labelledby="title desc">',
        '  <title id="title">Pairs found against downloads on real sites</title>',
        '  <desc id="desc">Share of the true page pairs of each site that each policy has found,'
        " over the downloads for each true pair; the thick line is the median of the sites. The"
        " figures are in the tables beside the picture.</desc>",
        figure_style(f"\n    {thin}"),
        f'  <rect class="back" width="{width}" height="{height}" rx="10"/>',
        f'  <text class="note" x="{LEFT}" y="24">pairs found; each site is a thin line, their'
        " median a thick one; dotted: nothing but pairs</text>",
    ]
    for number, name in enumerate(names):
        row, column = divmod(number, COLUMNS)
        left, top = LEFT + column * (PANEL + GAP), TOP + row * ROW
        parts += _panel(name, of_policy(crawls, name), left, top)
    middle = LEFT + (width - LEFT - GAP) // 2
    parts.append(
        f'  <text class="note" x="{middle}" y="{height - 14}" text-anchor="middle">'
        "downloads for each true pair of the site</text>"
    )
    return "\n".join([*parts, "</svg>"]) + "\n"
