"""Negative examples for the URL pair model, made from positives (Garcia-Romero et al., app. A).

There are six methods: *random match*, *maximise Jaccard similarity* and *remove random tokens*,
each in a bilingual (1, 2, 3) and a monolingual form (4, 5, 6).  The monolingual forms start from a
URL paired with itself.  The best mix in the paper is 1+2+3+4+5.
"""

from __future__ import annotations

import random
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from diptych.learn.url.data import LabelledPair

METHODS = {
    1: "random match, bilingual",
    2: "maximise Jaccard similarity, bilingual",
    3: "remove random tokens, bilingual",
    4: "random match, monolingual",
    5: "maximise Jaccard similarity, monolingual",
    6: "remove random tokens, monolingual",
}
BEST_MIX = (1, 2, 3, 4, 5)

_TOKEN = re.compile(r"[^\W_]+")
_AUTHORITY = re.compile(r"(?:[A-Za-z][A-Za-z0-9+.-]*:)?//[^/?#]*|[^/?#]*")
_POOL = 200  # URLs to search for the most similar one; a site may have tens of thousands


@lru_cache(maxsize=1 << 14)
def url_tokens(url: str) -> frozenset[str]:
    """The words and numbers of a URL, used for Jaccard similarity.

    >>> sorted(url_tokens("http://x.org/a_b/c-1"))
    ['1', 'a', 'b', 'c', 'http', 'org', 'x']
    """
    return frozenset(_TOKEN.findall(url))


def remove_tokens(url: str, chance: random.Random) -> str:
    """Remove random tokens from the path and query of a URL.

    Half of the time, the delimiter before each token is removed too: removing a token from `/a-b-c`
    may leave `/a--c` or `/a-c`, and the paper does not say which.

    >>> remove_tokens("http://x.org/a", random.Random(0))
    'http://x.org/'
    """
    head = _AUTHORITY.match(url)
    start = head.end() if head else 0
    found = list(_TOKEN.finditer(url, start))
    if not found:
        return url
    count = chance.randint(1, max(1, len(found) // 2))
    tidy = chance.random() < 0.5
    kept, end = [], 0
    for token in sorted(chance.sample(found, count), key=lambda token: token.start()):
        cut = token.start()
        if tidy and cut > max(end, start) + 1:
            cut -= 1
        kept.append(url[end:cut])
        end = token.end()
    return "".join(kept) + url[end:]


@dataclass(frozen=True, slots=True)
class Negatives:
    """Generates negatives from the URL pairs of each domain, reproducibly for a given seed."""

    methods: Sequence[int] = BEST_MIX
    """numbers of the methods, as in `METHODS`"""
    each: int = 3
    """maximum number of negatives per pair and method"""
    seed: int = 0

    def make(self, pairs: Iterable[LabelledPair]) -> Iterator[tuple[LabelledPair, int]]:
        """Yield all negatives, domain by domain, each with the number of its method.

        A URL is replaced by other URLs of its domain and language, because a crawler chooses among
        these.  If there are no others, the bilingual random match uses URLs of any domain, and the
        methods based on similarity yield nothing.
        """
        domains: defaultdict[str, list[LabelledPair]] = defaultdict(list)
        for pair in pairs:
            domains[pair.domain].append(pair)
        documents = _documents(pair for group in domains.values() for pair in group)
        everywhere = sorted({pair.url_b for group in domains.values() for pair in group})
        for name in sorted(domains):
            group = sorted(set(domains[name]))
            site = _Site(_by_language(group), documents, random.Random(f"{self.seed} {name}"))
            for pair in group:
                for method in self.methods:
                    for left, right in _made(method, pair, site, self.each, everywhere):
                        if site.is_negative(left, right):
                            yield pair._replace(url_a=left, url_b=right), method


def _documents(pairs: Iterable[LabelledPair]) -> dict[str, str]:
    """Map each URL to one URL that stands for all language versions of its document."""
    parent: dict[str, str] = {}

    def root(url: str) -> str:
        while (above := parent.setdefault(url, url)) != url:
            parent[url] = url = parent[above]
        return url

    for pair in pairs:
        one, other = root(pair.url_a), root(pair.url_b)
        parent[max(one, other)] = min(one, other)
    return {url: root(url) for url in list(parent)}


def _by_language(pairs: Iterable[LabelledPair]) -> dict[str, list[str]]:
    """Map each language to its URLs, sorted."""
    langs: defaultdict[str, set[str]] = defaultdict(set)
    for pair in pairs:
        langs[pair.lang_a].add(pair.url_a)
        langs[pair.lang_b].add(pair.url_b)
    return {lang: sorted(urls) for lang, urls in langs.items()}


@dataclass(frozen=True, slots=True)
class _Site:
    """The URLs of a domain by language, and for every URL the URL that stands for its document."""

    by_lang: Mapping[str, Sequence[str]]
    documents: Mapping[str, str]
    chance: random.Random

    def is_negative(self, left: str, right: str) -> bool:
        """True if two URLs are not known to be versions of the same document."""
        return self.documents.get(left, left) != self.documents.get(right, right)

    def others(self, url: str, lang: str) -> list[str]:
        """Up to `_POOL` random URLs in language `lang` of documents other than that of `url`."""
        urls = self.by_lang.get(lang, [])
        drawn = urls if len(urls) <= _POOL else self.chance.sample(urls, _POOL)
        return [other for other in drawn if self.is_negative(url, other)]

    def similar(self, url: str, lang: str, count: int) -> list[str]:
        """The `count` URLs of other documents in language `lang` that are most similar to `url`."""
        wanted = url_tokens(url)

        def similarity(other: str) -> tuple[float, str]:
            tokens = url_tokens(other)
            return -len(wanted & tokens) / max(1, len(wanted | tokens)), other

        return sorted(self.others(url, lang), key=similarity)[:count]


_Made = Iterable[tuple[str, str]]


def _made(
    method: int, pair: LabelledPair, site: _Site, count: int, elsewhere: Sequence[str]
) -> _Made:
    """Create up to `count` candidate negatives by one method; some may be known translations.

    `elsewhere` are URLs of any domain, used by method 1 if the site has no other documents.
    """
    chance = site.chance
    if method == 1:
        others = site.others(pair.url_b, pair.lang_b) or elsewhere
        return [(pair.url_a, other) for other in _draw(others, chance, count)]
    if method == 2:
        return [(pair.url_a, other) for other in site.similar(pair.url_b, pair.lang_b, count)]
    if method == 3:
        removed = (
            (remove_tokens(pair.url_a, chance), remove_tokens(pair.url_b, chance))
            for _ in range(count)
        )
        return dict.fromkeys(removed)
    return _monolingual(method, pair, site, (count + 1) // 2)


def _monolingual(method: int, pair: LabelledPair, site: _Site, count: int) -> _Made:
    """Yield candidate negatives by a monolingual method, up to `count` for each URL of a pair."""
    for url, lang in ((pair.url_a, pair.lang_a), (pair.url_b, pair.lang_b)):
        if method == 4:
            yield from ((url, other) for other in _draw(site.others(url, lang), site.chance, count))
        elif method == 5:
            yield from ((url, other) for other in site.similar(url, lang, count))
        else:
            for _ in range(count):
                yield remove_tokens(url, site.chance), remove_tokens(url, site.chance)


def _draw(urls: Sequence[str], chance: random.Random, count: int) -> list[str]:
    return chance.sample(urls, min(count, len(urls)))
