"""The pages of a site by language, with their content as sparse rows of features.

Features are parts of a page that a translation may leave unchanged: word stems, numbers, file
names.  Features are numbered across all languages, rarest first.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, count

import numpy as np
from numpy.typing import NDArray

from diptych.kernels.nearest import Rows
from diptych.protocols import SiteView
from diptych.text.cognates import stem
from diptych.text.tokens import tokens
from diptych.types import LangScore, Sketch, Url

# A block that is on more pages in its language than this belongs to the template.  The limit is a
# share of the pages, with a lower and an upper bound.
_TEMPLATE_SHARE, _MIN_TEMPLATE, _MAX_TEMPLATE = 0.25, 4, 20


@dataclass(frozen=True, eq=False)
class LanguagePages:
    """The pages in one language, sorted by URL."""

    lang: str
    urls: tuple[Url, ...]
    tags: tuple[str, ...]
    titles: tuple[frozenset[str], ...]
    """stems of the words in each page's title"""
    sizes: NDArray[np.float64]
    """number of letters on each page, without and with its template"""
    features: Rows
    """count of each feature on each page"""
    names: tuple[str, ...]
    """names of the features; file names begin with a slash"""
    blocks: tuple[frozenset[int], ...]
    """hashes of the blocks of each page, without its template"""
    mixed: Mapping[Url, tuple[LangScore, ...]]
    """language shares of pages in several languages"""

    def __len__(self) -> int:
        return len(self.urls)

    @cached_property
    def place(self) -> Mapping[Url, int]:
        """Map each URL to its row index."""
        return {url: place for place, url in enumerate(self.urls)}

    @cached_property
    def spread(self) -> NDArray[np.int64]:
        """The number of pages that have each feature."""
        return np.bincount(self.features.features, minlength=self.features.width)

    @cached_property
    def rarity(self) -> NDArray[np.float32]:
        """The weight of each feature, by inverse document frequency."""
        pages = len(self)
        weights = np.log((pages + 1) / (self.spread + 0.5)).clip(0)
        if pages >= _MIN_TEMPLATE:
            weights[self.spread >= pages] = 0
        return weights.astype(np.float32)

    @cached_property
    def weighted(self) -> Rows:
        """The features of each page, weighted by rarity."""
        rows = self.features
        values = np.log1p(rows.values) * self.rarity[rows.features]
        return Rows(rows.offsets, rows.features, values.astype(np.float32), rows.width)


class _PagesBuilder:
    """Collects the pages in one language from their sketches, with words stored as numbers."""

    def __init__(self) -> None:
        self.urls: list[Url] = []
        self.tags: list[str] = []
        self.titles: list[frozenset[str]] = []
        self.hashes: list[NDArray[np.uint64]] = []
        self.letters: list[NDArray[np.float32]] = []
        self.words: list[NDArray[np.int32]] = []
        """words of each page, block by block"""
        self.lengths: list[NDArray[np.int32]] = []
        """number of words in each block"""
        self.stems: list[NDArray[np.int32]] = []
        """distinct stems of each page"""
        self.files: list[NDArray[np.int32]] = []
        self.mixed: dict[Url, tuple[LangScore, ...]] = {}

    def add(self, url: Url, title: str, sketch: Sketch, vocabulary: dict[str, int]) -> None:
        """Add a page, and add its new words to the vocabulary, which numbers them by itself."""
        number = vocabulary.__getitem__
        stems = np.fromiter(map(number, sketch.bag), np.int32, len(sketch.bag))
        words = list(chain.from_iterable(sketch.block_words))
        self.urls.append(url)
        self.stems.append(stems)
        if sketch.shares:
            self.mixed[url] = sketch.shares
        self.tags.append(sketch.tags)
        self.titles.append(frozenset(stem(word) for word in tokens(title, "")))
        hashes, letters = zip(*sketch.blocks, strict=True) if sketch.blocks else ((), ())
        self.hashes.append(np.array(hashes, np.uint64))
        self.letters.append(np.array(letters, np.float32))
        self.words.append(stems[np.array(words, np.int64)])
        self.lengths.append(np.array([*map(len, sketch.block_words)], np.int32))
        names = (number(f"/{name}") for name in sketch.files)
        self.files.append(np.fromiter(names, np.int32, len(sketch.files)))

    def build(self, lang: str, order: NDArray[np.int64], names: tuple[str, ...]) -> LanguagePages:
        """Build the pages, leaving out template blocks.

        `order` contains the new number of each feature, and `names` the feature names in the new
        order.
        """
        pages = np.arange(len(self.urls))
        own = self._own_blocks()
        # Counted page by page, because all words of a site would not fit into memory.
        counted = [
            np.unique(page[np.repeat(kept, lengths)], return_counts=True)
            for page, kept, lengths in zip(self.words, own, self.lengths, strict=True)
        ]
        words = [*(each for each, _ in counted), *self.files]
        counts = [*(each for _, each in counted), *(np.ones(len(each)) for each in self.files)]
        row = np.repeat(np.concatenate((pages, pages)), [len(each) for each in words])
        rows = Rows.of(
            row,
            order[np.concatenate([np.zeros(0, np.int32), *words])],
            np.concatenate([np.zeros(0), *counts]),
            rows=len(pages),
            width=len(names),
        )
        letters = [
            (float(page[kept].sum()), float(page.sum()))
            for page, kept in zip(self.letters, own, strict=True)
        ]
        sizes = np.array(letters, np.float64).reshape(-1, 2)
        blocks = tuple(
            frozenset(page[kept].tolist()) for page, kept in zip(self.hashes, own, strict=True)
        )
        pages_of = tuple(self.urls), tuple(self.tags), tuple(self.titles)
        return LanguagePages(lang, *pages_of, sizes, rows, names, blocks, self.mixed)

    def _own_blocks(self) -> list[NDArray[np.bool_]]:
        """For each page, a mask of its non-template blocks; if it has none, all are selected."""
        pages = [page.tolist() for page in self.hashes]
        spread: Counter[int] = Counter()
        for page in pages:
            spread.update(set(page))
        most = min(max(_TEMPLATE_SHARE * len(self.urls), _MIN_TEMPLATE), _MAX_TEMPLATE)
        found = []
        for page in pages:
            kept = np.array([*map(spread.__getitem__, page)], np.int64) <= most
            found.append(kept if kept.any() else ~kept)
        return found


def pages_by_language(site: SiteView, lang_of: Mapping[Url, str]) -> dict[str, LanguagePages]:
    """Group the pages of a site by language; pages without a sketch are skipped."""
    vocabulary: defaultdict[str, int] = defaultdict(count().__next__)  # the number of a new word
    builders, pages = {lang: _PagesBuilder() for lang in site.langs}, site.pages
    for url, sketch in site.sketches():
        if url in lang_of:
            builders[lang_of[url]].add(url, pages[url].title, sketch, vocabulary)
    order, names = _rarest_first(vocabulary, builders)
    return {lang: made.build(lang, order, names) for lang, made in builders.items()}


def _rarest_first(
    vocabulary: dict[str, int], builders: Mapping[str, _PagesBuilder]
) -> tuple[NDArray[np.int64], tuple[str, ...]]:
    """Renumber features from rarest to most frequent; ties are sorted by name.

    Return the new number of each feature, and the feature names in the new order.
    """
    spread = np.zeros(len(vocabulary), np.int64)
    for made in builders.values():
        for ids in (*made.stems, *made.files):
            spread[ids] += 1  # distinct on a page
    names = list(vocabulary)
    by_name = sorted(range(len(names)), key=names.__getitem__)
    rank = np.array(by_name, np.int64)[np.argsort(spread[by_name], kind="stable")]
    order = np.empty(len(names), np.int64)
    order[rank] = np.arange(len(names))
    return order, tuple(names[place] for place in rank)
