"""Crawls of real sites, and the figures computed from them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from statistics import mean, median
from typing import NamedTuple

from bench.support.crawl_figures import BASELINE, OURS, Curve, Row
from bench.support.tables import Tables

NEVER = 20.0  # downloads per pair that count where 95% of the pairs were never reached
NEAR = 0.05  # difference of two shares, and of two costs, that counts as none


class RealCrawl(NamedTuple):
    """The crawl of one site with one policy, to its default end."""

    curve: Curve
    redirects: int
    dead: int
    copies: int
    """responses with status 200 and a duplicate page"""
    estimated: float | None
    """share of the pairs found, as the crawl estimates at its end; None without an estimate"""
    end: str
    right: int | None = None
    """number of true pairs that the whole pipeline accepts; None if it was not run"""
    wrong: int | None = None

    @property
    def recall(self) -> float:
        """The share of true pairs of which both pages were fetched."""
        return len(self.curve.found) / self.curve.pairs

    @property
    def cost(self) -> float:
        """The downloads per pair at 95% of the pairs."""
        cost = self.curve.cost
        return min(NEVER, cost.ratio) if cost.reached else NEVER

    @property
    def waste(self) -> float:
        """The share of downloads that were redirects, dead links and duplicates."""
        return (self.redirects + self.dead + self.copies) / max(1, self.curve.downloads)

    @property
    def is_estimate_near(self) -> bool:
        """True if the crawl's estimate of the share found is correct within 5 points."""
        return self.estimated is not None and abs(self.estimated - self.recall) <= NEAR


Crawls = Sequence[RealCrawl]


def of_policy(crawls: Iterable[RealCrawl], policy: str) -> list[RealCrawl]:
    """The crawls of a policy, on sites with true pairs."""
    return [each for each in crawls if each.curve.policy == policy and each.curve.pairs]


def policies(crawls: Crawls) -> list[str]:
    """The policies that were measured, in order."""
    return list(dict.fromkeys(each.curve.policy for each in crawls))


def tables(crawls: Crawls) -> Tables:
    """All tables that are saved and shown."""
    found: Tables = {"Policies": [_policy_row(crawls, name) for name in policies(crawls)]}
    sites = [_site_row(crawls, name) for name in _sites(crawls) if _pairs(crawls, name)]
    alone = [_empty_row(crawls, name) for name in _sites(crawls) if not _pairs(crawls, name)]
    if sites:
        found["Downloads per true pair at 95% of the pairs, and the end of the guided crawl"] = (
            sites
        )
    if alone:
        found["Downloads on sites without true pairs"] = alone
    return found


def _sites(crawls: Crawls) -> list[str]:
    return list(dict.fromkeys(each.curve.site for each in crawls))


def _pairs(crawls: Crawls, site: str) -> int:
    return next(each.curve.pairs for each in crawls if each.curve.site == site)


def _policy_row(crawls: Crawls, policy: str) -> Row:
    """The row of one policy on all sites."""
    own = of_policy(crawls, policy)
    waste = sorted(each.waste for each in own)
    told = [each for each in own if each.estimated is not None]
    near = f"{sum(each.is_estimate_near for each in told)} of {len(told)}" if told else "-"
    return {
        "policy": policy,
        "sites": len(own),
        "mean recall": _shown(mean, [each.recall for each in own]),
        "lowest recall": _shown(min, [each.recall for each in own]),
        "downloads per pair": _shown(_geometric_mean, [each.cost for each in own], ".2f"),
        "95% reached": sum(each.curve.cost.reached for each in own),
        **_against_baseline(crawls, own),
        "redirects, dead, copies: median": _shown(median, waste, ".0%"),
        "worst": _shown(max, waste, ".0%"),
        "estimate within 5 points": near,
        **_accepted(crawls, own),
        "downloads without pairs, median": _shown(
            median, _downloads_in_vain(crawls, policy), ".0f"
        ),
    }


def _shown(
    figure: Callable[[Sequence[float]], float], values: Sequence[float], form: str = ".3f"
) -> str:
    """A statistic of some values; a dash if there are none."""
    return f"{figure(values):{form}}" if values else "-"


def _downloads_in_vain(crawls: Crawls, policy: str) -> list[int]:
    """The downloads of a policy on each site without true pairs."""
    curves = [each.curve for each in crawls if each.curve.policy == policy]
    return [curve.downloads for curve in curves if not curve.pairs]


def _against_baseline(crawls: Crawls, own: Crawls) -> Row:
    """The costs relative to breadth-first on the same sites."""
    others = {each.curve.site: each.cost for each in of_policy(crawls, BASELINE)}
    both = [(each.cost, others[each.curve.site]) for each in own if each.curve.site in others]
    worse = sum(cost > (1 + NEAR) * other for cost, other in both)
    ratio = _shown(_geometric_mean, [cost / other for cost, other in both], ".2f")
    return {"of bfs": ratio, "worse than bfs": worse if both else "-"}


def _accepted(crawls: Crawls, own: Crawls) -> Row:
    """The recall and precision of pairs accepted by the whole pipeline, if it was run."""
    if all(each.right is None for each in crawls):
        return {}
    mined = [
        (each.curve.pairs, each.right, each.wrong or 0) for each in own if each.right is not None
    ]
    recalls = [right / pairs for pairs, right, _ in mined]
    precisions = [right / max(1, right + wrong) for _, right, wrong in mined]
    return {"recall of accepted": _shown(mean, recalls), "precision": _shown(mean, precisions)}


def _site_row(crawls: Crawls, site: str) -> Row:
    """The downloads per pair on one site by policy; a star if 95% was not reached."""
    by = {each.curve.policy: each for each in crawls if each.curve.site == site}
    row: Row = {"site": site, "pairs": _pairs(crawls, site)}
    for policy in policies(crawls):
        each = by.get(policy)
        star = "" if each and each.curve.cost.reached else "*"
        row[policy] = f"{each.curve.cost}{star}" if each else "-"
    if OURS in policies(crawls):
        row |= _end_of_ours(by.get(OURS))
        if any(each.right is not None for each in crawls):
            found = (getattr(by.get(OURS), name, None) for name in ("right", "wrong"))
            row |= dict(
                zip(("right", "wrong"), ("-" if n is None else n for n in found), strict=True)
            )
    return row


def _end_of_ours(ours: RealCrawl | None) -> Row:
    """The figures of the guided crawl at its end."""
    if ours is None:
        return dict.fromkeys(
            ("recall", "estimated", "downloads", "redirects", "dead", "copies"), "-"
        )
    counts = {"redirects": ours.redirects, "dead": ours.dead, "copies": ours.copies}
    return {
        "recall": f"{ours.recall:.3f}",
        "estimated": "-" if ours.estimated is None else f"{ours.estimated:.3f}",
        "downloads": ours.curve.downloads,
        **{name: f"{count / max(1, ours.curve.downloads):.0%}" for name, count in counts.items()},
    }


def _empty_row(crawls: Crawls, site: str) -> Row:
    """The downloads on a site without pairs, by policy."""
    by = {each.curve.policy: each.curve.downloads for each in crawls if each.curve.site == site}
    return {"site": site} | {policy: by.get(policy, "-") for policy in policies(crawls)}


def _geometric_mean(values: Sequence[float]) -> float:
    """The geometric mean of some numbers.

    >>> round(_geometric_mean([1.0, 4.0]), 3)
    2.0
    """
    return math.exp(mean(math.log(value) for value in values))
