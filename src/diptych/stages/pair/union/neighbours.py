"""Evidence from the structure of a site: pages linked at the same position on paired pages.

Two pages that are translations of each other have their links in the same order.  Links to pages
that are already paired are fixed points.  If both pages have the same number of links between two
fixed points, these links lead to corresponding pages.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence

from rapidfuzz.distance import Levenshtein, MatchingBlock

from diptych.protocols import SiteView
from diptych.types import Url

_MAX_LINKS = 400  # maximum links compared per page


def link_lists(site: SiteView, lang_of: Mapping[Url, str]) -> dict[Url, tuple[Url, ...]]:
    """The pages that each page links to, in order, without self-links and adjacent duplicates."""
    found: defaultdict[Url, list[Url]] = defaultdict(list)
    resolved: dict[Url, Url | None] = {}
    for source, link in site.links():
        if link.rel not in ("a", "area") or source not in lang_of:
            continue
        if link.url not in resolved:
            resolved[link.url] = site.resolve(link.url)
        target, listed = resolved[link.url], found[source]
        if target is None or target not in lang_of or target == source:
            continue
        if len(listed) < _MAX_LINKS and not (listed and listed[-1] == target):
            listed.append(target)
    return {source: tuple(targets) for source, targets in found.items()}


def votes(
    pairs: Iterable[tuple[Url, Url]],
    links: Mapping[Url, Sequence[Url]],
    lang_of: Mapping[Url, str],
    partner: Mapping[Url, Url],
) -> dict[tuple[Url, Url], float]:
    """Map each candidate pair to the share of known pairs that link to it at the same position.

    `pairs` are the known pairs, and `links` contains the pages that each page links to.  `partner`
    maps left pages to their counterparts in sure pairs.
    """
    counted: Counter[tuple[Url, Url]] = Counter()
    left_total: Counter[Url] = Counter()
    right_total: Counter[Url] = Counter()
    for left, right in pairs:
        langs = lang_of[left], lang_of[right]
        ours = [url for url in links.get(left, ()) if lang_of[url] == langs[0]]
        theirs = [url for url in links.get(right, ()) if lang_of[url] == langs[1]]
        matched = set(_matched(ours, theirs, partner))
        counted.update(matched)
        left_total.update({url for url, _ in matched})
        right_total.update({url for _, url in matched})
    return {
        (left, right): 2 * count / (left_total[left] + right_total[right] + 1)
        for (left, right), count in counted.items()
    }


def _matched(
    ours: Sequence[Url], theirs: Sequence[Url], partner: Mapping[Url, Url]
) -> Iterable[tuple[Url, Url]]:
    """Match the links of two lists: links to known counterparts, and the links between these.

    `partner` maps pages to their known counterparts.  Links between two known counterparts are
    matched by position, if both lists have the same number of them.

    >>> list(_matched(["a", "b", "c"], ["A", "x", "C"], {"a": "A", "c": "C"}))
    [('a', 'A'), ('b', 'x'), ('c', 'C')]
    """
    names = [partner.get(url, url) for url in ours]
    here = there = 0
    ends = MatchingBlock(len(ours), len(theirs), 0)
    for one, other, size in [*Levenshtein.opcodes(names, theirs).as_matching_blocks(), ends]:
        if one - here == other - there:
            yield from zip(ours[here:one], theirs[there:other], strict=True)
        yield from zip(ours[one : one + size], theirs[other : other + size], strict=True)
        here, there = one + size, other + size
