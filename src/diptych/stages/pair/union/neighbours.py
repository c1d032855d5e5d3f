"""Evidence from the structure of a site: pages linked at the same position on paired pages.

Two pages that are translations of each other have their links in the same order.  Links to pages
that are already paired are fixed points.  If both pages have the same number of links between two
fixed points, these links lead to corresponding pages.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

import numpy as np
from rapidfuzz.distance import Levenshtein, MatchingBlock

from diptych.protocols import SiteView
from diptych.stages.pair.shared.site_links import site_links
from diptych.types import Link, Url

_MAX_LINKS = 400  # maximum links compared per page


def link_lists(site: SiteView, lang_of: Mapping[Url, str]) -> dict[Url, tuple[Url, ...]]:
    """The pages that each page links to, in order, without self-links and adjacent duplicates."""
    links = site_links(site)
    places = {url: place for place, url in enumerate(lang_of)}
    targets = np.array([_target(link, site, places) for link in links.distinct], np.int64)
    sources = np.array([places.get(url, -1) for url in links.pages], np.int64)
    source, target = sources[links.page], targets[links.link]
    is_kept = (source >= 0) & (target >= 0) & (source != target)
    source, target = source[is_kept], target[is_kept]
    order = np.argsort(source, kind="stable")
    source, target = source[order], target[order]
    is_new = (np.diff(source, prepend=-1) != 0) | (np.diff(target, prepend=-1) != 0)
    source, listed = source[is_new], target[is_new].tolist()
    starts = np.flatnonzero(np.diff(source, prepend=-1)).tolist()
    urls, found = list(lang_of), {}
    for start, end in pairwise([*starts, len(listed)]):
        last = min(end, start + _MAX_LINKS)
        found[urls[source[start]]] = tuple(urls[place] for place in listed[start:last])
    return found


def _target(link: Link, site: SiteView, places: Mapping[Url, int]) -> int:
    """The number of the page that a link leads to; -1 if it leads to none of them."""
    target = site.resolve(link.url) if link.rel in ("a", "area") else None
    return -1 if target is None else places.get(target, -1)


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
