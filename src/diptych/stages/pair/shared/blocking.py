"""Finds candidate pairs: URLs that share rare traits.

On a small site, all URLs are compared.  On a larger site, each URL is compared with the few URLs in
the other language that have most in common with it.  They are found with an inverted index over
traits that translation does not change: words, numbers, and the meanings of words.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from heapq import nsmallest
from math import log

ALL_PAIRS = 40_000
"""number of pairs up to which all pairs are compared"""
_MAX_SHARED = 200  # maximum URLs that share a trait; if there are more, the trait is too common


def candidates(
    lefts: Sequence[str],
    rights: Sequence[str],
    traits: Callable[[str], frozenset[object]],
    *,
    most: int = 24,
) -> Iterator[tuple[str, str]]:
    """Pair each URL with up to `most` URLs in the other list that share its rarest traits.

    If there are few URLs, all pairs are returned.  `traits` computes the traits of a URL.  The
    pairs are sorted and distinct, and do not depend on the order of the URLs.

    >>> sorted(candidates(["a", "b"], ["x"], lambda url: frozenset(url)))
    [('a', 'x'), ('b', 'x')]
    """
    lefts, rights = sorted(set(lefts)), sorted(set(rights))
    if len(lefts) * len(rights) <= ALL_PAIRS:
        yield from ((left, right) for left in lefts for right in rights if left != right)
        return
    traits_of = {url: traits(url) for url in {*lefts, *rights}}
    found = set(_nearest(lefts, rights, traits_of, most))
    found.update((left, right) for right, left in _nearest(rights, lefts, traits_of, most))
    yield from sorted(found)


def _nearest(
    ones: Sequence[str],
    others: Sequence[str],
    traits_of: dict[str, frozenset[object]],
    most: int,
) -> Iterator[tuple[str, str]]:
    """Pair each URL in `ones` with up to `most` URLs in `others` that share its rarest traits."""
    index: defaultdict[object, list[int]] = defaultdict(list)
    for place, url in enumerate(others):
        for trait in traits_of[url]:
            index[trait].append(place)
    weight = {trait: log(1 + len(others) / len(places)) for trait, places in index.items()}
    for url in ones:
        shared: Counter[int] = Counter()
        known = [trait for trait in traits_of[url] if trait in index]
        rare = [trait for trait in known if len(index[trait]) <= _MAX_SHARED]
        # If all traits are common, the rarest two are used, with the first URLs that have them.
        for trait in rare or nsmallest(2, known, key=lambda trait: (len(index[trait]), str(trait))):
            for place in index[trait][:_MAX_SHARED]:
                shared[place] += weight[trait]  # type: ignore[assignment]
        for place in nsmallest(most, shared, key=lambda place: (-round(shared[place], 9), place)):
            if others[place] != url:
                yield url, others[place]
