"""Curves of crawls (pairs found against downloads), and the figures computed from them."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from bench.sites.crawl_sites import CRAWL_SITES, GROUPS, CrawlSite
from bench.support.tables import Tables

BASELINE, OURS = "bfs", "hybrid"
ORDER = (OURS, BASELINE, "bfs+langs", "pplocator", "smart", "parallel_links")
"""of the policies in tables"""
SHARE = 0.95  # of a site's pairs, at which downloads are counted
SITES = {site.name: site for site in CRAWL_SITES}
MARKS = {"full": 2.3, "partial": 2.8, "third": 2.8}
HALF, WINS, BEHIND = 0.97, 0.9, 0.03

Row = dict[str, Any]


class Curve(NamedTuple):
    """One policy on one site."""

    site: str
    policy: str
    pairs: int
    """that there are"""
    downloads: int
    found: tuple[int, ...]
    """number of the download that completed each pair; ascending"""

    def at(self, downloads: float) -> int:
        """The pairs found after a number of downloads.

        >>> [Curve("", "", 4, 9, (3, 4, 8)).at(number) for number in (2, 4, 99)]
        [0, 2, 3]
        """
        return bisect_right(self.found, downloads)

    @property
    def cost(self) -> Cost:
        """The downloads for 95% of the pairs; all downloads if that share was never reached.

        >>> Curve("", "", 4, 9, (3, 4, 8, 9)).cost, Curve("", "", 4, 9, (3, 4)).cost
        (Cost(downloads=9, pairs=4, reached=1), Cost(downloads=9, pairs=2, reached=0))
        """
        needed = math.ceil(SHARE * self.pairs)
        if len(self.found) < needed:
            return Cost(self.downloads, len(self.found), 0)
        return Cost(self.found[needed - 1], needed, 1)

    def area(self, downloads: int) -> float:
        """The area under the curve, relative to that of a crawl that downloads only pages of pairs.

        >>> Curve("", "", 2, 4, (2, 4)).area(4), Curve("", "", 2, 4, (3, 4)).area(4)
        (1.0, 0.75)
        """
        own = sum(max(0, downloads - number + 1) for number in self.found)
        best = sum(max(0, downloads - 2 * number + 1) for number in range(1, self.pairs + 1))
        return own / best if best else 0.0


class Cost(NamedTuple):
    """Downloads, the pairs found with them, and the number of sites where that was 95% of all."""

    downloads: int
    pairs: int
    reached: int

    @property
    def ratio(self) -> float:
        """Downloads per pair."""
        return self.downloads / self.pairs if self.pairs else math.inf

    def __str__(self) -> str:
        return f"{self.ratio:.2f}" if self.pairs else "-"


class Curves:
    """All curves, by site and policy."""

    def __init__(self, curves: Iterable[Curve]) -> None:
        self._by: dict[str, dict[str, Curve]] = {}
        for curve in curves:
            if curve.site in SITES:
                self._by.setdefault(curve.site, {})[curve.policy] = curve
        found = {policy for each in self._by.values() for policy in each}
        self.policies = sorted(found, key=lambda name: [*ORDER, name].index(name))
        self.sites = [SITES[name] for name in SITES if name in self._by]

    def of(self, policy: str, sites: Iterable[CrawlSite] | None = None) -> list[Curve]:
        """The curve of a policy on each site."""
        found = (self._by[site.name].get(policy) for site in (sites or self.sites))
        return [curve for curve in found if curve is not None]

    def baseline(self, curve: Curve) -> Curve:
        """The curve of breadth-first on the same site; if not measured, the curve itself."""
        return self._by[curve.site].get(BASELINE, curve)

    def area(self, curve: Curve) -> float:
        """The area under a curve over the downloads of breadth first."""
        return curve.area(self.baseline(curve).downloads)

    def behind(self, curve: Curve) -> float:
        """The relative difference of the area to the best other policy; negative if ahead."""
        others = [
            self.area(other) for name, other in self._by[curve.site].items() if name != curve.policy
        ]
        best = max(others, default=0.0)
        return 1 - self.area(curve) / best if best else -1.0

    def half(self, curve: Curve) -> tuple[int, int]:
        """The pairs found at half of the downloads of breadth-first, and the possible maximum."""
        found = self.baseline(curve).found
        downloads = found[-1] // 2 if found else 0
        return curve.at(downloads), min(curve.pairs, downloads // 2)


def summed(curves: Iterable[Curve]) -> Cost:
    """The micro-average: the downloads and pairs of all sites together."""
    costs = [curve.cost for curve in curves]
    return Cost(*(sum(column) for column in zip(*costs, strict=True))) if costs else Cost(0, 0, 0)


def _reached(curves: Sequence[Curve]) -> str:
    cost = summed(curves)
    return f"{cost} ({cost.reached}/{len(curves)})"


def cost_table(curves: Curves, is_in: Callable[[CrawlSite], bool] = lambda _: True) -> list[Row]:
    """The downloads per pair by group, and the number of sites where 95% was reached."""
    groups = {
        group: [site for site in curves.sites if site.group == group and is_in(site)]
        for group in GROUPS
    }
    return [
        {"policy": policy}
        | {group: _reached(curves.of(policy, sites)) for group, sites in groups.items() if sites}
        for policy in curves.policies
    ]


def summary_table(curves: Curves) -> list[Row]:
    """The other figures of each policy, one row per policy."""
    rows: list[Row] = []
    for policy in curves.policies:
        own = curves.of(policy)
        behind = [curves.behind(curve) for curve in own]
        pairs = sum(curve.pairs for curve in own)
        rows.append({
            "policy": policy,
            "pairs found": f"{100 * sum(len(curve.found) for curve in own) / pairs:.1f}%",
            "downloads": sum(curve.downloads for curve in own),
            **{f"at half, {group}": _half(curves, policy, group) for group in GROUPS},
            "area": f"{sum(map(curves.area, own)) / len(own):.3f}",
            "ahead": f"{sum(share <= 1e-9 for share in behind)}/{len(own)}",
            "most behind": f"{100 * max(0.0, *behind, 0.0):.1f}%",
            "nothing on": ", ".join(empty_schemes(curves, policy)) or "-",
        })  # fmt: skip
    return rows


def _half(curves: Curves, policy: str, group: str) -> str:
    halves = [curves.half(curve) for curve in curves.of(policy) if SITES[curve.site].group == group]
    pairs = sum(curve.pairs for curve in curves.of(policy) if SITES[curve.site].group == group)
    if not pairs:
        return "-"
    found, most = (sum(column) for column in zip(*halves, strict=True))
    return f"{100 * found / pairs:.1f}% of {100 * most / pairs:.1f}%"


def empty_schemes(curves: Curves, policy: str) -> list[str]:
    """The URL schemes in which breadth-first finds pairs and this policy finds none."""
    found: dict[str, int] = {}
    for curve in curves.of(policy):
        if curves.baseline(curve).found:
            scheme = SITES[curve.site].scheme
            found[scheme] = found.get(scheme, 0) + len(curve.found)
    return [scheme for scheme, count in found.items() if not count]


def shares(curves: Curves, policy: str, sites: Sequence[CrawlSite], steps: int) -> list[float]:
    """The share of all pairs found at each fraction of the downloads of breadth-first (micro)."""
    own = curves.of(policy, sites)
    pairs = sum(curve.pairs for curve in own) or 1
    return [
        sum(curve.at(curves.baseline(curve).downloads * step / steps) for curve in own) / pairs
        for step in range(steps + 1)
    ]


def best_shares(curves: Curves, sites: Sequence[CrawlSite], steps: int) -> list[float]:
    """The same shares for a crawl that downloads only pages of pairs."""
    own = [curves.baseline(curve) for curve in curves.of(curves.policies[0], sites)]
    pairs = sum(curve.pairs for curve in own) or 1
    return [
        sum(min(curve.pairs, curve.downloads * step / steps / 2) for curve in own) / pairs
        for step in range(steps + 1)
    ]


def sets(curves: Curves) -> dict[str, list[CrawlSite]]:
    """All sites, and those of each group that has any."""
    found = {"all": curves.sites} | {
        group: [site for site in curves.sites if site.group == group] for group in GROUPS
    }
    return {name: sites for name, sites in found.items() if sites}


def decile_table(curves: Curves) -> list[Row]:
    """Fig. 7 of the smart paper as a table."""
    rows: list[Row] = []
    for name, sites in sets(curves).items():
        lines = {policy: shares(curves, policy, sites, 10) for policy in curves.policies}
        lines["nothing but pairs"] = best_shares(curves, sites, 10)
        for policy, line in lines.items():
            row: Row = {"sites": name, "policy": policy}
            rows.append(row | {f"{10 * step}%": f"{100 * line[step]:.1f}" for step in range(1, 11)})
    return rows


def site_table(curves: Curves) -> list[Row]:
    """The downloads per pair on each site; a star marks sites where 95% was not reached."""
    rows: list[Row] = []
    for site in curves.sites:
        own = {curve.policy: curve for name in curves.policies for curve in curves.of(name, [site])}
        some = next(iter(own.values()))
        row: Row = {"site": site.name.removeprefix("crawl-"), "langs": site.wanted}
        row |= {"pairs": some.pairs}
        for policy in curves.policies:
            cost = own[policy].cost if policy in own else Cost(0, 0, 1)
            row[policy] = f"{cost}{'' if cost.reached else '*'}"
        rows.append(row)
    return rows


def tables(curves: Curves) -> Tables:
    """All tables that are saved and shown."""
    found: Tables = {
        "Downloads per true pair at 95% of the pairs (sites that came so far)": cost_table(curves),
        "The same on families nothing was designed on": cost_table(
            curves, lambda site: site.is_held
        ),
        "The same on the other families": cost_table(curves, lambda site: not site.is_held),
        "Whole crawls": summary_table(curves),
        "Percent of the pairs found by percent of the downloads of bfs": decile_table(curves),
        "Downloads per true pair by site": site_table(curves),
    }
    return {title: rows for title, rows in found.items() if len(rows[0]) > 1}


def missed(curves: Curves) -> list[str]:
    """The targets that Diptych misses."""
    if OURS not in curves.policies:
        return [f"{OURS} was not measured"]
    found = []
    for group, mark in MARKS.items():
        own = [curve for curve in curves.of(OURS) if SITES[curve.site].group == group]
        cost = summed(own)
        if own and cost.ratio > mark:
            found.append(f"{group}: {cost} downloads per pair, more than {mark}")
        if cost.reached < len(own):
            found.append(f"{group}: 95% of the pairs on {cost.reached} of {len(own)} sites only")
    return found + _missed_areas(curves) + _missed_halves(curves)


def _missed_halves(curves: Curves) -> list[str]:
    """The sites where nearly all pairs must be found at half of the downloads, but are not."""
    found, enough = 0, 0
    for curve in curves.of(OURS):
        own, most = curves.half(curve)
        if most == curve.pairs:
            found, enough = found + own, enough + curve.pairs
    if enough and found < HALF * enough:
        return [f"at half of bfs: {100 * found / enough:.1f}% of the pairs, less than {HALF:.0%}"]
    return []


def _missed_areas(curves: Curves) -> list[str]:
    behind = {curve.site: curves.behind(curve) for curve in curves.of(OURS)}
    found = []
    ahead = sum(share <= 1e-9 for share in behind.values())
    if ahead < WINS * len(behind):
        found.append(f"area ahead on {ahead} of {len(behind)} sites, less than {WINS:.0%}")
    for site, share in behind.items():
        if share > BEHIND:
            found.append(f"{site}: area {share:.1%} behind the best, more than {BEHIND:.0%}")
    if empty := empty_schemes(curves, OURS):
        found.append(f"nothing found on {', '.join(empty)}")
    return found
