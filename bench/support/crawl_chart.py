"""The chart of crawl curves: Fig. 7 of Garcia-Romero et al., one panel per group of sites."""

from __future__ import annotations

from collections.abc import Sequence

from bench.support.crawl_figures import ORDER, OURS, Curves, best_shares, sets, shares

STEPS = 60  # points of a line
PANEL, GAP, LEFT, TOP, HEIGHT = 270, 30, 60, 64, 250
ABOUT = {
    "full": "fully translated",
    "partial": "40% without counterpart",
    "third": "three other languages",
}
LIGHT = ("#c2410c", "#64748b", "#2563eb", "#15803d", "#9333ea", "#a16207")
DARK = ("#fb923c", "#94a3b8", "#60a5fa", "#4ade80", "#c084fc", "#facc15")
DASHES = ("", "", "7 3", "2 3", "9 3 2 3", "5 2")
"""dashes, which distinguish lines without colours"""
ANCHORS = {0: "start", 2: "middle", 4: "end"}


def figure_style(more: str = "") -> str:
    """The style of a chart of crawls in a light and a dark scheme; `more` are additional rules."""

    def lines(colours: Sequence[str], indent: str) -> str:
        return "\n".join(
            f"{indent}.line{place} {{ stroke: {colour}; }}" for place, colour in enumerate(colours)
        )

    return f"""  <style>
    .back {{ fill: #ffffff; }}
    .head {{ fill: #17202c; font-weight: 600; }}
    .note {{ fill: #45505e; font-size: 13px; }}
    .grid {{ stroke: #dde3ea; stroke-width: 1; }}
    .axis {{ stroke: #5a6675; stroke-width: 1.2; }}
    .line {{ fill: none; stroke-width: 2; stroke-linejoin: round; }}
    .best {{ fill: none; stroke: #5a6675; stroke-width: 1.2; stroke-dasharray: 1 4; }}
{lines(LIGHT, "    ")}{more}
    @media (prefers-color-scheme: dark) {{
      .back {{ fill: #12161c; }}
      .head {{ fill: #edf1f6; }}
      .note {{ fill: #b4bfcc; }}
      .grid {{ stroke: #2a323d; }}
      .axis, .best {{ stroke: #97a3b1; }}
{lines(DARK, "      ")}
    }}
  </style>"""


def polyline(line: Sequence[float], left: int, top: int, width: int, height: int) -> str:
    """SVG path data of a line through shares.

    >>> polyline([0.0, 1.0], 0, 64, 270, 250)
    'M0 314 L270 64'
    """
    points = []
    for step, share in enumerate(line):
        across, down = left + width * step / (len(line) - 1), top + height * (1 - share)
        points.append(f"{across:.1f}".removesuffix(".0") + f" {down:.1f}".removesuffix(".0"))
    return "M" + " L".join(points)


def _panel(curves: Curves, group: str, number: int) -> list[str]:
    left = LEFT + number * (PANEL + GAP)
    sites = sets(curves)[group]
    bottom = TOP + HEIGHT
    parts = [f'  <text class="head" x="{left}" y="{TOP - 16}">{ABOUT[group]}</text>']
    for step in range(5):
        down, across = bottom - HEIGHT * step // 4, left + PANEL * step // 4
        parts.append(f'  <path class="grid" d="M{left} {down} h{PANEL}"/>')
        if not number:
            parts.append(
                f'  <text class="note" x="{left - 8}" y="{down + 4}" text-anchor="end">'
                f"{25 * step}%</text>"
            )
        if anchor := ANCHORS.get(step):
            parts.append(
                f'  <text class="note" x="{across}" y="{bottom + 20}" text-anchor="{anchor}">'
                f"{25 * step}%</text>"
            )
    parts.append(f'  <path class="axis" d="M{left} {TOP} V{bottom} h{PANEL}" fill="none"/>')
    area = (left, TOP, PANEL, HEIGHT)
    best = polyline(best_shares(curves, sites, STEPS), *area)
    parts.append(f'  <path class="best" d="{best}"/>')
    for policy in reversed(curves.policies):  # the first is drawn over the others
        line = polyline(shares(curves, policy, sites, STEPS), *area)
        parts.append(f'  <path {_look(policy)} d="{line}"/>')
    return parts


def colour_place(policy: str) -> int:
    """The number of a policy's colour, which is the same in all charts."""
    return ORDER.index(policy) if policy in ORDER else len(ORDER) - 1


def _look(policy: str) -> str:
    """The class and dashes of a policy's line."""
    place = colour_place(policy)
    dash = f' stroke-dasharray="{DASHES[place]}"' if DASHES[place] else ""
    return f'class="line line{place}"{dash}'


def _legend(policies: Sequence[str], top: int) -> list[str]:
    parts, across = [], LEFT
    for policy in policies:
        parts.append(f'  <path {_look(policy)} d="M{across} {top - 5} h28"/>')
        parts.append(f'  <text class="note" x="{across + 34}" y="{top}">{policy}</text>')
        across += 58 + 8 * len(policy)
    parts.append(f'  <path class="best" d="M{across} {top - 5} h28"/>')
    parts.append(f'  <text class="note" x="{across + 34}" y="{top}">nothing but pairs</text>')
    return parts


def draw(curves: Curves) -> str:
    """Draw all policies, one panel per group of sites."""
    groups = [group for group in sets(curves) if group in ABOUT]
    width = LEFT + len(groups) * (PANEL + GAP)
    bottom = TOP + HEIGHT
    first = f"{OURS} and other policies" if OURS in curves.policies else "crawl policies"
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {bottom + 92}"'
        " font-family=\"system-ui, -apple-system, 'Segoe UI', Roboto, Helvetica, Arial,"
        ' sans-serif" font-size="15" role="img" aria-labelledby="title desc">',
        '  <title id="title">Pairs found against downloads</title>',
        f'  <desc id="desc">Share of the true page pairs that {first} have found, over the'
        " downloads that a breadth-first crawl of the same sites takes. The figures are in the"
        " tables beside the picture.</desc>",
        figure_style(),
        f'  <rect class="back" width="{width}" height="{bottom + 92}" rx="10"/>',
        f'  <text class="note" x="{LEFT}" y="24">pairs found</text>',
    ]
    for number, group in enumerate(groups):
        parts += _panel(curves, group, number)
    middle = LEFT + (width - LEFT - GAP) // 2
    parts.append(
        f'  <text class="note" x="{middle}" y="{bottom + 42}" text-anchor="middle">'
        "downloads, in percent of those of bfs</text>"
    )
    parts += _legend(curves.policies, bottom + 74)
    return "\n".join([*parts, "</svg>"]) + "\n"
