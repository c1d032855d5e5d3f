"""Pages that are a pair by their names, and probably not by their content."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence

from bench.sites.builder.pages import Pages, SitePage, pivot_of

__all__ = ["length_outliers", "suspects"]

Vector = dict[str, float]

# All values were set when the sites were made, and stay: other ones would be other truths.
_COMMON = 0.2  # share of the pages of a language: tokens of more pages say nothing
_RARE = 3  # tokens of no more pages than that always count
_MOST_COUNTED = 3  # occurrences of a token in a page
_FEWEST_TOKENS = 6  # of a page that can be judged
_ALIKE = 0.15  # a pair as similar as that is not doubted
_OTHER = 0.4  # a page that is taken for the true counterpart is at least as similar
_TIMES = 3  # and so many times as similar as the pair
_MOST_PAGES = 50  # pages with a token, beyond which it does not propose other counterparts
_FEWEST_PAIRS = 5  # of a language whose lengths can be judged
_TIMES_LONGER = 2.5  # than the median of the language


def suspects(pages: Pages) -> list[SitePage]:
    """Pages whose numbers, identifiers and pictures are those of another page of the pivot."""
    pivot = pivot_of(pages)
    by_lang: defaultdict[str, list[SitePage]] = defaultdict(list)
    for page in pages.values():
        by_lang[page.lang].append(page)
    others = _Vectors(by_lang[pivot])
    counterparts = {page.key: page for page in by_lang[pivot]}
    return [
        page
        for lang, own in by_lang.items()
        if lang != pivot
        for page, vector in zip(own, _vectors(own), strict=True)
        if (other := counterparts.get(page.key)) is not None
        and page.is_fine
        and other.is_fine
        and len(vector) >= _FEWEST_TOKENS
        and others.doubt(vector, other.path)
    ]


class _Vectors:
    """The pages of the pivot language by their tokens."""

    def __init__(self, pages: Sequence[SitePage]) -> None:
        self.vectors = {
            page.path: vector for page, vector in zip(pages, _vectors(pages), strict=True)
        }
        self.norms = {path: _norm(vector) for path, vector in self.vectors.items()}
        self.with_token: defaultdict[str, list[str]] = defaultdict(list)
        for path, vector in self.vectors.items():
            for token in vector:
                self.with_token[token].append(path)

    def doubt(self, vector: Vector, path: str) -> bool:
        """Whether another page is much more similar than the one that is named alike."""
        norm, named = _norm(vector), self.vectors[path]
        product = sum(value * named.get(token, 0) for token, value in vector.items())
        norms = norm * self.norms[path]
        similarity = product / norms if norms else 0.0
        if similarity >= _ALIKE:
            return False
        products: defaultdict[str, float] = defaultdict(float)
        for token, value in vector.items():
            if len(self.with_token.get(token, ())) <= _MOST_PAGES:
                for other in self.with_token.get(token, ()):
                    products[other] += value * self.vectors[other][token]
        best = max(
            (
                product / (norm * self.norms[other])
                for other, product in products.items()
                if other != path and self.norms[other]
            ),
            default=0.0,
        )
        return best > max(_OTHER, _TIMES * similarity)


def _vectors(pages: Sequence[SitePage]) -> Iterator[Vector]:
    """Tokens of each page, weighted by their count and by how rare they are in the language."""
    spread = Counter(token for page in pages for token in page.facts.tokens)
    most = max(_RARE, _COMMON * len(pages))
    for page in pages:
        yield {
            token: min(count, _MOST_COUNTED) * math.log(len(pages) / spread[token] + 0.5)
            for token, count in page.facts.tokens.items()
            if len(token) > 1 and spread[token] <= most
        }


def _norm(vector: Vector) -> float:
    return math.sqrt(sum(value * value for value in vector.values()))


def length_outliers(pages: Pages) -> Iterable[SitePage]:
    """Pages far longer or shorter than their counterparts: stubs and other editions."""
    pivot = pivot_of(pages)
    counterparts = {
        page.key: page for page in pages.values() if page.lang == pivot and page.is_fine
    }
    ratios: defaultdict[str, list[tuple[float, SitePage]]] = defaultdict(list)
    for page in pages.values():
        if page.lang != pivot and page.is_fine and page.key in counterparts:
            length = page.facts.length / counterparts[page.key].facts.length
            ratios[page.lang].append((math.log(length), page))
    for found in ratios.values():
        if len(found) >= _FEWEST_PAIRS:
            median = sorted(ratio for ratio, _ in found)[len(found) // 2]
            for ratio, page in found:
                if abs(ratio - median) > math.log(_TIMES_LONGER):
                    yield page
