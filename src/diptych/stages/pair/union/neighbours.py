"""Pages linked at the same place from paired pages: evidence of the site's own structure.

Two pages that translate each other have their links in the same order.  Where both link to pages
that are paired already, these are fixed points; what stands between two of them, if it is as many
links on both sides, leads to the same pages in the other language.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence

from rapidfuzz.distance import Levenshtein, MatchingBlock

from diptych.protocols import SiteView
from diptych.types import Url

_MAX_LINKS = 400  # of a page that are compared


def link_lists(site: SiteView, lang_of: Mapping[Url, str]) -> dict[Url, tuple[Url, ...]]:
    """For each page the pages it links to, in order; not itself, and no page twice in a row."""
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
        if listed[-1:] != [target] and len(listed) < _MAX_LINKS:
            listed.append(target)
    return {source: tuple(targets) for source, targets in found.items()}


def votes(
    pairs: Iterable[tuple[Url, Url]],
    links: Mapping[Url, Sequence[Url]],
    lang_of: Mapping[Url, str],
    partner: Mapping[Url, Url],
) -> dict[tuple[Url, Url], float]:
    """The share of paired pages that link to two pages at the same place.

    `partner` is the counterpart of left pages in sure pairs.
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
    """Links at the same place of two lists, by the links between them that are known.

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
