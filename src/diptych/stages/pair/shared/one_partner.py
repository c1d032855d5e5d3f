"""One partner per page: among rival pairs, the one with the strongest evidence wins."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import replace
from math import prod

from diptych.types import PagePair, Url

_MAX_SCORE = 0.999  # no URL or link is proof: the content decides


def noisy_or(scores: Iterable[float]) -> float:
    """Combine the probabilities of independent evidence: 1 - (1 - a)(1 - b)..., at most 0.999.

    >>> noisy_or([0.5, 0.8]), noisy_or([1.0]), noisy_or([])
    (0.9, 0.999, 0.0)
    """
    # Sorted, because a product of floats depends on its order; a single score is returned as is.
    ordered = sorted(scores)
    combined = ordered[0] if len(ordered) == 1 else 1.0 - prod(1.0 - score for score in ordered)
    return min(_MAX_SCORE, combined)


def one_partner_each(pairs: Iterable[PagePair]) -> list[PagePair]:
    """Select pairs, strongest first, so that each page has at most one partner.

    If there are more than two languages, this holds for each pair of languages separately.  Pairs
    of the same two pages are merged first, along with their evidence.  Ties are broken by URL, so
    the result does not depend on the order of the pairs.
    """
    taken: set[tuple[Url, frozenset[str]]] = set()
    kept: list[PagePair] = []
    for pair in sorted(_one_per_pages(pairs), key=strongest_first):
        langs = frozenset((pair.left_lang, pair.right_lang))
        ends = {(pair.left, langs), (pair.right, langs)}
        if taken.isdisjoint(ends):
            taken |= ends
            kept.append(pair)
    return kept


def strongest_first(pair: PagePair) -> tuple[float, str, str, str, str, str]:
    """Sort key that orders pairs by descending score, then by URL."""
    return -pair.score, pair.left, pair.right, pair.left_lang, pair.right_lang, pair.evidence


def _one_per_pages(pairs: Iterable[PagePair]) -> list[PagePair]:
    """Merge pairs of the same two pages; left and right are as in the strongest pair."""
    same: defaultdict[frozenset[Url], list[PagePair]] = defaultdict(list)
    for pair in pairs:
        if pair.left != pair.right and pair.left_lang != pair.right_lang:
            same[frozenset((pair.left, pair.right))].append(pair)
    return [_joined(group) for group in same.values()]


def _joined(group: list[PagePair]) -> PagePair:
    # Evidence of the same kind counts once.
    strongest: dict[str, float] = {}
    for pair in group:
        strongest[pair.evidence] = max(pair.score, strongest.get(pair.evidence, 0.0))
    names = sorted({name for evidence in strongest for name in evidence.split("+")})
    return replace(
        min(group, key=strongest_first),
        score=noisy_or(strongest.values()),
        evidence="+".join(names),
    )
